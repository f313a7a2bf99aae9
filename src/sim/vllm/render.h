#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/vllm/request.h"

namespace verbatim::sim::vllm {

// POST /v1/chat/completions/render: the generate request that a chat request becomes. The prompt is
// a stand-in for the model's template (../chatml.h); the rest is as vLLM 0.32 prints it
// (tests/captures/vllm/render.json): sampling parameters written where they were set, twelve of
// them always, max_tokens left out where it is 16. Defaults of sampling are those of Qwen3's
// generation_config.json. `id`: where neither header nor body names the request. Errors hold the
// answer in `upstream`, see errors.h.
base::Result<std::string> render_chat(std::string_view body, std::string_view header_id,
                                      const std::string& id, const ServerFacts& server);

}  // namespace verbatim::sim::vllm
