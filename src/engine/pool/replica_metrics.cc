#include "engine/pool/replica_metrics.h"

namespace verbatim::engine::pool {

using base::Metric;

namespace {

// By Health::State.
constexpr std::array<std::string_view, 4> kStateNames = {"unasked", "serving", "cooling",
                                                         "kept_out"};
constexpr Metric kStrikes{"verbatim_engine_strikes",
                          "Failures in a row of a replica that serves, the most of all threads",
                          Metric::Type::kGauge,
                          0,
                          {},
                          Metric::Merge::kMax};

}  // namespace

const Metric kReplicaThreadsMetric{"verbatim_engine_threads",
                                   "Threads of the gateway that see a replica in this state",
                                   Metric::Type::kGauge};

ReplicaMetrics::ReplicaMetrics(base::Metrics& metrics, std::string_view url)
    : engine(metrics, url), strikes_(&metrics.gauge(kStrikes, {{"engine", url}})) {
  for (std::size_t i = 0; i < kStates; ++i)
    threads_[i] =
        &metrics.gauge(kReplicaThreadsMetric, {{"engine", url}, {"state", kStateNames[i]}});
}

void ReplicaMetrics::show(const Health& health) {
  for (std::size_t i = 0; i < kStates; ++i)
    threads_[i]->set(static_cast<std::size_t>(health.state()) == i ? 1 : 0);
  strikes_->set(static_cast<std::int64_t>(health.strikes()));
  engine.set_up(health.serving());
}

}  // namespace verbatim::engine::pool
