#include "store/sqlite/writer_metrics.h"

#include <array>

namespace verbatim::store::sqlite {

using base::Metric;

namespace {

using Type = Metric::Type;

constexpr unsigned kMicroseconds = 6;
constexpr std::array<std::uint64_t, 14> kTimes = {100,     250,       500,       1'000,     2'500,
                                                  5'000,   10'000,    25'000,    100'000,   250'000,
                                                  500'000, 1'000'000, 5'000'000, 30'000'000};
constexpr std::array<std::uint64_t, 9> kSizes = {1, 2, 4, 8, 16, 32, 64, 128, 256};

constexpr Metric kQueued{"verbatim_store_queue_changes",
                         "Changes that wait to be written: commits, sessions, deletions",
                         Type::kGauge};
constexpr Metric kQueuedBytes{"verbatim_store_queue_bytes", "Bytes of the changes that wait",
                              Type::kGauge};
constexpr Metric kRefused{"verbatim_store_queue_refused_total",
                          "Changes that were refused because too many waited"};
constexpr Metric kBatchWorks{"verbatim_store_batch_changes", "Changes written in one transaction",
                             Type::kHistogram, 0, kSizes};
constexpr Metric kBatchTime{"verbatim_store_batch_seconds", "Time of one transaction with its sync",
                            Type::kHistogram, kMicroseconds, kTimes};
constexpr Metric kLogPages{"verbatim_store_log_pages",
                           "Pages in the write-ahead log behind the last transaction",
                           Type::kGauge};

}  // namespace

const Metric kStoreFailingMetric{"verbatim_store_failing",
                                 "1: the last write failed, and none has succeeded since",
                                 Type::kGauge};
const Metric kStoreBatchesMetric{"verbatim_store_batches_total",
                                 "Transactions, by whether they are on disk"};

WriterMetrics::WriterMetrics(base::Metrics& metrics, const base::Clock& clock)
    : clock_(clock),
      works_(&metrics.gauge(kQueued)),
      bytes_(&metrics.gauge(kQueuedBytes)),
      failing_(&metrics.gauge(kStoreFailingMetric)),
      log_pages_(&metrics.gauge(kLogPages)),
      refused_(&metrics.counter(kRefused)),
      kept_(&metrics.counter(kStoreBatchesMetric, {{"outcome", "kept"}})),
      failed_(&metrics.counter(kStoreBatchesMetric, {{"outcome", "failed"}})),
      batch_works_(&metrics.histogram(kBatchWorks)),
      batch_time_(&metrics.histogram(kBatchTime)) {}

void WriterMetrics::queued(std::size_t works, std::size_t bytes, bool refused) {
  works_->set(static_cast<std::int64_t>(works));
  bytes_->set(static_cast<std::int64_t>(bytes));
  if (refused) refused_->add();
}

void WriterMetrics::wrote(std::size_t works, bool kept, bool failing, int log_pages) {
  (kept ? kept_ : failed_)->add();
  batch_works_->observe(works);
  batch_time_->observe(static_cast<std::uint64_t>((clock_.now() - begun_).count()));
  failing_->set(failing ? 1 : 0);
  log_pages_->set(log_pages);
}

}  // namespace verbatim::store::sqlite
