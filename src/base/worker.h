#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/executor.h"

namespace verbatim::base {

// One background thread for blocking work (files, fsync). Jobs run in order. Thread-safe. The
// simulated twin runs jobs on its executor after a seeded delay.
class Worker {
 public:
  virtual ~Worker() = default;  // runs what is queued, then joins
  virtual void run(std::function<void()> job) = 0;
};

std::unique_ptr<Worker> thread_worker(const char* name);

// co_await run_on(worker, executor, f): runs f on the worker, resumes on the executor with its
// value.
template <class F>
class WorkerCall {
 public:
  using Value = std::invoke_result_t<F&>;
  WorkerCall(Worker& worker, Executor& executor, F f)
      : worker_(worker), executor_(executor), f_(std::move(f)) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    worker_.run([this, h] {
      value_.emplace(f_());
      executor_.post([h] { h.resume(); });
    });
  }
  Value await_resume() { return std::move(*value_); }

 private:
  Worker& worker_;
  Executor& executor_;
  F f_;
  std::optional<Value> value_;
};
template <class F>
WorkerCall<F> run_on(Worker& worker, Executor& executor, F f) {
  return {worker, executor, std::move(f)};
}

}  // namespace verbatim::base
