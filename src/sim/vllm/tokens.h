#pragma once

#include <cstdint>
#include <string>

#include "sim/answer.h"
#include "sim/ranked.h"
#include "sim/vllm/request.h"

namespace verbatim::sim::vllm {

// How an entry of logprobs names its id.
enum class TokenNames {
  kIntegers,  // "token_id": 5
  kStrings,   // "token": "token_id:5"
  kText,      // "token": "Hello", and its bytes
};
// {"content":[...]} for ids [from, to): as chat answers print it.
std::string logprobs_json(const Spelling& spelling, const GenerateCall& call,
                          const tokenizer::Tokenizer& tokenizer, TokenNames names,
                          const Part& part);

// [null,{"<id>":{"logprob","rank","decoded_token"}},...] of a prompt, `beside` entries more each.
std::string prompt_logprobs_json(const TokenIds& prompt, std::uint64_t beside, std::uint64_t seed,
                                 const tokenizer::Tokenizer& tokenizer, std::uint64_t vocab_size);

// {"prompt_tokens","total_tokens","completion_tokens",...} in the forms vLLM prints.
enum class UsageForm {
  kWhole,      // with what was cached, nulls written
  kFrame,      // continuous_usage_stats: details null
  kLastFrame,  // include_usage: nulls left out
  kOld,        // before 0.31: details null
};
std::string usage_json(UsageForm form, std::uint64_t prompt, std::uint64_t completion);

// null, the id or the string that ended the completion. The model's own stop id is null.
std::string stop_reason_json(const Finish* finish, std::optional<TokenId> own_stop_id);
// "stop", or null where the part is not the last.
std::string finish_reason_json(const Finish* finish, const Spelling& spelling);

}  // namespace verbatim::sim::vllm
