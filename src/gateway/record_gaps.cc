#include "gateway/record_gaps.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace verbatim::gateway {
namespace {

using Places = std::vector<store::CommitLog::Place>;

constexpr std::string_view kTurnLine = R"({"schema_version":"tito.record.v1",)";
constexpr std::string_view kEndLine = R"({"schema_version":"tito.session.v1",)";
// In text of clients quotes are escaped, so this is the member.
constexpr std::string_view kId = R"(,"turn":")";

struct Line {
  enum class Kind { kTurn, kOther, kBroken };
  std::uint64_t begin = 0;
  Kind kind = Kind::kBroken;
  std::uint64_t turn = 0;
};

Line read_line(std::string_view text, std::uint64_t begin) {
  Line line{begin, Line::Kind::kBroken, 0};
  if (!text.ends_with('}')) return line;
  if (text.starts_with(kEndLine)) line.kind = Line::Kind::kOther;
  if (!text.starts_with(kTurnLine)) return line;
  const auto at = text.find(kId);
  if (at == std::string_view::npos) return line;
  const char* first = text.data() + at + kId.size();
  const auto [end, failed] = std::from_chars(first, text.data() + text.size(), line.turn);
  if (failed == std::errc() && *end == '"') line.kind = Line::Kind::kTurn;
  return line;
}

class Comparison {
 public:
  Comparison(std::string_view text, const store::CommitLog::Changed& session)
      : text_(text), session_(session), there_(session.turns.size(), false) {
    for (std::size_t i = 0; i < session.turns.size(); ++i) by_id_[session.turns[i].id] = i;
  }

  RecordGaps run() {
    RecordGaps gaps;
    const auto end = text_.rfind('\n');
    gaps.keep = end == std::string_view::npos ? 0 : end + 1;
    if (read_back(gaps.keep)) return gaps;
    std::reverse(lines_.begin(), lines_.end());
    const std::size_t first = first_out_of_place();
    if (first < lines_.size()) drop_from(first, gaps);
    keep(gaps);
    return gaps;
  }

 private:
  // True: all new turns are there, and nothing that is no line.
  bool read_back(std::uint64_t end) {
    std::uint64_t wanted = session_.turns.size() - (session_.first_new - 1);
    bool broken = false;
    while (end > 0 && (wanted > 0 || broken)) {
      const auto before = end < 2 ? std::string_view::npos : text_.rfind('\n', end - 2);
      const std::uint64_t begin = before == std::string_view::npos ? 0 : before + 1;
      lines_.push_back(read_line(text_.substr(begin, end - 1 - begin), begin));
      const Line& line = lines_.back();
      broken = broken || line.kind == Line::Kind::kBroken;
      const auto known = known_turn(line);
      if (known && !there_[*known]) {
        there_[*known] = true;
        if (*known + 1 >= session_.first_new) --wanted;
      }
      end = begin;
    }
    return wanted == 0 && !broken;
  }

  [[nodiscard]] std::optional<std::size_t> known_turn(const Line& line) const {
    if (line.kind != Line::Kind::kTurn) return std::nullopt;
    const auto it = by_id_.find(line.turn);
    if (it == by_id_.end()) return std::nullopt;
    return it->second;
  }

  // The first that is no line, or stands in front of its parent's.
  std::size_t first_out_of_place() {
    std::fill(there_.begin(), there_.end(), false);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].kind == Line::Kind::kBroken) return i;
      const auto turn = known_turn(lines_[i]);
      if (!turn) continue;
      const auto parent = session_.turns[*turn].parent;
      if (parent != 0 && !there_[parent - 1]) return i;
      there_[*turn] = true;
    }
    return lines_.size();
  }

  // What is behind it is written anew, unless the store could not.
  void drop_from(std::size_t first, RecordGaps& gaps) {
    const bool ours = std::all_of(
        lines_.begin() + static_cast<std::ptrdiff_t>(first), lines_.end(),
        [this](const Line& line) { return line.kind == Line::Kind::kBroken || known_turn(line); });
    gaps.unordered = !ours;
    if (!ours) return;
    gaps.keep = lines_[first].begin;
    lines_.resize(first);
  }

  void keep(RecordGaps& gaps) {
    std::fill(there_.begin(), there_.end(), false);
    for (const Line& line : lines_) {
      if (line.kind == Line::Kind::kOther) gaps.last.reset();
      const auto turn = known_turn(line);
      if (!turn) continue;
      there_[*turn] = true;
      gaps.last = line.turn;
    }
    for (std::size_t i = 0; i < there_.size(); ++i) {
      if (!there_[i]) gaps.missing.push_back(i + 1);
    }
  }

  const std::string_view text_;
  const store::CommitLog::Changed& session_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
  std::vector<bool> there_;  // by seq, from 1
  std::vector<Line> lines_;
};

}  // namespace

std::optional<std::uint64_t> find_missing_end(std::string_view text,
                                              const std::unordered_set<std::uint64_t>& again) {
  bool open = false;
  std::uint64_t at = 0;
  for (;;) {
    const auto end = text.find('\n', at);
    if (end == std::string_view::npos) {
      // Half a line is one that it ends, too: nobody knows more of it.
      open = open || at < text.size();
      break;
    }
    const Line line = read_line(text.substr(at, end - at), at);
    if (line.kind == Line::Kind::kTurn && again.contains(line.turn)) break;
    if (line.kind != Line::Kind::kBroken) open = line.kind == Line::Kind::kTurn;
    at = end + 1;
  }
  return open ? std::optional(at) : std::nullopt;
}

RecordGaps find_gaps(std::string_view text, const store::CommitLog::Changed& session) {
  return Comparison(text, session).run();
}

}  // namespace verbatim::gateway
