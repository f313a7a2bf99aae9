#pragma once

#include <coroutine>
#include <memory>
#include <utility>

#include "base/executor.h"
#include "base/task.h"
#include "engine/background.h"

namespace verbatim::engine::pool {

// Tasks side by side, whose ends one coroutine waits for. It may go before all have ended: they run
// in `background`, so what they write to must live as long as they do.
class Together {
 public:
  Together(base::Executor& executor, Background& background)
      : state_(std::make_shared<State>(executor)), background_(background) {}
  Together(const Together&) = delete;
  ~Together() { state_->waiter = {}; }

  void run(base::Task<void> task) {
    ++state_->running;
    background_.run(track(state_, std::move(task)));
  }

  // co_await next() -> true behind the next end of a task, false when none is left to wait for.
  auto next() { return Next{*state_}; }

 private:
  struct State {
    explicit State(base::Executor& e) : executor(e) {}
    base::Executor& executor;
    std::size_t running = 0;
    std::size_t ended = 0;  // and not waited for yet
    std::coroutine_handle<> waiter;
  };
  struct Next {
    State& state;
    [[nodiscard]] bool await_ready() const { return state.ended > 0 || state.running == 0; }
    void await_suspend(std::coroutine_handle<> h) { state.waiter = h; }
    [[nodiscard]] bool await_resume() const {
      if (state.ended == 0) return false;
      --state.ended;
      return true;
    }
  };
  static base::Task<void> track(std::shared_ptr<State> state, base::Task<void> task) {
    co_await std::move(task);
    --state->running;
    ++state->ended;
    if (!state->waiter) co_return;
    // Looked up again when it runs: who waits may be gone by then.
    state->executor.post([state] {
      if (state->ended == 0) return;  // another end woke the waiter, which took this one too
      if (const auto waiter = std::exchange(state->waiter, {})) waiter.resume();
    });
  }

  std::shared_ptr<State> state_;
  Background& background_;
};

}  // namespace verbatim::engine::pool
