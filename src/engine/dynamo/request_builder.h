#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/vllm/request_builder.h"

namespace verbatim::engine::dynamo {

// What Dynamo's frontend (1.4 to 1.6) is sent: the body of POST /v1/chat/completions with the
// prompt as ids. Only keys it knows are ever written: an unknown one fails the whole request. Pure.

// Streamed, with the ids in `nvext.token_data`, beside which the one message is a placeholder, and
// everything asked for that proves the answer: ids (delta by delta, and whole at the end), logprobs
// with ids instead of texts, the prompt's length in each event. Stop strings are left out: the
// frontend would match them itself and cut the worker's last message off, which holds the proof.
std::string chat_body(const TokenRequest& request);

// The routes that take a prompt by ids.
enum class Route {
  kChat,      // POST /v1/chat/completions with nvext.token_data
  kGenerate,  // the one that vLLM has too, where frontend and worker have it switched on
};
constexpr std::string_view path(Route route) {
  return route == Route::kChat ? "/v1/chat/completions" : vllm::path(vllm::Route::kGenerate);
}
// The mode.
constexpr std::string_view name(Route route) {
  return route == Route::kChat ? "chat" : "generate";
}

// Of Route::kGenerate: vLLM's own request, which the worker gets as it is written. Not streamed:
// the frontend refuses that with 501. Stop strings are left out here too: nothing looks for them.
std::string generate_body(const TokenRequest& request);

// Whether Dynamo can do what is asked. `vocab_size` bounds the stop ids.
base::Status check_sampling(const message::Sampling& sampling, std::uint64_t vocab_size);

// The frontend takes 32 stop ids, those of the model's family among them.
base::Status check_stop_ids(const TokenRequest& request);

}  // namespace verbatim::engine::dynamo
