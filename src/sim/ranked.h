#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::sim {

// The logprobs of one sampled id: itself and those that stand beside it, best first. Made up, but
// consistent: ranks and logprobs fall together.
struct Ranked {
  base::TokenId id = 0;
  double logprob = 0;
  std::uint64_t rank = 1;
};
// The sampled id comes first, whatever its rank; `count` in all.
std::vector<Ranked> ranked(base::TokenId sampled, double logprob, std::size_t count,
                           std::uint64_t vocab_size);

// [72,101]
std::string bytes_json(std::string_view bytes);
// What an id is called in logprobs: its text.
std::string token_text(const tokenizer::Tokenizer& tokenizer, base::TokenId id);

}  // namespace verbatim::sim
