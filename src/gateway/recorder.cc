#include "gateway/recorder.h"

#include "gateway/record_line.h"

namespace verbatim::gateway {

using base::Status;
using base::Task;

Recorder::Recorder(base::Runtime& runtime, std::string dir, std::string checkpoint)
    : runtime_(runtime), dir_(std::move(dir)), checkpoint_(std::move(checkpoint)) {}

Status Recorder::open() {
  return runtime_.files.make_directories(dir_);
}

Task<void> Recorder::committed(trajectory::TurnPtr turn) {
  // The place in the file is taken on the worker: lines stand in the order in which they are
  // written, whichever thread commits first.
  co_await base::run_on(runtime_.worker, runtime_.executor, [this, &turn] {
    RecordPlace place;
    place.checkpoint = checkpoint_;
    {
      std::lock_guard lock(mutex_);
      File& file = files_[turn->session_id];
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

Task<void> Recorder::session_ended(std::string session_id, std::string_view reason) {
  co_await base::run_on(runtime_.worker, runtime_.executor, [this, &session_id, reason] {
    std::uint64_t lines = 0;
    {
      std::lock_guard lock(mutex_);
      const auto it = files_.find(session_id);
      if (it == files_.end()) return true;
      lines = it->second.lines;
      files_.erase(it);
    }
    return append(session_id,
                  session_end_line(session_id, lines, reason, runtime_.clock().wall_ms()))
        .ok();
  });
}

Status Recorder::append(const std::string& session_id, std::string line) {
  auto file = runtime_.files.open_append(dir_ + "/" + session_id + ".jsonl");
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
