#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "json/value.h"
#include "message/message.h"

namespace verbatim::engine::vllm {

// What the three calls of mode derender say (vLLM >= 0.24; from 0.30 on with --enable-scale-out):
// the server resolves sampling parameters from the chat request (render), samples behind our ids
// (generate), and parses what it sampled (derender). Pure.

inline constexpr std::string_view kRenderPath = "/v1/chat/completions/render";
inline constexpr std::string_view kDerenderPath = "/v1/chat/completions/derender";

// The chat request as render gets it: the client's members as written, but never streamed, with the
// logprob of each id, and for the model that the server knows. `chat` is an object. Error: no model
// in it (field "model").
base::Result<std::string> render_body(const json::Value& chat, std::string_view model);

// How far the server's own prompt agrees with ours: drift that this way of driving avoids.
RenderSkew skew_of(const json::Value& rendered, const TokenRequest& request);

// The stop ids of the request and those that render resolved, each once.
base::Result<std::vector<TokenId>> resolved_stops(const json::Value& rendered,
                                                  const TokenRequest& request);

// The body of generate: what render resolved, with our ids and `stops`. Errors (kEngine,
// kUnsupported): an answer of render that can't be used.
base::Result<std::string> generate_body(const json::Value& rendered, const TokenRequest& request,
                                        const std::vector<TokenId>& stops, std::string_view model);

// The body of derender. `ids` are those that it is to see: without the stop id at the end, which it
// would give out as text.
std::string derender_body(const TokenRequest& request, std::string_view chat, TokenIdSpan ids,
                          const EngineFinish& finish, std::string_view model);
// The sampled ids without one of `stops` at their end.
TokenIdSpan without_stop(TokenIdSpan ids, const std::vector<TokenId>& stops);

// The message in the answer of derender.
base::Result<message::Message> read_message(const json::Value& root);

}  // namespace verbatim::engine::vllm
