#include "simulate/engines.h"

#include "base/timer.h"

namespace verbatim::simulate {

using std::chrono::milliseconds;

void Engines::start() {
  for (std::size_t replica = 0; replica < current_.size(); ++replica) start(replica);
}

void Engines::start(std::size_t replica) {
  sim::SimOptions options = options_;
  options.seed += 1009 * processes_.size();
  processes_.push_back({replica, std::make_unique<sim::SimEngine>(runtime_, std::move(options))});
  current_[replica] = processes_.back().engine.get();
  (void)current_[replica]->start("engine", port(replica));
}

base::Task<void> Engines::die_now_and_then(base::Random& random) {
  while (dying_) {
    co_await base::sleep_for(runtime_.executor, milliseconds(random.below(3000)));
    const std::size_t replica = random.below(current_.size());
    co_await current_[replica]->stop();
    co_await base::sleep_for(runtime_.executor, milliseconds(random.below(2000)));
    start(replica);
  }
}

base::Task<void> Engines::stop() {
  for (sim::SimEngine* engine : current_) co_await engine->stop();
}

}  // namespace verbatim::simulate
