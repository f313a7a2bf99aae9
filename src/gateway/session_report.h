#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "json/writer.h"
#include "trajectory/turn.h"

namespace verbatim::gateway {

// How the requests of a session found their places: each is counted as one of attached, branched,
// restarted or started. Pure; made anew from the turns each time.
struct SessionReport {
  std::uint64_t attached = 0;   // went on behind a turn that nothing went on behind before
  std::uint64_t branched = 0;   // went on behind a turn that has another child
  std::uint64_t restarted = 0;  // roots whose history holds answers, none of them as recorded
  std::uint64_t started = 0;    // roots whose history holds no answer, and the first turn
  std::uint64_t choices = 0;    // turns beside the first of a request with `n` > 1
  std::uint64_t ambiguous = 0;  // those for which several turns fitted equally well
  std::map<std::string, std::uint64_t> reasons;  // as Attach::reason has them
  // Fields in which requests first differed from the turn committed last, without their numbers:
  // "tool_calls[].function.arguments".
  std::map<std::string, std::uint64_t> differences;
  bool operator==(const SessionReport&) const = default;
};

SessionReport report_of(const std::vector<trajectory::TurnPtr>& turns);

// As one object.
void write_report(json::Writer& w, const SessionReport& report);

}  // namespace verbatim::gateway
