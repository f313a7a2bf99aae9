#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/worker.h"
#include "store/sqlite/tables.h"
#include "store/sqlite/writer_metrics.h"

namespace verbatim::store::sqlite {

// One change on its way to disk. Lives in the coroutine that waits for it.
class Work {
 public:
  virtual ~Work() = default;
  // Within the transaction. A failure is the disk's, and that of the whole batch.
  virtual base::Status apply(Tables& tables) = 0;
  // The last that is heard of it: the batch is on disk, or it is not and changed nothing. May be
  // gone when this returns.
  virtual void settle(const base::Status& batch) = 0;
  // Does it make room on the disk? Then it is tried again, alone, where the disk is full: it may be
  // applied twice.
  [[nodiscard]] virtual bool frees() const { return false; }
  // For limits.
  [[nodiscard]] virtual std::size_t bytes() const { return 0; }
  // The turns it commits, by what a request names them with.
  struct Name {
    std::uint64_t id = 0;
    trajectory::Digest digest;
  };
  [[nodiscard]] virtual std::span<const Name> names() const { return {}; }
};

struct WriterOptions {
  std::size_t batch_works = 256;
  std::size_t batch_bytes = std::size_t{4} << 20;
  // What waits beyond it is refused with kUnavailable.
  std::size_t queue_works = 8192;
  std::size_t queue_bytes = std::size_t{256} << 20;
  // Pages of the write-ahead log: from the first on it is copied back behind each batch; at the
  // second no batch begins before that was tried, so that it can be used from its start again.
  int checkpoint_pages = 1000;
  int hold_pages = 16000;
};

struct WriterStats {
  std::uint64_t batches = 0;
  std::uint64_t works = 0;
  std::uint64_t largest_batch = 0;
  std::uint64_t failed_batches = 0;
  std::uint64_t probes = 0;
};

// Writes what is queued, as much as there is, in one transaction (group commit without a timer: a
// batch grows while the one before is synced). All jobs run on `worker`; add() is thread-safe.
//
// Behind a failed batch the disk is not trusted before a small write of its own has succeeded: it
// is tried at once, so that it takes the place of what the failed batch may have left in the log,
// and then before each batch. Where there was no room, there has to be some for such a batch, too.
class Writer {
 public:
  // Copies the log back and calls the function it is given, on another thread.
  using Checkpoint = std::function<void(std::function<void()> done)>;
  // Is what is written where it will be found again? Asked before each transaction.
  using InPlace = std::function<base::Status()>;
  // Gives up room that is kept for what frees some. False: there is none any more.
  using GiveRoom = std::function<bool()>;
  // Is there so much room on the disk? Takes none of it.
  using HasRoom = std::function<bool(std::uint64_t bytes)>;
  struct Outside {
    Checkpoint checkpoint;
    InPlace in_place;
    GiveRoom give_room;
    HasRoom has_room;
  };

  Writer(base::Worker& worker, Connection& connection, Tables tables, WriterOptions options,
         Outside outside);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void add(Work& work);
  // The last batch failed, and no write has succeeded since.
  [[nodiscard]] bool broken() const { return broken_; }
  // Is a turn with one of these digests, or ids, on its way to disk?
  [[nodiscard]] bool under_way(std::span<const trajectory::Digest> digests) const;
  [[nodiscard]] bool under_way(std::span<const std::uint64_t> ids) const;
  [[nodiscard]] WriterStats stats() const;
  // Counts from here on; before the first add(). Both outlive this.
  void count_in(base::Metrics& metrics, const base::Clock& clock) {
    metrics_.emplace(metrics, clock);
  }
  // No checkpoint is begun from here on.
  void close();

 private:
  void drain();
  std::vector<Work*> take();
  base::Status write(const std::vector<Work*>& batch);
  base::Status probe();
  base::Status refused(const base::Error& error);
  [[nodiscard]] std::size_t on_disk(const std::vector<Work*>& batch) const;
  [[nodiscard]] bool lacks_room() const;
  base::Status no_room();
  // Of a batch that failed: what frees room is done alone, if at all, and taken out of it.
  void free_room(std::vector<Work*>& batch);
  base::Status transact(const std::function<base::Status()>& change);
  void finish(const std::vector<Work*>& batch, const base::Status& status);
  // True: the batch has to wait for a checkpoint, whose end calls drain().
  bool hold();
  void checkpoint();

  base::Worker& worker_;
  Connection& connection_;
  Tables tables_;
  const WriterOptions options_;
  const Outside outside_;
  std::atomic<bool> broken_ = false;
  bool full_ = false;            // the last transaction failed for want of room; worker's thread
  std::size_t probe_bytes_ = 0;  // of the batch that failed last; worker's thread
  bool touched_ = true;          // a probe's small write has succeeded since; worker's thread
  int log_pages_ = 0;            // worker's thread
  bool held_ = false;            // worker's thread
  mutable std::mutex mutex_;
  bool closed_ = false;
  bool scheduled_ = false;  // a drain() will run
  bool checkpointing_ = false;
  bool waits_for_checkpoint_ = false;
  std::deque<Work*> queue_;
  std::size_t queued_bytes_ = 0;
  std::multiset<trajectory::Digest> digests_under_way_;
  std::multiset<std::uint64_t> ids_under_way_;
  WriterStats stats_;
  std::optional<WriterMetrics> metrics_;
};

}  // namespace verbatim::store::sqlite
