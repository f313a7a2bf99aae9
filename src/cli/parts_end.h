#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "base/task.h"
#include "cli/log.h"
#include "net/asio_threads.h"

namespace verbatim::cli {

// What runs has so long to end.
inline constexpr std::chrono::seconds kDrainTime(30);

// How a server ends that has a part on each of its loops. The first signal has each part drained,
// the second hurries what is drained, any other is for nothing. The first loop hears signals for
// all: no loop stops before all parts have ended. Life: beside the loops; signalled on the first.
class PartsEnd {
 public:
  // Of the part of a loop, on it: until nothing of it runs.
  using Drain = std::function<base::Task<void>(std::size_t part)>;
  // The same: what is drained ends now.
  using Hurry = std::function<void(std::size_t part)>;
  // `what` runs: "running turns".
  PartsEnd(net::LoopThreads& loops, Log& log, std::string what, Drain drain, Hurry hurry);

  void signalled();

 private:
  base::Task<void> end(std::size_t part);

  net::LoopThreads& loops_;
  Log& log_;
  const std::string what_;
  const Drain drain_;
  const Hurry hurry_;
  unsigned signals_ = 0;
  std::atomic<std::size_t> ended_ = 0;  // parts
};

}  // namespace verbatim::cli
