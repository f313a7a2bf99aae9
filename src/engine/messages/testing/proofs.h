#pragma once

#include <span>

#include "engine/testing/proofs.h"

namespace verbatim::engine::messages::testing {

// What a client gets for each fault that an answer by messages can have, and what differs by
// protocol. See engine/testing/proofs.h.
std::span<const engine::testing::Proof> proofs();
std::span<const engine::testing::Proof> proofs_of_wire(protocol::Wire wire);

}  // namespace verbatim::engine::messages::testing
