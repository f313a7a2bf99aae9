#pragma once

#include <cstddef>
#include <cstdint>

namespace verbatim::chat::jinja {

// The time strftime_now shows: wall clock (ms since 1970, UTC) and the offset of local time from
// UTC. Filled in by the host.
struct Clock {
  std::int64_t wall_ms = 0;
  std::int32_t offset_minutes = 0;
};

// Bounds for one render. What exceeds them is an error of kind kTooLarge.
struct RenderOptions {
  std::uint64_t max_steps =
      10'000'000;  // expressions and statements evaluated, plus 1 per 64 bytes looked at
  std::size_t max_output_bytes = std::size_t{64}
                                 << 20;  // of the result and of every string made on the way
  std::size_t max_allocated_bytes = std::size_t{1} << 30;  // sum of all that is made on the way
  unsigned max_depth = 1500;  // nested evaluations, macro calls included
  Clock clock;
};

}  // namespace verbatim::chat::jinja
