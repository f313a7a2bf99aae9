#include "net/asio_loop.h"

#include <chrono>
#include <csignal>
#include <utility>

#include <boost/asio/post.hpp>

#include "net/asio_loop_impl.h"

namespace verbatim::net {

base::MonoTime SystemClock::now() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::microseconds>(since).count()};
}

std::int64_t SystemClock::wall_ms() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

std::unique_ptr<base::Clock> system_clock() {
  return std::make_unique<SystemClock>();
}

AsioLoop::Impl::Impl() : wheel(clock.now()), alarm(io) {
  wheel.on_earlier([this] {
    if (!advancing) rearm();
  });
}

AsioLoop::Impl::~Impl() = default;

void AsioLoop::Impl::rearm() {
  const base::MonoTime next = wheel.next_deadline();
  if (next == base::kNever) {
    alarm.cancel();
    return;
  }
  alarm.expires_at(std::chrono::steady_clock::time_point(std::chrono::microseconds(next.us)));
  alarm.async_wait([this](boost::system::error_code code) {
    if (code) return;  // moved
    advancing = true;
    wheel.advance(clock.now());
    advancing = false;
    rearm();
  });
}

void AsioLoop::Impl::wait_for_signal() {
  signals->async_wait([this](boost::system::error_code code, int number) {
    if (code) return;
    wait_for_signal();
    on_signal(number);
  });
}

AsioLoop::AsioLoop() : impl_(std::make_unique<Impl>()) {}
AsioLoop::~AsioLoop() = default;

void AsioLoop::run() {
  impl_->io.restart();
  const auto guard = asio::make_work_guard(impl_->io);
  impl_->io.run();
}

void AsioLoop::stop() {
  impl_->io.stop();
}

void AsioLoop::post(std::function<void()> job) {
  asio::post(impl_->io, std::move(job));
}

base::Clock& AsioLoop::clock() {
  return impl_->clock;
}
base::TimerWheel& AsioLoop::timers() {
  return impl_->wheel;
}

void AsioLoop::on_terminate(std::function<void(int signal)> action) {
  impl_->on_signal = std::move(action);
  if (impl_->signals) return;
  impl_->signals.emplace(impl_->io, SIGINT, SIGTERM);
  // A reader of stderr that is gone, and a file that may not grow, are errors of a write, and no
  // reason to end with all connections.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  impl_->wait_for_signal();
}

}  // namespace verbatim::net
