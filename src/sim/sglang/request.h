#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/call.h"

namespace verbatim::sim::sglang {

// POST /generate (SGLang 0.5.16). Refuses what SGLang refuses, and every key it does not know.
// Errors are kInvalidRequest.
base::Result<GenerateCall> read_generate(std::string_view body, std::uint64_t vocab_size);

// POST /v1/chat/completions with input_ids: the messages are there but not read, and streams are
// refused, as SGLang does where ids or meta_info are asked for.
base::Result<GenerateCall> read_chat(std::string_view body, std::uint64_t vocab_size);

// {"rid":..., "abort_all":...}
struct AbortCall {
  std::string rid;
  bool all = false;
};
base::Result<AbortCall> read_abort(std::string_view body);

}  // namespace verbatim::sim::sglang
