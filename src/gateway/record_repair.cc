#include "gateway/record_repair.h"

#include <map>
#include <optional>
#include <unordered_set>

#include "gateway/record_gaps.h"
#include "gateway/record_line.h"

namespace verbatim::gateway {

using base::ErrorKind;
using base::Result;
using base::Status;
using store::CommitLog;

namespace {

constexpr std::uint64_t kTellEach = 1000;
constexpr std::string_view kSuffix = ".jsonl";

class Repair {
 public:
  Repair(const RecordFolder& folder, CommitLog& log, const RepairProgress& progress)
      : folder_(folder), log_(log), progress_(progress) {}

  // Sessions that ended behind `number`.
  Status ended_behind(std::uint64_t number) {
    // Of several that had one name, one after the other, all but the last were followed by lines.
    std::map<std::string, CommitLog::Ended> last;
    auto status = log_.each_ended(number, [&last](const CommitLog::Ended& ended) {
      last[ended.session] = ended;
      return Status();
    });
    for (auto it = last.begin(); it != last.end() && status.ok(); ++it) status = end(it->second);
    return status;
  }

  // Sessions with turns behind `number`.
  Status changed_behind(std::uint64_t number) {
    return log_.each_changed(number, [this](const CommitLog::Changed& session) {
      auto status = compare(session);
      if (++done_.compared % kTellEach == 0 && progress_) progress_(done_);
      return status;
    });
  }

  Status count_foreign() {
    const auto names = folder_.files.list(folder_.dir);
    if (!names) return names.error();
    for (const auto& name : *names) {
      if (!name.ends_with(kSuffix)) continue;
      const auto known = log_.has_session(name.substr(0, name.size() - kSuffix.size()));
      if (!known) return known.error();
      if (!*known) ++done_.foreign;
    }
    return {};
  }

  [[nodiscard]] const RecordRepair& done() const { return done_; }

 private:
  [[nodiscard]] std::string path_of(const std::string& session) const {
    return folder_.dir + "/" + session + std::string(kSuffix);
  }

  // What a session that has its name since has behind the end is written anew with what it lacks.
  Status end(const CommitLog::Ended& ended) {
    const std::string path = path_of(ended.session);
    if (!folder_.files.exists(path)) return {};
    std::unordered_set<std::uint64_t> again;
    const auto turns = log_.turns(ended.session);
    if (!turns && turns.error().kind == ErrorKind::kUnavailable) return turns.error();
    if (turns) {
      for (const auto& turn : *turns) again.insert(turn->id);
    }
    std::optional<std::uint64_t> at;
    {
      const auto mapped = folder_.files.map(path);
      if (!mapped) return mapped.error();
      const auto bytes = (*mapped)->bytes();
      at = find_missing_end({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, again);
    }
    if (!at) return {};
    auto file = folder_.files.open_append(path);
    if (!file) return std::move(file).error();
    if ((*file)->size() > *at) {
      if (auto status = (*file)->truncate(*at); !status.ok()) return status;
    }
    const std::string_view why =
        ended.why == CommitLog::Ended::Why::kDeleted ? kEndDeleted : kEndExpired;
    auto status =
        (*file)->append(session_end_line(ended.session, ended.turns, why, ended.at_ms) + "\n");
    if (!status.ok()) (void)(*file)->truncate(*at);
    if (status.ok()) ++done_.ends;
    return status;
  }

  Status compare(const CommitLog::Changed& session) {
    const std::string path = path_of(session.session);
    RecordGaps gaps;
    std::uint64_t size = 0;
    const bool there = folder_.files.exists(path);
    if (there) {
      const auto mapped = folder_.files.map(path);
      if (!mapped) return mapped.error();
      const auto bytes = (*mapped)->bytes();
      size = bytes.size();
      gaps = find_gaps({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, session);
    } else {
      gaps = find_gaps({}, session);
    }
    if (gaps.keep == size && gaps.missing.empty()) return {};
    if (!there) ++done_.files;
    if (gaps.keep != size) ++done_.cut;
    if (gaps.unordered) ++done_.unordered;
    return mend(session, path, gaps);
  }

  Status mend(const CommitLog::Changed& session, const std::string& path, const RecordGaps& gaps) {
    std::vector<trajectory::TurnPtr> turns;
    if (!gaps.missing.empty()) {
      auto read = log_.turns(session.session);
      if (!read && read.error().kind == ErrorKind::kUnavailable) return std::move(read).error();
      if (!read) {
        // What is on disk stays as it is: `verbatim store check` says more.
        ++done_.damaged;
        return {};
      }
      turns = std::move(*read);
    }
    auto file = folder_.files.open_append(path);
    if (!file) return std::move(file).error();
    if ((*file)->size() > gaps.keep) {
      if (auto status = (*file)->truncate(gaps.keep); !status.ok()) return status;
    }
    auto last = gaps.last;
    for (const auto seq : gaps.missing) {
      const auto& turn = turns.at(seq - 1);
      if (auto status = append(**file, turn, last); !status.ok()) return status;
      last = turn->id;
    }
    return {};
  }

  Status append(base::AppendFile& file, const trajectory::TurnPtr& turn,
                std::optional<std::uint64_t> last) {
    RecordPlace place;
    place.checkpoint = folder_.checkpoint;
    place.turn_index = turn->seq - 1;
    place.prefix_stable = !last || extends_row(*turn, *last);
    const auto before = file.size();
    auto status = file.append(record_line(turn, place) + "\n");
    if (!status.ok()) (void)file.truncate(before);
    if (status.ok()) ++done_.lines;
    return status;
  }

  const RecordFolder& folder_;
  CommitLog& log_;
  const RepairProgress& progress_;
  RecordRepair done_;
};

}  // namespace

Result<RecordRepair> repair_records(const RecordFolder& folder, CommitLog& log, RecordMark& mark,
                                    const RepairProgress& progress) {
  auto from = mark.read();
  if (!from) return std::move(from).error();
  const auto newest = log.newest();
  if (!newest) return newest.error();
  if (*from == *newest) return RecordRepair();
  const auto follows = log.follows(*from);
  if (!follows) return follows.error();
  Repair repair(folder, log, progress);
  const std::uint64_t number = *follows ? from->number : 0;
  const std::uint64_t ended = *follows ? from->ended : 0;
  if (auto status = repair.ended_behind(ended); !status.ok()) return std::move(status).error();
  if (auto status = repair.changed_behind(number); !status.ok()) return std::move(status).error();
  if (number == 0) {
    if (auto status = repair.count_foreign(); !status.ok()) return std::move(status).error();
  }
  if (auto status = mark.write(*newest); !status.ok()) return std::move(status).error();
  return repair.done();
}

}  // namespace verbatim::gateway
