#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
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
  void await_resume() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  Task<void> count(Task<void> task) {
    try {
      co_await std::move(task);
    } catch (...) {
      if (!thrown_) thrown_ = std::current_exception();
    }
    if (--left_ == 0) waiter_.resume();
  }

  std::vector<Task<void>> tasks_;
  std::size_t left_ = 0;
  std::exception_ptr thrown_;  // the first
  std::coroutine_handle<> waiter_;
};
}  // namespace detail

// co_await gather(tasks): runs all of them on the calling executor, in turns, and goes on when the
// last one has ended. They start in order, each running until it waits for something. What the
// first of them throws comes out of the co_await, behind the end of all.
inline detail::Gather gather(std::vector<Task<void>> tasks) {
  return detail::Gather(std::move(tasks));
}

}  // namespace verbatim::base
