#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/task.h"

namespace verbatim::base {

namespace detail {
class Gather {
 public:
  explicit Gather(std::vector<Task<void>> tasks) : tasks_(std::move(tasks)) {}

  [[nodiscard]] bool await_ready() const noexcept { return tasks_.empty(); }
  bool await_suspend(std::coroutine_handle<> waiter) {
    left_ = tasks_.size() + 1;  // one for this call, so that nobody is resumed from inside it
    for (auto& task : tasks_) spawn(count(std::move(task)));
    waiter_ = waiter;
    return --left_ != 0;
  }
  void await_resume() const noexcept {}

 private:
  Task<void> count(Task<void> task) {
    co_await std::move(task);
    if (--left_ == 0) waiter_.resume();
  }

  std::vector<Task<void>> tasks_;
  std::size_t left_ = 0;
  std::coroutine_handle<> waiter_;
};
}  // namespace detail

// co_await gather(tasks): runs all of them on the calling executor, in turns, and goes on when the
// last one has ended. They start in order, each running until it waits for something.
inline detail::Gather gather(std::vector<Task<void>> tasks) {
  return detail::Gather(std::move(tasks));
}

}  // namespace verbatim::base
