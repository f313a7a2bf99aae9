#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/engine.h"
#include "json/value.h"

namespace verbatim::engine::vllm {

// The logprobs of a choice, in vLLM's three shapes. `chunk` holds the ids that they belong to,
// which are entries `at`... of the answer. Appends one logprob for each id, and its alternatives
// (the sampled id among them where it is one of the most likely). A shape that says the id again
// must say the same one. Pure; errors as those of AnswerReader.

// {"content": [{"token_id": N | "token": "token_id:N", "logprob", "top_logprobs": [...]}]}:
// integers from 0.31 on, strings before. At most `tops` alternatives are taken.
base::Status read_content(const json::Value& logprobs, std::uint64_t at, std::uint64_t vocab_size,
                          unsigned tops, TokenChunk& chunk);
// {"tokens": ["token_id:N"], "token_logprobs": [x], "top_logprobs": [{"token_id:N": x}]}: of
// /v1/completions with return_tokens_as_token_ids.
base::Status read_parallel(const json::Value& logprobs, std::uint64_t at, std::uint64_t vocab_size,
                           unsigned tops, TokenChunk& chunk);

}  // namespace verbatim::engine::vllm
