#pragma once

#include <array>

#include "base/metrics.h"

namespace verbatim::net {

extern const base::Metric kHttpAnswersMetric;
extern const base::Metric kHttpConnectionsMetric;

// Counts what a server answers. One per server.
class ServerMetrics {
 public:
  explicit ServerMetrics(base::Metrics& metrics);

  void connected() { connections_->add(1); }
  void disconnected() { connections_->add(-1); }
  // 0: the client was gone before there was an answer.
  void answered(int status);

 private:
  static constexpr std::size_t kStatuses = 24;
  base::Gauge* connections_;
  std::array<base::Counter*, kStatuses> answers_{};
};

}  // namespace verbatim::net
