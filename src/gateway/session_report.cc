#include "gateway/session_report.h"

#include <string_view>

namespace verbatim::gateway {
namespace {

using trajectory::Attach;
using trajectory::Turn;

std::string without_numbers(std::string_view field) {
  std::string name;
  bool inside = false;
  for (const char c : field) {
    if (c == ']') inside = false;
    if (!inside) name += c;
    if (c == '[') inside = true;
  }
  return name;
}

std::uint64_t& place_of(SessionReport& report, const Turn& turn) {
  if (turn.attach.kind == Attach::Kind::kRoot)
    return turn.attach.reason == "first" ? report.started : report.restarted;
  return turn.branch == turn.parent->branch ? report.attached : report.branched;
}

void write_counts(json::Writer& w, std::string_view name,
                  const std::map<std::string, std::uint64_t>& counts) {
  w.key(name).begin_object();
  for (const auto& [word, count] : counts) w.field(word, count);
  w.end_object();
}

}  // namespace

SessionReport report_of(const std::vector<trajectory::TurnPtr>& turns) {
  SessionReport report;
  for (const auto& turn : turns) {
    if (turn->choice > 0) {
      ++report.choices;
      continue;
    }
    ++place_of(report, *turn);
    ++report.reasons[turn->attach.reason];
    if (turn->attach.ambiguous) ++report.ambiguous;
    if (turn->attach.difference)
      ++report.differences[without_numbers(turn->attach.difference->field)];
  }
  return report;
}

void write_report(json::Writer& w, const SessionReport& report) {
  w.begin_object()
      .field("attached", report.attached)
      .field("branched", report.branched)
      .field("restarted", report.restarted)
      .field("started", report.started)
      .field("choices", report.choices)
      .field("ambiguous", report.ambiguous);
  write_counts(w, "reasons", report.reasons);
  write_counts(w, "first_differences", report.differences);
  w.end_object();
}

}  // namespace verbatim::gateway
