#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sim/completion.h"

namespace verbatim::sim {

// A request for a completion, whatever wire it came by.
struct GenerateCall {
  std::string rid;  // by which it can be aborted
  TokenIds prompt;
  Limits limits;
  std::uint64_t samples = 1;  // n: the same completion so often
  std::uint64_t top_logprobs = 0;
  std::optional<std::int64_t> seed;
  bool stream = false;
  bool logprobs = false;
  bool echoes_prompt = false;
  bool skips_special = true;
  bool by_messages = false;           // its answer shows no ids
  bool ignores_stop_id = false;       // the model's own stop id does not end it
  std::uint64_t stream_interval = 0;  // ids per event behind the first; 0: as the engine's options
};

}  // namespace verbatim::sim
