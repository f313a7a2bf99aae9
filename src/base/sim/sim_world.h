#pragma once

#include <cstdint>

#include "base/runtime.h"
#include "base/sim/sim_executor.h"
#include "base/sim/sim_files.h"
#include "base/sim/sim_network.h"
#include "base/sim/sim_worker.h"

namespace verbatim::base::sim {

// All simulated seams behind one seed. Created and destroyed by the test; everything that runs on
// `runtime` must have ended before.
struct SimWorld {
  explicit SimWorld(std::uint64_t seed, JobOrder order = JobOrder::kShuffled)
      : executor(seed, order),
        network(executor, seed * 5 + 1),
        files(seed * 5 + 2),
        worker(executor, seed * 5 + 3),
        random(seed * 5 + 4),
        runtime{executor, network, random, files, worker} {}

  SimExecutor executor;
  SimNetwork network;
  SimFiles files;
  SimWorker worker;
  SeededRandom random;
  Runtime runtime;

  // Runs `task` to its end; false when it got stuck.
  [[nodiscard]] bool run(Task<void> task) { return executor.run(std::move(task)); }
};

}  // namespace verbatim::base::sim
