#pragma once

namespace verbatim::protocol {

// When a text ends that calls follow.
enum class TextEnds {
  kBeforeCalls,
  kLast,  // it stays open behind them; in a whole answer it stands behind them
};

}  // namespace verbatim::protocol
