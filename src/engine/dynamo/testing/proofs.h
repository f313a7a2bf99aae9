#pragma once

#include <span>

#include "engine/testing/proofs.h"

namespace verbatim::engine::dynamo::testing {

// This kind's rows of the rule-to-case table.
std::span<const engine::testing::Proof> proofs();

}  // namespace verbatim::engine::dynamo::testing
