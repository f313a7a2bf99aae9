#include "base/sim/sim_worker.h"

#include <utility>

namespace verbatim::base::sim {

SimWorker::~SimWorker() {
  timer_.cancel();
  while (!jobs_.empty()) {
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    job();
  }
}

void SimWorker::run(std::function<void()> job) {
  jobs_.push_back(std::move(job));
  if (jobs_.size() == 1) schedule();
}

void SimWorker::schedule() {
  const auto delay = Duration(
      static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(max_delay_.count()) + 1)));
  timer_.arm(executor_.timers(), executor_.clock().now() + delay, [this] { work(); });
}

void SimWorker::work() {
  // The job stays in the queue while it runs, so that what it queues is scheduled behind it.
  auto job = std::move(jobs_.front());
  job();
  jobs_.pop_front();
  if (!jobs_.empty()) schedule();
}

}  // namespace verbatim::base::sim
