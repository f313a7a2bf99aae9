#include "engine/background.h"

#include <cstdlib>
#include <utility>

namespace verbatim::engine {

struct Background::UntilIdle {
  Background& owner;
  [[nodiscard]] bool await_ready() const { return owner.running_ == 0; }
  void await_suspend(std::coroutine_handle<> h) { owner.waiters_.push_back(h); }
  void await_resume() const noexcept {}
};

Background::~Background() {
  if (running_ != 0) std::abort();
}

void Background::run(base::Task<void> task) {
  ++running_;
  base::spawn(track(std::move(task)));
}

base::Task<void> Background::track(base::Task<void> task) {
  co_await std::move(task);
  if (--running_ != 0) co_return;
  // Posted: who is woken may destroy this object.
  for (const auto waiter : std::exchange(waiters_, {})) {
    executor_.post([waiter] { waiter.resume(); });
  }
}

base::Task<void> Background::idle() {
  while (running_ != 0) co_await UntilIdle{*this};
}

}  // namespace verbatim::engine
