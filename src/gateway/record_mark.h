#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/files.h"
#include "base/worker.h"
#include "store/commit_log.h"

namespace verbatim::gateway {

// How far a folder of record files is: a point in the store's order of commits, up to which each
// turn, and each session that has ended, has its line on disk. So a start looks only at what was
// committed behind it, and at nothing where the gateway was ended in good order.
//
// Kept in DIR/<id of the store>.mark, a line per point, of which the last whole one holds. It moves
// on behind each `lines` commits, and at the end. A commit that began before the point was asked
// for may be in front of it and without its line yet: the point is noted once all of these have
// ended. Where a line could not be written it stays where it is, so the next start finds the gap.
//
// Life: as the recorder. `worker`, on which the log is read and the disk waited for, is not the one
// that writes lines, and ends before this. begin() to failed(): any thread.
class RecordMark {
 public:
  // To see that lines are on disk waits for all that is written to their file system, neighbours'
  // files too, and holds up the store's own syncs meanwhile: so it is done seldom. A start compares
  // so many commits in seconds.
  static constexpr std::uint64_t kLines = 65536;
  RecordMark(base::Files& files, base::Worker& worker, store::CommitLog& log,
             const std::string& dir, std::uint64_t lines = kLines);

  // Where the files were known to be whole; number 0: nothing is known. At start, blocking.
  base::Result<store::CommitPoint> read();
  // All in front of `point` has its line: sees that it is on disk, and notes it. Blocking.
  base::Status write(const store::CommitPoint& point);

  // A commit, or a deletion, begins; what is returned is handed to end() behind its line.
  std::uint64_t begin();
  void end(std::uint64_t began);
  void failed();
  // Nothing is under way any more, and nothing will be: notes the end.
  void close();

 private:
  struct Pending {
    store::CommitPoint point;
    std::uint64_t era = 0;  // noted once no commit of an earlier one is under way
  };
  // Under the mutex.
  [[nodiscard]] bool due() const;
  void ask();
  void note();

  base::Files& files_;
  base::Worker& worker_;
  store::CommitLog& log_;
  const std::string dir_;
  const std::string path_;
  const std::uint64_t lines_;
  std::mutex mutex_;
  std::uint64_t era_ = 0;                        // rises when a point is asked for
  std::map<std::uint64_t, std::uint64_t> open_;  // commits under way, by the era they began in
  std::uint64_t ended_ = 0;                      // since a point was asked for
  bool busy_ = false;                            // from asking for a point to its note
  bool failed_ = false;
  std::optional<Pending> pending_;
};

}  // namespace verbatim::gateway
