#pragma once

#include <coroutine>
#include <cstddef>
#include <vector>

#include "base/executor.h"
#include "base/task.h"

namespace verbatim::engine {

// Work that outlives its caller but not its owner: abort calls, the rest of a finished answer. Each
// task bounds its own time. On one executor. Destroying it while tasks run is a bug: co_await
// idle() first.
class Background {
 public:
  explicit Background(base::Executor& executor) : executor_(executor) {}
  Background(const Background&) = delete;
  ~Background();

  // Starts `task` at once.
  void run(base::Task<void> task);
  // Returns when none is running.
  base::Task<void> idle();
  [[nodiscard]] std::size_t running() const { return running_; }

 private:
  struct UntilIdle;
  base::Task<void> track(base::Task<void> task);

  base::Executor& executor_;
  std::size_t running_ = 0;
  std::vector<std::coroutine_handle<>> waiters_;
};

}  // namespace verbatim::engine
