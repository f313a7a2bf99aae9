#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/pool/engine.h"
#include "engine/pool/replica_metrics.h"

// One engine of a pool and what is known of it. For the sources of this directory.
namespace verbatim::engine::pool {

struct Pool::Replica {
  Replica(std::size_t place, Member member, const Options& options, base::Random& random)
      : number(place),
        url(std::move(member.url)),
        engine(std::move(member.engine)),
        health(options.health, random) {
    if (options.metrics != nullptr) metrics.emplace(*options.metrics, url);
    show();
  }
  void show() {
    if (metrics) metrics->show(health);
  }

  const std::size_t number;
  const std::string url;
  const std::unique_ptr<Engine> engine;
  Health health;
  std::optional<ReplicaMetrics> metrics;
  std::string weight_version;
  std::size_t running = 0;
  bool draining = false;
  bool checking = false;
  base::Timer next_check;
};

// A replica's answer to the question what it serves.
struct Pool::Asked {
  Replica* replica;
  base::Result<Probe> answer;
};

}  // namespace verbatim::engine::pool
