#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/call.h"
#include "sim/vllm/profile.h"

namespace verbatim::sim::vllm {

// What a server is, as far as reading requests goes.
struct ServerFacts {
  const Profile& profile;
  std::string_view model;
  std::uint64_t vocab_size = 0;
  std::uint64_t max_model_len = 0;
  const tokenizer::Tokenizer& tokenizer;  // for prompts that are text
};

// POST /inference/v1/generate or POST /v1/completions, read.
struct Request {
  GenerateCall call;
  bool completions = false;
  bool text = false;  // output_mode "text"
  bool include_usage = false;
  bool continuous_usage = false;
  bool full_output = false;                      // output_kind 2
  bool keeps_stop_string = false;                // include_stop_str_in_output
  bool names_ids = false;                        // return_tokens_as_token_ids
  std::optional<std::uint64_t> prompt_logprobs;  // how many besides the prompt's own id
};

// The request as vLLM 0.32 reads it (tests/captures/vllm/generate_errors.json, completions.json):
// unknown keys are ignored, max_tokens is cut to what is left of the window without a word (but for
// completions). Errors hold the answer in `upstream`, see errors.h.
base::Result<Request> read_generate(std::string_view body, const ServerFacts& server);
base::Result<Request> read_completions(std::string_view body, const ServerFacts& server);

// Whether a request that was refused wanted a stream.
bool asks_for_stream(std::string_view body);

// {"request_ids":[...]}
base::Result<std::vector<std::string>> read_abort(std::string_view body);

}  // namespace verbatim::sim::vllm
