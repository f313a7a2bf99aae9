#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/token.h"

namespace verbatim::message {

// Sampling parameters of a turn, as the client gave them; absent = the engine's default. Numbers
// are natural units (temperature 0 is greedy). Ranges are checked where they are parsed (protocol),
// so everything below may rely on them.
struct Sampling {
  std::optional<double> temperature;         // >= 0
  std::optional<double> top_p;               // (0, 1]
  std::optional<std::int64_t> top_k;         // -1 (off) or >= 1
  std::optional<double> min_p;               // [0, 1]
  std::optional<double> frequency_penalty;   // [-2, 2]
  std::optional<double> presence_penalty;    // [-2, 2]
  std::optional<double> repetition_penalty;  // (0, 2]
  std::optional<std::int64_t> seed;
  std::optional<std::uint64_t> max_tokens;  // from max_completion_tokens or max_tokens
  std::vector<std::string> stop;            // stop strings
  std::vector<base::TokenId> stop_token_ids;
  bool logprobs = false;      // the client wants to see them
  unsigned top_logprobs = 0;  // [0, 20]
  // How the engine is to treat the request; what is sampled does not depend on it.
  std::string cache_salt;     // prefixes are shared among equal ones only; empty: with everybody
  std::int64_t priority = 0;  // higher = sooner, whatever the engine's own sense; 32 bits
  bool operator==(const Sampling&) const = default;
};

}  // namespace verbatim::message
