#pragma once

#include <deque>

#include "base/random.h"
#include "base/sim/sim_executor.h"
#include "base/worker.h"

namespace verbatim::base::sim {

// Runs jobs in order on the simulated executor, each a seeded delay of 0..max_delay after the one
// before.
class SimWorker final : public Worker {
 public:
  SimWorker(SimExecutor& executor, std::uint64_t seed,
            Duration max_delay = std::chrono::milliseconds(5))
      : executor_(executor), random_(seed), max_delay_(max_delay) {}
  ~SimWorker() override;
  void run(std::function<void()> job) override;

 private:
  void schedule();
  void work();

  SimExecutor& executor_;
  SeededRandom random_;
  Duration max_delay_;
  std::deque<std::function<void()>> jobs_;
  Timer timer_;
};

}  // namespace verbatim::base::sim
