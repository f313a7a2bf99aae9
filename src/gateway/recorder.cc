#include "gateway/recorder.h"

#include "gateway/record_line.h"

namespace verbatim::gateway {

using base::Status;
using base::Task;

Recorder::Recorder(base::Files& files, base::Worker& worker, std::string dir,
                   std::string checkpoint)
    : files_(files), worker_(worker), dir_(std::move(dir)), checkpoint_(std::move(checkpoint)) {}

Status Recorder::open() {
  return files_.make_directories(dir_);
}

Task<void> Recorder::committed(base::Executor& executor, trajectory::TurnPtr turn) {
  // The place in the file is taken on the worker: lines stand in the order in which they are
  // written, whichever thread commits first.
  co_await base::run_on(worker_, executor, [this, &turn] {
    RecordPlace place;
    place.checkpoint = checkpoint_;
    {
      std::lock_guard lock(mutex_);
      File& file = open_[turn->session_id];
      const bool extends =
          turn->parent && turn->parent->id == file.last_turn && turn->parent_trim == 0;
      place.prefix_stable = file.lines == 0 || extends;
      place.turn_index = file.lines++;
      file.last_turn = turn->id;
    }
    auto status = append(turn->session_id, record_line(turn, place));
    if (!status.ok()) {
      std::lock_guard lock(mutex_);
      ++failed_;
    }
    return status.ok();
  });
}

Task<void> Recorder::session_ended(base::Executor& executor, std::string session_id,
                                   std::string_view reason) {
  const auto now_ms = executor.clock().wall_ms();
  co_await base::run_on(worker_, executor, [this, &session_id, reason, now_ms] {
    std::uint64_t lines = 0;
    {
      std::lock_guard lock(mutex_);
      const auto it = open_.find(session_id);
      if (it == open_.end()) return true;
      lines = it->second.lines;
      open_.erase(it);
    }
    return append(session_id, session_end_line(session_id, lines, reason, now_ms)).ok();
  });
}

Status Recorder::append(const std::string& session_id, std::string line) {
  auto file = files_.open_append(dir_ + "/" + session_id + ".jsonl");
  if (!file) return std::move(file).error();
  line += '\n';
  const auto before = (*file)->size();
  auto status = (*file)->append(line);
  if (!status.ok()) (void)(*file)->truncate(before);
  return status;
}

std::uint64_t Recorder::failed_lines() const {
  std::lock_guard lock(mutex_);
  return failed_;
}

}  // namespace verbatim::gateway
