#include "store/sqlite/writer.h"

#include <algorithm>

#include <sqlite3.h>

namespace verbatim::store::sqlite {

using base::Status;

namespace {

// Of a batch on disk, beside its bytes.
constexpr std::size_t kOverhead = std::size_t{128} << 10;

int note_pages(void* pages, sqlite3* /*handle*/, const char* /*name*/, int in_log) {
  *static_cast<int*>(pages) = in_log;
  return SQLITE_OK;
}

}  // namespace

Writer::Writer(base::Worker& worker, Connection& connection, Tables tables, WriterOptions options,
               Outside outside)
    : worker_(worker),
      connection_(connection),
      tables_(std::move(tables)),
      options_(options),
      outside_(std::move(outside)) {
  // In place of SQLite's own checkpoints, which would run within commits.
  sqlite3_wal_hook(connection_.handle(), note_pages, &log_pages_);
}

void Writer::add(Work& work) {
  bool full = false;
  bool schedule = false;
  {
    std::lock_guard lock(mutex_);
    full = queue_.size() >= options_.queue_works || queued_bytes_ >= options_.queue_bytes;
    if (!full) {
      queue_.push_back(&work);
      queued_bytes_ += work.bytes();
      for (const auto& name : work.names()) {
        digests_under_way_.insert(name.digest);
        ids_under_way_.insert(name.id);
      }
      schedule = !std::exchange(scheduled_, true);
    }
    if (metrics_) metrics_->queued(queue_.size(), queued_bytes_, full);
  }
  if (full) {
    work.settle(base::error(base::ErrorKind::kUnavailable,
                            "the store's queue is full (" + std::to_string(options_.queue_works) +
                                " changes, or " + std::to_string(options_.queue_bytes >> 20) +
                                " MB): its disk is slower than what comes in; try again"));
  } else if (schedule) {
    worker_.run([this] { drain(); });
  }
}

bool Writer::under_way(std::span<const trajectory::Digest> digests) const {
  std::lock_guard lock(mutex_);
  return std::any_of(digests.begin(), digests.end(),
                     [this](const auto& digest) { return digests_under_way_.contains(digest); });
}

bool Writer::under_way(std::span<const std::uint64_t> ids) const {
  std::lock_guard lock(mutex_);
  return std::any_of(ids.begin(), ids.end(),
                     [this](const auto id) { return ids_under_way_.contains(id); });
}

WriterStats Writer::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void Writer::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
}

void Writer::drain() {
  if (hold()) return;
  auto batch = take();
  if (batch.empty()) return;
  if (metrics_) metrics_->begins();
  // What is to be written now is waited for with it.
  if (probe_bytes_ != 0) probe_bytes_ = std::max(probe_bytes_, on_disk(batch));
  auto status = broken_ ? probe() : Status();
  bool full = full_;
  if (status.ok()) {
    status = write(batch);
    full = full_;
    broken_ = !status.ok();
    if (broken_ && probe().ok()) broken_ = false;
  }
  const std::size_t works = batch.size();
  if (!status.ok() && full) free_room(batch);
  if (metrics_) metrics_->wrote(works, status.ok(), broken_, log_pages_);
  if (!batch.empty()) finish(batch, status);
  if (log_pages_ >= options_.checkpoint_pages) checkpoint();
  worker_.run([this] { drain(); });
}

void Writer::free_room(std::vector<Work*>& batch) {
  const auto others =
      std::stable_partition(batch.begin(), batch.end(), [](auto* work) { return work->frees(); });
  const std::vector<Work*> frees(batch.begin(), others);
  if (frees.empty()) return;
  auto status = write(frees);
  if (!status.ok() && full_ && outside_.give_room()) status = write(frees);
  if (!status.ok()) return;
  batch.erase(batch.begin(), others);
  finish(frees, status);
  // Copied back, the log is used from its start again, and what is written next needs no room.
  checkpoint();
  probe_bytes_ = 0;
  broken_ = !probe().ok();
}

std::vector<Work*> Writer::take() {
  std::vector<Work*> batch;
  std::size_t bytes = 0;
  std::lock_guard lock(mutex_);
  while (!queue_.empty() && batch.size() < options_.batch_works) {
    const auto more = queue_.front()->bytes();
    if (!batch.empty() && bytes + more > options_.batch_bytes) break;
    bytes += more;
    batch.push_back(queue_.front());
    queue_.pop_front();
  }
  queued_bytes_ -= bytes;
  scheduled_ = !batch.empty();
  if (metrics_) metrics_->queued(queue_.size(), queued_bytes_, false);
  return batch;
}

Status Writer::write(const std::vector<Work*>& batch) {
  auto status = transact([&]() -> Status {
    for (auto* work : batch) {
      if (auto applied = work->apply(tables_); !applied.ok()) return applied;
    }
    return {};
  });
  if (status.ok()) return status;
  touched_ = false;
  probe_bytes_ = full_ ? on_disk(batch) : 0;
  return status;
}

// With its rows, what is rounded up to pages, and the log's own bytes.
std::size_t Writer::on_disk(const std::vector<Work*>& batch) const {
  std::size_t bytes = 0;
  for (const auto* work : batch) bytes += work->bytes();
  return bytes == 0 ? 0 : std::min(bytes, options_.batch_bytes) * 5 / 4 + kOverhead;
}

Status Writer::probe() {
  {
    std::lock_guard lock(mutex_);
    ++stats_.probes;
  }
  // Once a small write has succeeded, another one would take of the room that is waited for.
  const bool first = !std::exchange(touched_, true);
  if (!first && lacks_room()) return no_room();
  auto status = transact([&] { return tables_.touch(); });
  touched_ = status.ok();
  return status.ok() && first && lacks_room() ? no_room() : status;
}

bool Writer::lacks_room() const {
  return probe_bytes_ != 0 && !outside_.has_room(probe_bytes_);
}

Status Writer::no_room() {
  auto status = refused(base::error(base::ErrorKind::kUnavailable,
                                    "there is no room for what was to be written last"));
  full_ = true;
  return status;
}

Status Writer::refused(const base::Error& error) {
  full_ = disk_full(error);
  return base::error(base::ErrorKind::kUnavailable,
                     "the store can't write (" + error.message +
                         "); nothing has changed, and it is tried again with the next request");
}

Status Writer::transact(const std::function<Status()>& change) {
  full_ = false;
  auto status = outside_.in_place();
  if (status.ok()) status = connection_.run("BEGIN IMMEDIATE");
  if (status.ok()) status = change();
  if (status.ok()) status = connection_.run("COMMIT");
  if (status.ok()) {
    tables_.committed();
    return status;
  }
  // SQLite has given up the transaction by itself behind some errors, not behind others.
  if (connection_.in_transaction()) (void)connection_.run("ROLLBACK");
  tables_.given_up();
  return refused(status.error());
}

void Writer::finish(const std::vector<Work*>& batch, const Status& status) {
  {
    std::lock_guard lock(mutex_);
    ++stats_.batches;
    stats_.works += batch.size();
    stats_.largest_batch = std::max<std::uint64_t>(stats_.largest_batch, batch.size());
    if (!status.ok()) ++stats_.failed_batches;
    for (const auto* work : batch) {
      for (const auto& name : work->names()) {
        digests_under_way_.erase(digests_under_way_.find(name.digest));
        ids_under_way_.erase(ids_under_way_.find(name.id));
      }
    }
  }
  for (auto* work : batch) work->settle(status);
}

bool Writer::hold() {
  if (std::exchange(held_, false) || log_pages_ < options_.hold_pages) return false;
  checkpoint();
  std::lock_guard lock(mutex_);
  // One that began while batches were written leaves their pages; then the batch after the next is
  // held again, and its checkpoint leaves none.
  held_ = waits_for_checkpoint_ = checkpointing_;
  return held_;
}

void Writer::checkpoint() {
  std::lock_guard lock(mutex_);
  if (closed_ || checkpointing_) return;
  checkpointing_ = true;
  outside_.checkpoint([this] {
    bool waits = false;
    {
      std::lock_guard done(mutex_);
      checkpointing_ = false;
      waits = std::exchange(waits_for_checkpoint_, false);
    }
    if (waits) worker_.run([this] { drain(); });
  });
}

}  // namespace verbatim::store::sqlite
