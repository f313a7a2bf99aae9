#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/vllm/request.h"

namespace verbatim::sim::vllm {

// What an answer needs besides the request.
struct DerenderSetup {
  std::optional<TokenId> stop_id;
  std::int64_t created = 0;              // seconds since 1970
  std::function<std::string()> draw_id;  // 16 hex digits for a call, others each time
};

// POST /v1/chat/completions/derender, not the streaming form: the chat completion that sampled ids
// say, parsed as a server with the reasoning parser qwen3 and a Hermes tool parser does it. Form:
// tests/captures/vllm/derender.json (0.32). As measured: finish reasons pass as they are, texts
// keep their line ends, arguments are printed anew, and where thinking is off and no call is found
// the stop id's text stays in the content. Errors hold the answer in `upstream`, see errors.h.
base::Result<std::string> derender_chat(std::string_view body, const ServerFacts& server,
                                        const DerenderSetup& setup);

}  // namespace verbatim::sim::vllm
