#pragma once

#include <cstdint>
#include <vector>

namespace verbatim::base {

// A token id as engines number them: 0 <= id < the model's vocab_size (which may be larger than the
// tokenizer's number of tokens).
using TokenId = std::uint32_t;
using TokenIds = std::vector<TokenId>;

// A logprob is at most 0; what is more than rounding in 32-bit arithmetic can add is no logprob.
inline constexpr double kMaxLogprob = 1e-3;

}  // namespace verbatim::base
