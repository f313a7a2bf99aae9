#pragma once

#include <cstdint>
#include <optional>

namespace verbatim::message {

// Tokens of a turn, as the client is told: counts of ids, the stop token included.
struct Usage {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::optional<std::uint64_t> cached_tokens;  // of the prompt; absent: the engine does not say
  std::optional<std::uint64_t> reasoning_tokens = {};  // of the completion; absent: not counted
  bool operator==(const Usage&) const = default;
};

}  // namespace verbatim::message
