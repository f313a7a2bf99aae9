#include "gateway/recorder.h"

#include <algorithm>

#include "gateway/record_line.h"

namespace verbatim::gateway {

using base::Status;
using base::Task;

namespace {

constexpr base::Metric kLines{
    "verbatim_record_lines_total",
    "Lines of committed turns in record files, by whether they are there"};

}  // namespace

Recorder::Recorder(base::Files& files, base::Worker& worker, std::string dir,
                   std::string checkpoint, std::size_t stateless_files)
    : files_(files),
      worker_(worker),
      dir_(std::move(dir)),
      checkpoint_(std::move(checkpoint)),
      stateless_limit_(stateless_files) {}

Status Recorder::open() {
  return files_.make_private_directories(dir_);
}

void Recorder::committing(const std::string& session_id) {
  std::lock_guard lock(mutex_);
  UnderWay& under_way = under_way_[session_id];
  if (under_way.changes++ == 0 && mark_ != nullptr) under_way.began = mark_->begin();
}

Task<void> Recorder::not_committed(base::Executor& executor, std::string session_id) {
  return settle(executor, std::move(session_id));
}

Task<void> Recorder::settle(base::Executor& executor, std::string session_id) {
  UnderWay over;
  {
    std::lock_guard lock(mutex_);
    const auto it = under_way_.find(session_id);
    if (it == under_way_.end() || --it->second.changes > 0) co_return;
    over = std::move(it->second);
    under_way_.erase(it);
  }
  if (over.end) co_await write_end(executor, std::move(session_id), std::move(*over.end));
  if (mark_ != nullptr) mark_->end(over.began);
}

Task<void> Recorder::committed(base::Executor& executor, trajectory::TurnPtr turn,
                               store::SessionUse use) {
  // Lines stand in the order in which they are written, whichever thread commits first.
  co_await base::run_on(worker_, executor, [this, &turn, use] {
    RecordPlace place;
    place.checkpoint = checkpoint_;
    place.turn_index = turn->seq - 1;
    {
      std::lock_guard lock(mutex_);
      place.prefix_stable = prefix_stable(*turn);
    }
    const auto status = append(turn->session_id, record_line(turn, place));
    const bool written = status.ok();
    if (!written && mark_ != nullptr) mark_->failed();
    if (!written && tell_) tell_(status.error());
    std::lock_guard lock(mutex_);
    remember(*turn, use, written);
    return written;
  });
  co_await settle(executor, turn->session_id);
}

bool Recorder::prefix_stable(const trajectory::Turn& turn) const {
  const auto it = open_.find(turn.session_id);
  if (it != open_.end()) return !it->second.written || extends_row(turn, *it->second.written);
  if (turn.seq == 1) return true;
  // Forgotten. Where no line ever failed, the last one there is that of the turn committed before.
  return failed_ == 0 && turn.parent && turn.parent->seq + 1 == turn.seq && turn.parent_trim == 0;
}

void Recorder::remember(const trajectory::Turn& turn, store::SessionUse use, bool written) {
  File& file = open_[turn.session_id];
  file.turns = std::max(file.turns, turn.seq);
  if (written) file.written = turn.id;
  if (!written) ++failed_;
  if (written_lines_ != nullptr) (written ? written_lines_ : failed_lines_)->add();
  if (use != store::SessionUse::kImplicit) return;
  stateless_.erase(file.used);
  file.used = ++uses_;
  stateless_.emplace(file.used, turn.session_id);
  if (stateless_.size() <= stateless_limit_) return;
  open_.erase(stateless_.begin()->second);
  stateless_.erase(stateless_.begin());
}

Task<void> Recorder::session_ended(base::Executor& executor, std::string session_id,
                                   std::string_view reason, std::uint64_t turns) {
  {
    std::lock_guard lock(mutex_);
    under_way_.at(session_id).end = End{std::string(reason), turns, executor.clock().wall_ms()};
  }
  co_await settle(executor, std::move(session_id));
}

Task<void> Recorder::write_end(base::Executor& executor, std::string session_id, End end) {
  co_await base::run_on(worker_, executor, [this, &session_id, &end] {
    bool known = false;
    {
      std::lock_guard lock(mutex_);
      const auto it = open_.find(session_id);
      known = it != open_.end();
      if (known) {
        end.turns = std::max(end.turns, it->second.turns);
        stateless_.erase(it->second.used);
        open_.erase(it);
      }
    }
    // Written before this process, or forgotten.
    if (!known && !files_.exists(path_of(session_id))) return true;
    const auto status =
        append(session_id, session_end_line(session_id, end.turns, end.reason, end.at_ms));
    if (!status.ok() && mark_ != nullptr) mark_->failed();
    if (!status.ok() && tell_) tell_(status.error());
    return status.ok();
  });
}

std::string Recorder::path_of(const std::string& session_id) const {
  return dir_ + "/" + session_id + ".jsonl";
}

Status Recorder::append(const std::string& session_id, std::string line) {
  auto file = files_.open_append(path_of(session_id));
  if (!file) return std::move(file).error();
  line += '\n';
  const auto before = (*file)->size();
  auto status = (*file)->append(line);
  if (!status.ok()) (void)(*file)->truncate(before);
  return status;
}

void Recorder::count_in(base::Metrics& metrics) {
  std::lock_guard lock(mutex_);
  written_lines_ = &metrics.counter(kLines, {{"outcome", "written"}});
  failed_lines_ = &metrics.counter(kLines, {{"outcome", "failed"}});
}

std::uint64_t Recorder::failed_lines() const {
  std::lock_guard lock(mutex_);
  return failed_;
}

std::size_t Recorder::remembered() const {
  std::lock_guard lock(mutex_);
  return open_.size();
}

}  // namespace verbatim::gateway
