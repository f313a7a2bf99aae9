#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/files.h"
#include "base/metrics.h"
#include "base/worker.h"
#include "gateway/record_mark.h"
#include "gateway/turn_runner.h"

namespace verbatim::gateway {

// Writes committed turns to DIR/<session id>.jsonl, one line each, as they are committed: a
// projection of the store for trainers. It never fails a turn: a line that can't be written is
// counted, told to `on_failure`, cut off again if half of it was, and shows as a gap of
// turn_index until the next start mends it (record_repair.h). A line stands behind its parent's;
// siblings that were committed at one time may stand in either order, and turn_index tells the
// order of commits. Shared by all threads; the files are touched on the runtime's worker.
//
// What it remembers is a few words per session that was not ended. Stateless chat never ends, so of
// its files only the `stateless_files` that were written to last are remembered; of any other the
// turn itself says what came before.
class Recorder final : public CommitListener {
 public:
  Recorder(base::Files& files, base::Worker& worker, std::string dir, std::string checkpoint,
           std::size_t stateless_files = 16384);

  // Tells it of each commit and of lines that failed. Outlives this.
  void keep(RecordMark& mark) { mark_ = &mark; }
  // Called on the worker for each line that could not be written.
  void on_failure(std::function<void(const base::Error&)> tell) { tell_ = std::move(tell); }
  // Makes the directory. kUnavailable with the reason.
  base::Status open();
  void committing(const std::string& session_id) override;
  base::Task<void> committed(base::Executor& executor, trajectory::TurnPtr turn,
                             store::SessionUse use) override;
  base::Task<void> not_committed(base::Executor& executor, std::string session_id) override;
  // A session is about to be deleted; one of the two that follow comes behind it.
  void ending(const std::string& session_id) { committing(session_id); }
  base::Task<void> not_ended(base::Executor& executor, std::string session_id) {
    return settle(executor, std::move(session_id));
  }
  // Ends the file of a session that has one: now, or behind the last of its commits under way.
  // `turns`: those it had, as far as the caller knows.
  base::Task<void> session_ended(base::Executor& executor, std::string session_id,
                                 std::string_view reason, std::uint64_t turns);

  // Counts from here on; before the first turn. `metrics` outlives this.
  void count_in(base::Metrics& metrics);
  [[nodiscard]] std::uint64_t failed_lines() const;
  // Files of which something is remembered.
  [[nodiscard]] std::size_t remembered() const;

 private:
  struct File {
    std::uint64_t turns = 0;               // those whose lines failed counted
    std::optional<std::uint64_t> written;  // the turn of the last line that is there
    std::uint64_t used = 0;                // stateless chat: its place in `stateless_`
  };
  struct End {
    std::string reason;
    std::uint64_t turns = 0;
    std::int64_t at_ms = 0;
  };
  // Changes of a session under way: the store may have taken a turn, or the session's end, whose
  // line is yet to come.
  struct UnderWay {
    std::uint64_t changes = 0;
    std::uint64_t began = 0;  // the first of them, as the mark knows it
    std::optional<End> end;
  };
  // One change less is under way.
  base::Task<void> settle(base::Executor& executor, std::string session_id);
  base::Task<void> write_end(base::Executor& executor, std::string session_id, End end);
  // What a line says of its place, and what is remembered for the next. Under the mutex.
  [[nodiscard]] bool prefix_stable(const trajectory::Turn& turn) const;
  void remember(const trajectory::Turn& turn, store::SessionUse use, bool written);
  [[nodiscard]] std::string path_of(const std::string& session_id) const;
  base::Status append(const std::string& session_id, std::string line);

  base::Files& files_;
  base::Worker& worker_;
  std::string dir_;
  std::string checkpoint_;
  mutable std::mutex mutex_;
  const std::size_t stateless_limit_;
  std::map<std::string, File> open_;
  std::map<std::uint64_t, std::string> stateless_;  // sessions by their last line
  std::uint64_t uses_ = 0;
  std::map<std::string, UnderWay> under_way_;
  std::uint64_t failed_ = 0;
  base::Counter *written_lines_ = nullptr, *failed_lines_ = nullptr;  // under the mutex
  std::function<void(const base::Error&)> tell_;
  RecordMark* mark_ = nullptr;
};

}  // namespace verbatim::gateway
