#include "base/sim/sim_executor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

namespace verbatim::base::sim {

SimExecutor::SimExecutor(std::uint64_t seed, JobOrder order)
    : wheel_(clock_.now()), random_(seed), order_(order) {}

void SimExecutor::run_one() {
  std::size_t at = 0;
  if (order_ == JobOrder::kShuffled && ready_.size() > 1) {
    at = static_cast<std::size_t>(random_.below(ready_.size()));
    std::swap(ready_[at], ready_.front());
  }
  auto job = std::move(ready_.front());
  ready_.pop_front();
  mix_trace(static_cast<std::uint64_t>(clock_.now().us) * 31 + at);
  if (++jobs_run_ > max_jobs_) {
    std::fprintf(stderr, "simulation: %llu jobs ran, an endless loop\n",
                 static_cast<unsigned long long>(jobs_run_));
    std::abort();
  }
  job();
}

bool SimExecutor::jump(MonoTime limit) {
  const MonoTime next = wheel_.next_deadline();
  if (next == kNever || next > limit) return false;
  clock_.now_ = std::max(clock_.now_, next);
  wheel_.advance(clock_.now_);
  return true;
}

void SimExecutor::run_until_idle() {
  for (;;) {
    while (!ready_.empty()) run_one();
    if (!jump(MonoTime{kNever.us - 1})) return;
  }
}

void SimExecutor::run_until(MonoTime until) {
  for (;;) {
    while (!ready_.empty()) run_one();
    if (!jump(until)) break;
  }
  clock_.now_ = std::max(clock_.now_, until);
  wheel_.advance(clock_.now_);
}

bool SimExecutor::run(Task<void> task) {
  const auto done = std::make_shared<bool>(false);
  spawn([](Task<void> t, std::shared_ptr<bool> flag) -> Task<void> {
    co_await std::move(t);
    *flag = true;
  }(std::move(task), done));
  while (!*done) {
    if (!ready_.empty()) {
      run_one();
    } else if (!jump(MonoTime{kNever.us - 1})) {
      return false;
    }
  }
  return true;
}

}  // namespace verbatim::base::sim
