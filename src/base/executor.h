#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace verbatim::base {

// Time on the seams: a steady point for deadlines and a wall point (milliseconds since the Unix
// epoch) for records.
using Duration = std::chrono::microseconds;
struct MonoTime {
  std::int64_t us = 0;
  auto operator<=>(const MonoTime&) const = default;
  MonoTime operator+(Duration d) const { return {us + d.count()}; }
  Duration operator-(MonoTime o) const { return Duration(us - o.us); }
};
inline constexpr MonoTime kNever{INT64_MAX};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual MonoTime now() const = 0;
  [[nodiscard]] virtual std::int64_t wall_ms() const = 0;
};

class TimerWheel;

// One thread's run queue. Everything that belongs to an executor (streams, timers, tasks that wait
// on them) is touched on its thread only; `post` alone may be called from any thread. Real form:
// net/asio_loop.h; simulated twin: base/sim/sim_executor.h.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void post(std::function<void()> job) = 0;
  [[nodiscard]] virtual Clock& clock() = 0;
  [[nodiscard]] virtual TimerWheel& timers() = 0;
};

}  // namespace verbatim::base
