#pragma once

#include <array>
#include <string_view>

#include "engine/engine_metrics.h"
#include "engine/pool/health.h"

namespace verbatim::engine::pool {

extern const base::Metric kReplicaThreadsMetric;

// Counts what one pool knows of one replica. Each thread has a pool, and finds out for itself.
class ReplicaMetrics {
 public:
  ReplicaMetrics(base::Metrics& metrics, std::string_view url);

  void show(const Health& health);

  EngineMetrics engine;

 private:
  static constexpr std::size_t kStates = 4;
  std::array<base::Gauge*, kStates> threads_{};
  base::Gauge* strikes_;
};

}  // namespace verbatim::engine::pool
