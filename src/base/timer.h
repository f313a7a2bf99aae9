#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <functional>

#include "base/executor.h"

namespace verbatim::base {

class TimerWheel;

// One timer. Armed again it moves; destroyed it is cancelled. Belongs to one executor; the callback
// runs on its thread and may destroy the timer.
class Timer {
 public:
  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { cancel(); }

  // Fires once at or after `deadline`, never before it, at most one tick (kTick) late plus the
  // executor's own delay.
  void arm(TimerWheel& wheel, MonoTime deadline, std::function<void()> action);
  // Moves the deadline of an armed timer, keeping its action. Cheap (no search): connections do it
  // for every read.
  void move(MonoTime deadline);
  void cancel();
  [[nodiscard]] bool armed() const { return wheel_ != nullptr; }

 private:
  friend class TimerWheel;
  TimerWheel* wheel_ = nullptr;
  Timer* next_ = nullptr;
  Timer* prev_ = nullptr;
  std::uint64_t tick_ = 0;
  unsigned slot_ = 0;
  std::function<void()> action_;
};

// A hashed wheel: arm and cancel are O(1), a tick costs what is in its slot. One per executor. The
// executor calls advance() and asks next_deadline() to know how long it may sleep.
class TimerWheel {
 public:
  static constexpr std::int64_t kTick = 1000;  // µs

  explicit TimerWheel(MonoTime start) : now_tick_(static_cast<std::uint64_t>(start.us / kTick)) {}
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;
  ~TimerWheel();

  // Fires everything due at `now`, in order of its tick, timers of one tick in the order of arming.
  void advance(MonoTime now);
  // A lower bound of the next deadline (the wheel may wake early, never late); kNever when nothing
  // is armed.
  [[nodiscard]] MonoTime next_deadline() const;
  // Called when a timer is armed earlier than the bound last given by next_deadline().
  void on_earlier(std::function<void()> wake) { wake_ = std::move(wake); }

 private:
  friend class Timer;
  static constexpr unsigned kSlots = 1024;
  struct Slot {
    Timer* head = nullptr;
    Timer* tail = nullptr;
  };
  void insert(Timer& timer);
  void remove(Timer& timer);
  void append(unsigned slot, Timer& timer);
  // The first tick behind now_tick_ whose slot holds a timer; UINT64_MAX when none is armed.
  [[nodiscard]] std::uint64_t next_used_tick() const;
  void collect_due(Slot& slot);

  std::array<Slot, kSlots + 1> slots_{};  // the last holds what fires now
  std::array<std::uint64_t, kSlots / 64> used_{};
  std::uint64_t now_tick_;
  mutable std::uint64_t promised_ = UINT64_MAX;
  std::size_t armed_ = 0;
  std::function<void()> wake_;
};

// co_await sleep_until(executor, t): resumes on the executor at or after t.
class SleepAwaiter {
 public:
  SleepAwaiter(Executor& executor, MonoTime until) : executor_(executor), until_(until) {}
  bool await_ready() const { return until_ <= executor_.clock().now(); }
  void await_suspend(std::coroutine_handle<> h) {
    timer_.arm(executor_.timers(), until_, [h] { h.resume(); });
  }
  void await_resume() const noexcept {}

 private:
  Executor& executor_;
  MonoTime until_;
  Timer timer_;
};
inline SleepAwaiter sleep_until(Executor& e, MonoTime t) {
  return {e, t};
}
inline SleepAwaiter sleep_for(Executor& e, Duration d) {
  return {e, e.clock().now() + d};
}

}  // namespace verbatim::base
