#pragma once

// Asio behind AsioLoop: for net/asio_*.cc only.
#include <functional>
#include <optional>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/timer.h"
#include "net/asio_loop.h"

namespace verbatim::net {

namespace asio = boost::asio;

class SystemClock final : public base::Clock {
 public:
  [[nodiscard]] base::MonoTime now() const override;
  [[nodiscard]] std::int64_t wall_ms() const override;
};

// One io_context, run by one thread. However many timers are armed, the system sees one alarm: the
// wheel's next deadline.
struct AsioLoop::Impl {
  Impl();
  ~Impl();
  // Sets the one system timer to the wheel's next deadline.
  void rearm();

  asio::io_context io{1};
  SystemClock clock;
  base::TimerWheel wheel;
  asio::steady_timer alarm;
  std::optional<asio::signal_set> signals;
  std::function<void(int)> on_signal;
  bool advancing = false;  // timers are firing: rearm() waits for the last of them

 private:
  void wait_for_signal();
  friend class AsioLoop;
};

}  // namespace verbatim::net
