#pragma once

#include <span>
#include <string_view>

#include "engine/testing/proofs.h"

namespace verbatim::engine::dynamo::testing {

// This kind's rows of the rule-to-case table, and those of one mode.
std::span<const engine::testing::Proof> proofs();
std::span<const engine::testing::Proof> proofs_of_mode(std::string_view mode);

}  // namespace verbatim::engine::dynamo::testing
