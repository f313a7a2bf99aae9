#pragma once

#include <memory>

#include "tokenizer/tokenizer.h"

namespace verbatim::sim::testing {

// The small vocabulary of tests/cases/toy. Tests run in the project's root.
std::shared_ptr<const tokenizer::Tokenizer> toy_tokenizer();

}  // namespace verbatim::sim::testing
