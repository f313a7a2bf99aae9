#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace verbatim::sim {

using base::TokenId;
using base::TokenIds;

// How a completion ended, in the engine's words.
struct Finish {
  std::string type;  // "stop", "length", "abort"; empty: none is given
  std::optional<TokenId> matched_id;
  std::optional<std::string> matched_string;
};

// A finished completion.
struct Completion {
  TokenIds ids;
  std::vector<double> logprobs;  // one per id
  Finish finish;
  std::string routed_experts;  // JSON in the engine's form; empty: none were recorded
};

// What ends a completion, besides the end of what the model has to say.
struct Limits {
  std::uint64_t max_new_tokens = 128;
  std::vector<TokenId> stop_ids;
  std::vector<std::string> stop_strings;
};

// The part of `planned` that is sampled under `limits`, and why it ended. As SGLang decides: the
// limit first, then stop ids, then stop strings in the decoded text; the id that ends it belongs to
// it. A plan that runs out just stops.
Completion sample_within(const tokenizer::Tokenizer& tokenizer, const TokenIds& planned,
                         const Limits& limits);

}  // namespace verbatim::sim
