#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"

namespace verbatim::engine::vllm {

// What vLLM (0.10 to 0.32) is sent. Unknown keys are ignored by it with a 200, at every level, so
// only keys that these releases know are written. Pure.

// The routes that take a prompt by ids.
enum class Route {
  kGenerate,     // POST /inference/v1/generate, at the server's root (>= 0.18)
  kCompletions,  // POST /v1/completions with return_token_ids (>= 0.10.2)
};
constexpr std::string_view path(Route route) {
  return route == Route::kGenerate ? "/inference/v1/generate" : "/v1/completions";
}
// The mode.
constexpr std::string_view name(Route route) {
  return route == Route::kGenerate ? "generate" : "completions";
}

// The body for `route`: streamed, with a logprob for each sampled id and nothing left out of the
// ids. `model` may be empty for kGenerate: the base model.
std::string token_body(Route route, const TokenRequest& request, std::string_view model);

// How many logprobs each sampled id is to come with, as its key `logprobs` says it. Of the entries
// that the generate route gives, the sampled id takes the first whether it is likely or not, so
// one more is asked for; not beyond vLLM's own limit of 20, where the last alternative is lost
// when a less likely id was sampled. Completions list the sampled id beside those asked for.
std::uint64_t logprobs_asked(Route route, const message::Sampling& sampling);

// The newest release's limits on a cache_salt (older ones take any); empty: none is asked for.
base::Status check_salt(std::string_view salt);

// Priority and cache salt, as members of a body behind others.
void append_scheduling(std::string& body, const message::Sampling& sampling);

// The body of POST /inference/v1/abort_requests (>= 0.31). vLLM knows a request by
// "generate-tokens-<request id>" there; the bare id aborts nothing, with a 200.
std::string abort_body(std::string_view request_id);

}  // namespace verbatim::engine::vllm
