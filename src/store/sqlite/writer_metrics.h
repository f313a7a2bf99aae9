#pragma once

#include <cstddef>

#include "base/executor.h"
#include "base/metrics.h"

namespace verbatim::store::sqlite {

extern const base::Metric kStoreFailingMetric;
extern const base::Metric kStoreBatchesMetric;

// Counts what a writer writes. What stands in its queue is said under its mutex, the rest by its
// worker.
class WriterMetrics {
 public:
  WriterMetrics(base::Metrics& metrics, const base::Clock& clock);

  void queued(std::size_t works, std::size_t bytes, bool refused);
  // A batch is written from here on, until wrote().
  void begins() { begun_ = clock_.now(); }
  void wrote(std::size_t works, bool kept, bool failing, int log_pages);

 private:
  const base::Clock& clock_;
  base::MonoTime begun_;
  base::Gauge *works_, *bytes_, *failing_, *log_pages_;
  base::Counter *refused_, *kept_, *failed_;
  base::Histogram *batch_works_, *batch_time_;
};

}  // namespace verbatim::store::sqlite
