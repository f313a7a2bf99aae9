#include "engine/sglang/testing/proofs.h"

#include <array>

#include "engine/sglang/request_builder.h"

namespace verbatim::engine::sglang::testing {
namespace {

using engine::testing::good;
using engine::testing::malformed_at;
using engine::testing::no_such;
using engine::testing::refused;
using sim::Fault;

constexpr const char* kId = "output_ids[]";
constexpr const char* kLogprobs = "meta_info.output_token_logprobs";
constexpr const char* kEntry = "meta_info.output_token_logprobs[][]";

constexpr std::array kProofs = {
    malformed_at(Fault::kWrongPromptTokens, "meta_info.prompt_tokens"),
    malformed_at(Fault::kCountOffByOne, "output_ids"),
    malformed_at(Fault::kNoLogprobs, kLogprobs),
    malformed_at(Fault::kShortLogprobs, kLogprobs),
    malformed_at(Fault::kNullLogprob, kEntry),
    malformed_at(Fault::kWrongLogprobId, kEntry),
    malformed_at(Fault::kIdOutOfRange, kId),
    malformed_at(Fault::kIdNegative, kId),
    malformed_at(Fault::kIdString, kId),
    malformed_at(Fault::kIdBool, kId),
    malformed_at(Fault::kIdNull, kId),
    malformed_at(Fault::kIdHuge, kId),
    malformed_at(Fault::kNullFinish, "meta_info.finish_reason"),
    malformed_at(Fault::kUnknownFinish, "meta_info.finish_reason.type"),
    malformed_at(Fault::kExtraEvent, "meta_info"),
    refused(Fault::kAbort, 502, "engine_abort"),
    refused(Fault::kErrorBody, 502, "engine_error"),
    refused(Fault::kErrorEvent, 502, "engine_error"),
    good(Fault::kNoOutputIds),  // they are in the logprobs too
    good(Fault::kTrimmedStop),
};

constexpr const char* kNamed = "meta_info.output_token_logprobs[]";

// One body, whose ids stand beside their logprobs and nowhere else.
constexpr std::array kChat = {
    malformed_at(Fault::kCountOffByOne, kLogprobs),
    malformed_at(Fault::kIdOutOfRange, kNamed),
    malformed_at(Fault::kIdNegative, kNamed),
    malformed_at(Fault::kIdString, kNamed),
    malformed_at(Fault::kIdBool, kNamed),
    malformed_at(Fault::kIdNull, kNamed),
    malformed_at(Fault::kIdHuge, kNamed),
    malformed_at(Fault::kNullFinish, "choices[].finish_reason"),
    no_such(Fault::kWrongLogprobId),
    no_such(Fault::kNoDone),
    no_such(Fault::kExtraEvent),
    no_such(Fault::kComments),
    no_such(Fault::kBareErrorEvent),
};

}  // namespace

std::span<const engine::testing::Proof> proofs_of_mode(std::string_view mode) {
  if (mode == name(Route::kChat)) return kChat;
  return {};
}

std::span<const engine::testing::Proof> proofs() {
  return kProofs;
}

}  // namespace verbatim::engine::sglang::testing
