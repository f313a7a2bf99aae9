#include "engine/dynamo/testing/proofs.h"

#include <array>

namespace verbatim::engine::dynamo::testing {
namespace {

using engine::testing::malformed_at;
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
    refused(Fault::kErrorBody, 500, "engine_error"),
    refused(Fault::kErrorEvent, 500, "engine_error"),
};

}  // namespace

std::span<const engine::testing::Proof> proofs() {
  return kProofs;
}

}  // namespace verbatim::engine::dynamo::testing
