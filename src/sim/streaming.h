#pragma once

#include <optional>
#include <string_view>

namespace verbatim::sim {

// How a stream of SGLang brings ids and logprobs.
enum class Streaming {
  kCumulative,   // all so far, in each event: SGLang's default
  kIncremental,  // the new ones
  kMixed,        // new ids, all logprobs: releases before March 2026 with incremental output
};
std::string_view name(Streaming streaming);  // "cumulative" ...
std::optional<Streaming> streaming_named(std::string_view text);

}  // namespace verbatim::sim
