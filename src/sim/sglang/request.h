#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/call.h"
#include "sim/sglang/profile.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::sim::sglang {

// What a server is, as far as reading requests goes.
struct ServerFacts {
  const Profile& profile;
  std::uint64_t vocab_size = 0;
  const tokenizer::Tokenizer& tokenizer;  // for messages
};

// POST /generate. Refuses what SGLang refuses, and every key that its release does not know. Errors
// are kInvalidRequest.
base::Result<GenerateCall> read_generate(std::string_view body, const ServerFacts& server);

struct ChatCall {
  GenerateCall call;
  bool tells_meta = false;  // return_meta_info
  bool names_ids = false;   // return_token_ids
};
// POST /v1/chat/completions. With input_ids the messages are there but not read; a release without
// them renders the messages (a stand-in, ../chatml.h), whatever else it is asked. Streams are
// refused, as SGLang does where ids or meta_info are asked for.
base::Result<ChatCall> read_chat(std::string_view body, const ServerFacts& server);

// {"rid":..., "abort_all":...}
struct AbortCall {
  std::string rid;
  bool all = false;
};
base::Result<AbortCall> read_abort(std::string_view body);

}  // namespace verbatim::sim::sglang
