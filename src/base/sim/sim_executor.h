#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "base/executor.h"
#include "base/random.h"
#include "base/task.h"
#include "base/timer.h"

namespace verbatim::base::sim {

class SimClock final : public Clock {
 public:
  [[nodiscard]] MonoTime now() const override { return now_; }
  // The simulated world begins on 2026-01-01.
  [[nodiscard]] std::int64_t wall_ms() const override { return 1'767'225'600'000 + now_.us / 1000; }

 private:
  friend class SimExecutor;
  MonoTime now_;
};

enum class JobOrder {
  kFifo,      // as a real loop runs what one thread posts
  kShuffled,  // any ready job may be next, by the seed: finds code that leans on the order of
              // unrelated jobs
};

// Run queue, virtual clock and timer wheel on the calling thread. Time stands still while a job is
// ready and then jumps to the next timer, so a test of minutes takes no time. Same seed and same
// program give the same run; trace() tells whether two runs were the same.
class SimExecutor final : public Executor {
 public:
  explicit SimExecutor(std::uint64_t seed, JobOrder order = JobOrder::kShuffled);

  void post(std::function<void()> job) override { ready_.push_back(std::move(job)); }
  [[nodiscard]] Clock& clock() override { return clock_; }
  [[nodiscard]] TimerWheel& timers() override { return wheel_; }

  // A bound on the runs below, all together: more jobs than that are an endless loop, and the
  // process is aborted.
  static constexpr std::uint64_t kMaxJobs = 50'000'000;
  void set_max_jobs(std::uint64_t jobs) { max_jobs_ = jobs; }

  // Until no job is ready and no timer armed.
  void run_until_idle();
  // Jobs and timers up to `until`; the clock stands there afterwards.
  void run_until(MonoTime until);
  void run_for(Duration duration) { run_until(clock_.now() + duration); }
  // Until `task` has ended. False: it never will, because nothing is left to run.
  [[nodiscard]] bool run(Task<void> task);

  [[nodiscard]] std::uint64_t jobs_run() const { return jobs_run_; }
  // A hash over what ran, in which order and when.
  [[nodiscard]] std::uint64_t trace() const { return trace_; }
  // Others (the simulated network) mix in what they do.
  void mix_trace(std::uint64_t value) { trace_ = (trace_ ^ value) * 0x100000001b3U; }

 private:
  void run_one();
  // Moves to the next timer, at most to `limit`. False: there is none up to there.
  bool jump(MonoTime limit);

  SimClock clock_;
  TimerWheel wheel_;
  SeededRandom random_;
  JobOrder order_;
  std::deque<std::function<void()>> ready_;
  std::uint64_t jobs_run_ = 0;
  std::uint64_t max_jobs_ = kMaxJobs;
  std::uint64_t trace_ = 0xcbf29ce484222325U;
};

}  // namespace verbatim::base::sim
