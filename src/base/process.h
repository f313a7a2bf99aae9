#pragma once

#include <mutex>

#include "base/files.h"
#include "base/metrics.h"

namespace verbatim::base {

// What the system knows of this process, under the names that Prometheus' clients share:
// process_cpu_seconds_total, process_resident_memory_bytes ... Read from /proc; where that is not
// there, the metrics are not.
class ProcessMetrics {
 public:
  ProcessMetrics(Metrics& metrics, Files& files);

  // Reads anew. Thread-safe. Memory is all that it waits for.
  void refresh();

 private:
  Files& files_;
  std::mutex cpu_mutex_;
  Counter* cpu_ = nullptr;
  Gauge *resident_ = nullptr, *virtual_ = nullptr, *descriptors_ = nullptr, *threads_ = nullptr;
};

}  // namespace verbatim::base
