#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/call.h"
#include "sim/dynamo/profile.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::sim::dynamo {

// What a frontend is, as far as reading requests goes.
struct FrontendFacts {
  const Profile& profile;
  std::string_view model;
  std::uint64_t vocab_size = 0;
  const tokenizer::Tokenizer& tokenizer;
  bool nvext = true;
};

// What nvext.extra_fields asks for.
struct Extras {
  bool worker_id = false;
  bool completion_ids = false;
  bool timing = false;
  bool routed_experts = false;
  bool engine_data = false;
  bool stop_reason = false;
  bool prompt_ids = false;
};

// POST /v1/chat/completions or POST /inference/v1/generate, read.
struct Request {
  GenerateCall call;
  Extras extras;
  bool by_messages = false;  // no ids came with it
  bool include_usage = false;
  bool continuous_usage = false;
  bool names_ids = false;          // return_tokens_as_token_ids
  bool keeps_stop_string = false;  // include_stop_str_in_output
  std::optional<std::uint64_t> top_logprobs;
  std::vector<std::string> annotations;
};

// Errors hold the answer in `upstream`, see errors.h. Forms: tests/captures/dynamo/errors.json.
// Strict about names where the frontend is: at the root, and in nvext. Not about the context
// length: the frontend does not look at it.
base::Result<Request> read_chat(std::string_view body, const FrontendFacts& frontend);
// Unary only; unknown names pass.
base::Result<Request> read_generate(std::string_view body, const FrontendFacts& frontend);

}  // namespace verbatim::sim::dynamo
