#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "base/random.h"
#include "base/runtime.h"
#include "sim/sim_engine.h"

namespace verbatim::simulate {

// The engines of one seed's world: one, or replicas whose processes die now and then and are
// started again on their ports. What each process served is kept.
class Engines {
 public:
  struct Process {
    std::size_t replica;
    std::unique_ptr<sim::SimEngine> engine;
  };

  Engines(base::Runtime& runtime, sim::SimOptions options, std::size_t replicas)
      : runtime_(runtime), options_(std::move(options)), current_(replicas, nullptr) {}

  [[nodiscard]] static std::uint16_t port(std::size_t replica) {
    return static_cast<std::uint16_t>(30000 + replica);
  }
  void start();
  // Lets one after the other die and come back, until end_deaths().
  base::Task<void> die_now_and_then(base::Random& random);
  void end_deaths() { dying_ = false; }
  base::Task<void> stop();

  // In the order in which they were started.
  [[nodiscard]] const std::deque<Process>& processes() const { return processes_; }
  [[nodiscard]] std::uint64_t deaths() const { return processes_.size() - current_.size(); }

 private:
  void start(std::size_t replica);

  base::Runtime& runtime_;
  const sim::SimOptions options_;
  std::deque<Process> processes_;
  std::vector<sim::SimEngine*> current_;
  bool dying_ = true;
};

}  // namespace verbatim::simulate
