#pragma once

#include <cstdint>
#include <vector>

namespace verbatim::base {

// A token id as engines number them: 0 <= id < the model's vocab_size (which may be larger than the
// tokenizer's number of tokens).
using TokenId = std::uint32_t;
using TokenIds = std::vector<TokenId>;

}  // namespace verbatim::base
