#pragma once

#include <coroutine>
#include <functional>
#include <optional>
#include <utility>

#include "base/executor.h"
#include "base/stream.h"
#include "base/task.h"

namespace verbatim::simulate {

// The gateway's network: it listens where the agents are and connects to where the engine is, so
// that each link has faults of its own.
class GatewayNetwork final : public base::Network {
 public:
  GatewayNetwork(base::Network& agents, base::Network& engine) : agents_(agents), engine_(engine) {}
  base::Result<std::unique_ptr<base::Listener>> listen(const std::string& host, std::uint16_t port,
                                                       PortUse use) override {
    return agents_.listen(host, port, use);
  }
  base::Task<base::Result<std::unique_ptr<base::ByteStream>>> connect(
      const base::Endpoint& to, base::MonoTime deadline) override {
    return engine_.connect(to, deadline);
  }

 private:
  base::Network& agents_;
  base::Network& engine_;
};

// Tasks that run side by side; co_await all() returns when each has ended. One waiter.
class Together {
 public:
  explicit Together(base::Executor& executor) : executor_(executor) {}
  void run(base::Task<void> task) {
    ++running_;
    base::spawn(track(std::move(task)));
  }
  base::Task<void> all() {
    if (running_ > 0) co_await End{*this};
  }
  [[nodiscard]] std::size_t running() const { return running_; }

 private:
  struct End {
    Together& of;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) { of.waiter_ = h; }
    void await_resume() const noexcept {}
  };
  base::Task<void> track(base::Task<void> task) {
    co_await std::move(task);
    if (--running_ > 0 || !waiter_) co_return;
    executor_.post([h = std::exchange(waiter_, {})] { h.resume(); });
  }

  base::Executor& executor_;
  std::size_t running_ = 0;
  std::coroutine_handle<> waiter_;
};

// The value of a task that never waits, as those of the memory store.
template <class T>
T at_once(base::Task<T> task) {
  std::optional<T> value;
  base::spawn([](base::Task<T> running, std::optional<T>& into) -> base::Task<void> {
    into.emplace(co_await std::move(running));
  }(std::move(task), value));
  return std::move(*value);
}

}  // namespace verbatim::simulate
