#pragma once

#include <coroutine>
#include <deque>
#include <utility>

#include "base/executor.h"

namespace verbatim::base {

// Lets one coroutine at a time into a section, in the order in which they came: for writers that
// share a stream on one executor. Not thread-safe. Who waits is resumed by the executor, never from
// inside another's leave. Must outlive its passes; nobody may wait when it is destroyed.
class Serial {
 public:
  explicit Serial(Executor& executor) : executor_(executor) {}
  Serial(const Serial&) = delete;
  Serial& operator=(const Serial&) = delete;

  // The right to be in the section; ends with its life.
  class [[nodiscard]] Pass {
   public:
    explicit Pass(Serial& serial) : serial_(&serial) {}
    Pass(Pass&& other) noexcept : serial_(std::exchange(other.serial_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (serial_ != nullptr) serial_->leave();
    }

   private:
    Serial* serial_;
  };

  class Entry {
   public:
    explicit Entry(Serial& serial) : serial_(serial) {}
    [[nodiscard]] bool await_ready() const { return !std::exchange(serial_.taken_, true); }
    void await_suspend(std::coroutine_handle<> waiter) { serial_.waiting_.push_back(waiter); }
    Pass await_resume() const { return Pass(serial_); }

   private:
    Serial& serial_;
  };

  // co_await serial.enter() -> Pass.
  [[nodiscard]] Entry enter() { return Entry(*this); }
  [[nodiscard]] bool taken() const { return taken_; }

 private:
  // Hands the section to the next in line before anybody else can come in.
  void leave() {
    if (waiting_.empty()) {
      taken_ = false;
      return;
    }
    const auto next = waiting_.front();
    waiting_.pop_front();
    executor_.post([next] { next.resume(); });
  }

  Executor& executor_;
  bool taken_ = false;
  std::deque<std::coroutine_handle<>> waiting_;
};

}  // namespace verbatim::base
