#include "engine/vllm/testing/proofs.h"

#include <array>

#include "engine/vllm/modes.h"
#include "engine/vllm/request_builder.h"

namespace verbatim::engine::vllm::testing {
namespace {

using engine::testing::good;
using engine::testing::malformed_at;
using engine::testing::no_such;
using engine::testing::refused;
using sim::Fault;

constexpr const char* kIds = "choices[].token_ids";
constexpr const char* kId = "choices[].token_ids[]";
constexpr const char* kFinish = "choices[].finish_reason";
constexpr const char* kContent = "choices[].logprobs.content";
constexpr const char* kEntry = "choices[].logprobs.content[]";
constexpr const char* kLogprob = "choices[].logprobs.content[].logprob";

constexpr std::array kProofs = {
    malformed_at(Fault::kWrongPromptTokens, "usage.prompt_tokens"),
    malformed_at(Fault::kCountOffByOne, "usage.completion_tokens"),
    malformed_at(Fault::kNoOutputIds, kIds),
    malformed_at(Fault::kNoLogprobs, "choices[].logprobs"),
    malformed_at(Fault::kShortLogprobs, kContent),
    malformed_at(Fault::kNullLogprob, kLogprob),
    malformed_at(Fault::kStandInLogprob, kLogprob),
    malformed_at(Fault::kWrongLogprobId, kEntry),
    malformed_at(Fault::kIdOutOfRange, kId),
    malformed_at(Fault::kIdNegative, kId),
    malformed_at(Fault::kIdString, kId),
    malformed_at(Fault::kIdBool, kId),
    malformed_at(Fault::kIdNull, kId),
    malformed_at(Fault::kIdHuge, kId),
    malformed_at(Fault::kWrongIndex, "choices[].index"),
    malformed_at(Fault::kNullFinish, kFinish),
    malformed_at(Fault::kUnknownFinish, kFinish),
    refused(Fault::kAbort, 502, "engine_abort"),
    refused(Fault::kErrorBody, 500, "engine_error"),
    refused(Fault::kErrorEvent, 500, "engine_error"),
    good(Fault::kExtraEvent),  // the same finish reason again, and no ids
    good(Fault::kTrimmedStop),
};

constexpr const char* kNames = "choices[].logprobs.tokens";
constexpr const char* kName = "choices[].logprobs.tokens[]";
constexpr const char* kValue = "choices[].logprobs.token_logprobs[]";

// Logprobs in parallel lists, and the prompt's ids in the first event.
constexpr std::array kCompletions = {
    malformed_at(Fault::kWrongPromptTokens, "choices[].prompt_token_ids"),
    malformed_at(Fault::kShortLogprobs, kNames),
    malformed_at(Fault::kNullLogprob, kValue),
    malformed_at(Fault::kStandInLogprob, kValue),
    malformed_at(Fault::kWrongLogprobId, kName),
};

// Three calls, none of them streamed: the call that failed is named.
constexpr std::array kDerender = {
    malformed_at(Fault::kNanLogprob, path(Route::kGenerate)),
    malformed_at(Fault::kHtmlBody, path(Route::kGenerate)),
    no_such(Fault::kNoDone),
    no_such(Fault::kExtraEvent),
    no_such(Fault::kComments),
    no_such(Fault::kBareErrorEvent),
};

}  // namespace

std::span<const engine::testing::Proof> proofs() {
  return kProofs;
}

std::span<const engine::testing::Proof> proofs_of_mode(std::string_view mode) {
  if (mode == name(Route::kCompletions)) return kCompletions;
  if (mode == kDerenderMode) return kDerender;
  return {};
}

}  // namespace verbatim::engine::vllm::testing
