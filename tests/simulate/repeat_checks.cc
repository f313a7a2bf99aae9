#include <algorithm>
#include <cstdlib>

#include "simulate/checks.h"

// Requests that may be asked once more: whose answer comes, and how often it is sampled.
namespace verbatim::simulate {

using store::TurnPtr;

namespace {
// Answers are kept so long behind their end (gateway::ReplayLimits); less is claimed here.
constexpr std::int64_t kKeptMs = 500'000;
}  // namespace

// Its own turn always; that of another request only with the same key, or where it says that it
// repeats one with the same body.
TurnPtr Checks::told(const Asked& asked, std::uint32_t choice, const std::string& id) {
  auto& ledger = setup_.ledger;
  if (const auto own = ledger.requests[asked.request_id].turn(choice);
      own && own->completion_id == id)
    return own;
  TurnPtr other;
  for (const auto& [name, request] : ledger.requests) {
    const auto turn = request.turn(choice);
    if (turn && turn->completion_id == id) other = turn;
  }
  if (!other) return nullptr;
  const auto& source = ledger.requests[other->request_id].asked;
  const bool one = !asked.group.empty() && asked.group == source.group;
  check(one && (asked.retry == Retry::kKey || asked.repeats), "repeat",
        "an answer of its own to " + asked.request_id +
            (one ? ", which is the first of its kind" : ", which repeats none"),
        "that to " + other->request_id);
  return other;
}

void Checks::check_repeats(const store::Turn& turn) {
  auto& ledger = setup_.ledger;
  const auto& request = ledger.requests[turn.request_id];
  if (request.asked.retry != Retry::kKey || request.found || turn.choice > 0) return;
  for (const auto& id : ledger.groups[request.asked.group]) {
    const auto& other = ledger.requests[id];
    const auto sampled = other.turn();
    if (id == turn.request_id || !sampled || other.found || other.life != request.life) continue;
    if (std::abs(turn.times.committed_ms - sampled->times.committed_ms) > kKeptMs) continue;
    setup_.findings.fail("repeat", "one turn for the key of " + turn.request_id,
                         "another one of " + id);
  }
}

// All that may be one request must have gone, each with nothing committed.
std::optional<base::MonoTime> Checks::abandoned(const Ledger::Request& request) const {
  const auto gone = [](const Ledger::Request& each) {
    return each.kind == Outcome::Kind::kLeft && !each.commit_began;
  };
  if (!gone(request)) return std::nullopt;
  auto at = request.left_at;
  if (request.asked.group.empty()) return at;
  for (const auto& id : setup_.ledger.groups[request.asked.group]) {
    const auto& other = setup_.ledger.requests[id];
    if (!gone(other)) return std::nullopt;
    at = std::max(at, other.left_at);
  }
  return at;
}

}  // namespace verbatim::simulate
