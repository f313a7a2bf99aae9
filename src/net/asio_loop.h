#pragma once

#include <functional>
#include <memory>

#include "base/executor.h"

namespace verbatim::net {

// One thread's event loop: run queue, sockets, timers, clock. Created anywhere, run by one thread;
// everything on it is touched there, except post() and stop().
class AsioLoop final : public base::Executor {
 public:
  AsioLoop();
  AsioLoop(const AsioLoop&) = delete;
  ~AsioLoop() override;

  // Until stop(). May be called again afterwards.
  void run();
  void stop();

  void post(std::function<void()> job) override;
  [[nodiscard]] base::Clock& clock() override;
  [[nodiscard]] base::TimerWheel& timers() override;

  // Calls `action` on the loop for each SIGINT and SIGTERM of the process, until the loop is
  // destroyed. SIGPIPE and SIGXFSZ are ignored from here on.
  void on_terminate(std::function<void(int signal)> action);

  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// The real clock, for whom has no loop. Thread-safe.
std::unique_ptr<base::Clock> system_clock();

}  // namespace verbatim::net
