#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "base/cancel.h"
#include "base/executor.h"
#include "base/timer.h"

namespace verbatim::base {

// co_await Pause(executor, time, signal) -> true after `time`, false as soon as `signal` fires.
// Without a time it waits for the signal alone.
class Pause {
 public:
  Pause(Executor& executor, std::optional<Duration> time, CancelSignal& signal)
      : executor_(executor), time_(time), signal_(signal) {}
  Pause(const Pause&) = delete;

  [[nodiscard]] bool await_ready() const {
    return signal_.fired() || (time_ && time_->count() == 0);
  }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    if (time_)
      timer_.arm(executor_.timers(), executor_.clock().now() + *time_, [this] { resume(); });
    hook_.emplace(signal_, [this] { resume(); });
  }
  [[nodiscard]] bool await_resume() const { return !signal_.fired(); }

 private:
  // Posted: the timer and the signal still run the callback that calls this.
  void resume() {
    if (!waiter_) return;
    executor_.post([waiter = std::exchange(waiter_, {})] { waiter.resume(); });
  }

  Executor& executor_;
  std::optional<Duration> time_;
  CancelSignal& signal_;
  std::coroutine_handle<> waiter_;
  Timer timer_;
  std::optional<CancelHook> hook_;
};

}  // namespace verbatim::base
