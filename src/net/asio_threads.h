#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "net/asio_loop.h"

namespace verbatim::net {

// One loop per thread. Owns the loops; run() gives each a thread of its own but the first, which
// stays on the caller's, and returns when all have stopped.
class LoopThreads {
 public:
  explicit LoopThreads(unsigned count);
  [[nodiscard]] std::size_t size() const { return loops_.size(); }
  [[nodiscard]] AsioLoop& operator[](std::size_t i) { return *loops_[i]; }
  void run();

 private:
  std::vector<std::unique_ptr<AsioLoop>> loops_;
};

// Cores this process may use.
unsigned usable_cores();

}  // namespace verbatim::net
