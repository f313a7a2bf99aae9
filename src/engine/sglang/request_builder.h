#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"

namespace verbatim::engine::sglang {

// What SGLang (0.4 to 0.5.18) is sent: bodies of POST /generate and POST /abort_request. Only keys
// it knows are ever written: an unknown sampling key fails the whole request. Pure.

// The routes that take a prompt by ids.
enum class Route {
  kGenerate,  // POST /generate
  kChat,  // POST /v1/chat/completions with input_ids (>= 0.5.13): SGLang's parsers, no streaming
};
constexpr std::string_view path(Route route) {
  return route == Route::kGenerate ? "/generate" : "/v1/chat/completions";
}
// The mode.
constexpr std::string_view name(Route route) {
  return route == Route::kGenerate ? "generate" : "chat";
}

// The body of POST /generate: streamed, with a logprob for each sampled id and nothing trimmed or
// left out.
std::string generate_body(const TokenRequest& request);

// The body of POST /v1/chat/completions: the client's members as written, but for what is forced.
// Before 0.5.13 the ids are ignored and the messages rendered: the answer must say the ids again.
// Error: `request.chat` is no object.
base::Result<std::string> chat_body(const TokenRequest& request);

// The body of POST /abort_request. SGLang aborts every request whose id begins with `request_id`,
// so it must not be empty.
std::string abort_body(std::string_view request_id);

// Whether this release keeps prefixes of different cache_salt apart. Unknown releases do not.
base::Status check_salting(std::string_view version);

}  // namespace verbatim::engine::sglang
