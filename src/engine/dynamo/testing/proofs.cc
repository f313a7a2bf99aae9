#include "engine/dynamo/testing/proofs.h"

#include <array>

#include "engine/dynamo/request_builder.h"

namespace verbatim::engine::dynamo::testing {
namespace {

using engine::testing::good;
using engine::testing::malformed_at;
using engine::testing::no_such;
using engine::testing::refused;
using sim::Fault;

constexpr const char* kIds = "nvext.completion_token_ids";
constexpr const char* kId = "nvext.completion_token_ids[]";
constexpr const char* kExact = "nvext.engine_data.completion_logprobs";
constexpr const char* kFinish = "choices[].finish_reason";

constexpr std::array kProofs = {
    malformed_at(Fault::kWrongPromptTokens, "usage.prompt_tokens"),
    malformed_at(Fault::kCountOffByOne, "usage.completion_tokens"),
    malformed_at(Fault::kNoOutputIds, kIds),
    malformed_at(Fault::kNoLogprobs, kExact),
    malformed_at(Fault::kShortLogprobs, kExact),
    malformed_at(Fault::kNullLogprob, "choices[].logprobs.content[].logprob"),
    malformed_at(Fault::kWrongLogprobId, "choices[].logprobs.content[].token_id"),
    malformed_at(Fault::kIdOutOfRange, kId),
    malformed_at(Fault::kIdNegative, kId),
    malformed_at(Fault::kIdString, kId),
    malformed_at(Fault::kIdBool, kId),
    malformed_at(Fault::kIdNull, kId),
    malformed_at(Fault::kIdHuge, kId),
    malformed_at(Fault::kWrongIndex, "choices[].index"),
    malformed_at(Fault::kNullFinish, kFinish),
    malformed_at(Fault::kUnknownFinish, kFinish),
    malformed_at(Fault::kExtraEvent, kFinish),
    malformed_at(Fault::kAbort, kFinish),        // it reads "stop", without a stop id
    malformed_at(Fault::kTrimmedStop, kFinish),  // which can't be told from an abort
    malformed_at(Fault::kEmptyAnswer, kFinish),
    malformed_at(Fault::kNoEngineData, "nvext.engine_data"),
    refused(Fault::kHttp529, 529),
    refused(Fault::kErrorBody, 500, "engine_error"),
    refused(Fault::kErrorEvent, 500, "engine_error"),
};

constexpr const char* kContent = "choices[].logprobs.content";
constexpr const char* kTokens = "choices[].token_ids[]";

// One body on the wire of vLLM, without a count of anything.
constexpr std::array kGenerate = {
    no_such(Fault::kWrongPromptTokens),
    no_such(Fault::kCountOffByOne),
    malformed_at(Fault::kNoOutputIds, "choices[].token_ids"),
    malformed_at(Fault::kNoLogprobs, "choices[].logprobs"),
    malformed_at(Fault::kShortLogprobs, kContent),
    malformed_at(Fault::kWrongLogprobId, "choices[].logprobs.content[]"),
    malformed_at(Fault::kIdOutOfRange, kTokens),
    malformed_at(Fault::kIdNegative, kTokens),
    malformed_at(Fault::kIdString, kTokens),
    malformed_at(Fault::kIdBool, kTokens),
    malformed_at(Fault::kIdNull, kTokens),
    malformed_at(Fault::kIdHuge, kTokens),
    refused(Fault::kAbort, 499, "engine_error"),
    good(Fault::kTrimmedStop),
    no_such(Fault::kNoDone),
    no_such(Fault::kExtraEvent),
    no_such(Fault::kComments),
    no_such(Fault::kBareErrorEvent),
    no_such(Fault::kNoEngineData),
    refused(Fault::kNullFinish, 500),  // the frontend's own word
    good(Fault::kEmptyAnswer),         // what was cancelled is a 499 there
};

}  // namespace

std::span<const engine::testing::Proof> proofs_of_mode(std::string_view mode) {
  if (mode == name(Route::kGenerate)) return kGenerate;
  return {};
}

std::span<const engine::testing::Proof> proofs() {
  return kProofs;
}

}  // namespace verbatim::engine::dynamo::testing
