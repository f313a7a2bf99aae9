#include "simulate/checks.h"

#include <algorithm>

#include "gateway/turn_endpoint.h"
#include "simulate/plumbing.h"
#include "store/testing/full_turn.h"

namespace verbatim::simulate {

namespace {
// The dump of a big store takes long; then only some moments are compared.
constexpr std::size_t kSmallStore = 40;
constexpr std::uint64_t kOneIn = 64;
}  // namespace

std::string_view name(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::kAnswered:
      return "answered";
    case Outcome::Kind::kRefused:
      return "refused";
    case Outcome::Kind::kFailed:
      return "failed in the stream";
    case Outcome::Kind::kBroken:
      return "connection broken";
    case Outcome::Kind::kLeft:
      break;
  }
  return "left";
}

Checks::Checks(const Setup& setup) : setup_(setup), random_(setup.seed) {}

void Checks::step(const std::string& what) {
  ++steps_;
  setup_.findings.step();
  if (!setup_.findings.tracing()) return;
  setup_.findings.trace(std::to_string(steps_) + " at " +
                        std::to_string(setup_.clock.now().us / 1000) + " ms: " + what);
}

Checks::Look Checks::look() {
  Look look{setup_.ledger.changes, !down() && setup_.ledger.under_way == 0, {}};
  if (!look.still) return look;
  if (by_turn_.size() < kSmallStore || random_.below(kOneIn) == 0) look.dump = setup_.store.dump();
  return look;
}

void Checks::unchanged(std::string_view invariant, const std::string& what, const Look& before) {
  if (!before.dump || !still(before)) return;
  ++setup_.ledger.counts["check: store compared"];
  check(setup_.store.dump() == *before.dump, invariant, what + " leaves the store as it was",
        "another dump");
}

void Checks::begins(const Asked& asked) {
  auto& ledger = setup_.ledger;
  ledger.requests[asked.request_id].asked = asked;
  ++ledger.counts["op: turn asked for"];
  if (asked.choices > 1) ++ledger.counts["op: several answers asked for"];
  if (asked.group.empty()) return;
  auto& group = ledger.groups[asked.group];
  group.push_back(asked.request_id);
  const bool by_key = asked.retry == Retry::kKey;
  if (asked.repeats)
    ++ledger.counts[by_key ? "op: repeat, by its key" : "op: repeat, by its count"];
  if (!asked.repeats && group.size() > 1) ++ledger.counts["op: the same body, not as a repeat"];
}

bool Checks::gone(const std::string& id) const {
  const auto& session = setup_.ledger.sessions[id];
  if (session.deleted) return true;
  if (!setup_.forgets || session.created || session.turns.empty()) return false;
  const auto info = at_once(setup_.store.session(id));
  return info && !info->has_value();
}

bool Checks::in_store(const store::Turn& turn) const {
  const auto turns = at_once(setup_.store.turns(turn.session_id));
  // A deletion that nobody has been told of yet took it along.
  if (!turns) return setup_.ledger.sessions[turn.session_id].delete_began;
  for (const auto& each : *turns) {
    if (each->id == turn.id) return true;
  }
  return false;
}

void Checks::terminal(const Asked& asked, std::uint32_t choice,
                      const protocol::ChatResult& result) {
  const auto turn = told(asked, choice, result.id);
  const std::string which = "the turn of " + turn_name(asked.request_id, choice);
  check(turn != nullptr, "I9", which + " committed",
        "a terminal event before its commit was acknowledged");
  check(down() || gone(turn->session_id) || in_store(*turn), "I9",
        which + " in the store at its terminal event", "it is not there");
  check_answer(*turn, result);
}

void Checks::check_whole_answer(const Asked& asked, const Outcome& outcome) {
  std::vector<store::TurnPtr> turns;
  for (std::uint32_t choice = 0; choice < asked.choices; ++choice) {
    turns.push_back(told(asked, choice, outcome.results[choice].id));
    check_answer(*turns.back(), outcome.results[choice]);
  }
  setup_.ledger.requests[asked.request_id].answer_of = turns.front()->request_id;
  for (const auto& turn : turns)
    check(turn->request_id == turns.front()->request_id, "repeat",
          "all answers to " + asked.request_id + " of one request", "of several");
  if (const auto& usage = outcome.results.front().usage) check_usage(turns, *usage);
  check_version(turns.front()->session_id);
}

void Checks::finished(const Asked& asked, const Outcome& outcome, const Look& before) {
  std::string line = asked.request_id + " turn: " + std::string(name(outcome.kind));
  if (outcome.status != 0) line += " " + std::to_string(outcome.status);
  step(line + (outcome.error.empty() ? "" : " (" + outcome.error + ")"));
  auto& request = setup_.ledger.requests[asked.request_id];
  request.finished = true;
  request.kind = outcome.kind;
  request.left_at = outcome.left_at;
  ++setup_.ledger.counts["turn: " + std::string(name(outcome.kind))];
  if (hit_by_fault(asked, outcome)) ++setup_.ledger.counts["turns hit by a fault"];
  switch (outcome.kind) {
    case Outcome::Kind::kAnswered:
      check_whole_answer(asked, outcome);
      break;
    case Outcome::Kind::kRefused:
    case Outcome::Kind::kFailed:
      check(request.turns.empty() || request.found, "I3",
            asked.request_id + " failed and nothing recorded", "its turn in the store");
      check_refusal(asked, outcome, before);
      unchanged("I3", asked.request_id, before);
      if (!asked.session.empty()) check_version(asked.session);
      break;
    case Outcome::Kind::kBroken:
      check(!setup_.calm, "calm", "an answer", "a broken connection: " + outcome.error);
      break;
    case Outcome::Kind::kLeft:
      ++setup_.ledger.counts["op: client leaves"];
      break;
  }
  check_committed();
}

// Counted low: a fault of the store or network that the turn got over is not seen here.
bool Checks::hit_by_fault(const Asked& asked, const Outcome& outcome) {
  for (const sim::Served* entry : generations(asked)) {
    if (entry->fault_fired) return true;
  }
  const bool failed =
      outcome.kind != Outcome::Kind::kAnswered && outcome.kind != Outcome::Kind::kLeft;
  const bool in_order = outcome.status == 404 || outcome.code.starts_with("session_");
  return failed && !in_order && !closing_;
}

bool Checks::mode_refuses(const Asked& asked, const Outcome& outcome, const Look& before) {
  if (asked.session.empty()) return false;
  const auto& session = setup_.ledger.sessions[asked.session];
  if (session.mode == "tree") return false;
  auto& counts = setup_.ledger.counts;
  if (outcome.code == "session_busy") {
    ++counts["turn: refused, another one runs in the session"];
    return outcome.status == 409;
  }
  // What can't be appended starts no root here.
  if (outcome.status == 400 && outcome.code.empty() && asked.may_start_over) return true;
  if (outcome.code != "session_diverged") return false;
  ++counts["turn: refused, diverged (" + session.mode + ")"];
  check(outcome.status == (session.mode == "strict" ? 409 : 400), "mode",
        "the status of a " + session.mode + " session", std::to_string(outcome.status));
  check(!session.turns.empty(), "mode", "a first turn is taken", outcome.error);
  const auto believed = setup_.ledger.turn_named(asked.parent);
  if (!still(before) || believed == nullptr) return true;
  // The agent goes on behind the tip as it is: nothing to refuse, unless an answer like it was
  // taken for it.
  check(believed->id != session.turns.back()->id || diverged(*believed), "mode",
        asked.request_id + " taken, which goes on behind the tip", outcome.error);
  return true;
}

void Checks::check_refusal(const Asked& asked, const Outcome& outcome, const Look& before) {
  if (mode_refuses(asked, outcome, before)) return;
  const auto& sessions = setup_.ledger.sessions;
  const auto session = sessions.find(asked.session);
  const bool deleted = session != sessions.end() && session->second.deleted;
  const std::string found =
      "status " + std::to_string(outcome.status) + ", " + outcome.code + ", " + outcome.error;
  if (deleted && (outcome.status == 404 || outcome.kind == Outcome::Kind::kFailed)) return;
  // A stateless conversation may be forgotten while it is continued.
  if (setup_.forgets && asked.session.empty() && outcome.status == 404) {
    ++setup_.ledger.counts["turn: refused, forgotten meanwhile"];
    return;
  }
  if (cannot_go_up(outcome)) {
    ++setup_.ledger.counts["turn: refused, a call that the protocol can't carry"];
    return;
  }
  check(!setup_.calm, "calm", asked.request_id + " answered", found);
  const int status = outcome.status;
  // 408: the link stalled before the request was there.
  const bool gateways = status == 408 || status == 502 || status == 503 || status == 504;
  const bool engines = engine_said(asked, status);
  const bool in_stream = outcome.kind == Outcome::Kind::kFailed;
  check(gateways || engines || in_stream, "statuses", "a status that a fault explains", found);
}

void Checks::refused(const std::string& name, const Reply& reply, int status, const std::string& id,
                     const Look& before) {
  step(id + " " + name + ": " + std::to_string(reply.status));
  ++setup_.ledger.counts["wrong request: " + name];
  ++setup_.ledger.counts["op: wrong request"];
  check(!setup_.ledger.requests[id].commit_began, "I3", name + " changes nothing", "a commit");
  unchanged("I3", name, before);
  // The connection or the store may fail before the request is understood.
  if (!setup_.calm && (reply.status == 0 || reply.status == 408 || reply.status == 503)) return;
  const bool gone = reply.status == 404 && status == 400;  // the session was deleted meanwhile
  // A session of one line may see first that it is another conversation.
  const bool elsewhere = reply.body.find(R"("code":"session_)") != std::string::npos;
  check(reply.status == status || gone || elsewhere, "statuses",
        name + ": status " + std::to_string(status),
        std::to_string(reply.status) + " " + reply.body);
}

void Checks::plain(const std::string& name, const Reply& reply,
                   std::initializer_list<int> statuses) {
  step(name + ": " + std::to_string(reply.status));
  if (!setup_.calm && (reply.status == 0 || reply.status == 408 || reply.status == 503)) return;
  for (const int status : statuses) {
    if (reply.status == status) return;
  }
  setup_.findings.fail("statuses", name + " answered well",
                       std::to_string(reply.status) + " " + reply.body);
}

void Checks::created(const std::string& session, const std::string& mode) {
  setup_.ledger.sessions[session].mode = mode;
  ++setup_.ledger.counts["op: session created"];
  if (down()) return;
  const auto info = at_once(setup_.store.session(session));
  check(info && info->has_value(), "I9", "session " + session + " in the store", "it is not there");
}

void Checks::deleted(const std::string& session, int status) {
  if (status != 204 && status != 404) return;
  if (status == 204) ++setup_.ledger.counts["op: session deleted"];
  check(setup_.ledger.sessions[session].deleted, "I9", "session " + session + " deleted",
        "it is still there");
  if (down()) return;
  const auto info = at_once(setup_.store.session(session));
  check(info && !info->has_value(), "I9", "session " + session + " gone", "it is still there");
}

void Checks::check_version(const std::string& id) {
  if (down() || setup_.ledger.under_way > 0) return;
  const auto info = at_once(setup_.store.session(id));
  if (!info || !*info) return;  // deleted; check_store() looks for the others
  auto& session = setup_.ledger.sessions[id];
  const std::uint64_t version = (*info)->version;
  const std::string seen = std::to_string(session.seen_version);
  if (session.changes > session.seen_changes) {
    check(version > session.seen_version, "I8", "a version above " + seen + " of session " + id,
          std::to_string(version));
  } else {
    check(version == session.seen_version, "I8", "version " + seen + " of session " + id,
          std::to_string(version) + " though nothing changed");
  }
  session.seen_changes = session.changes;
  session.seen_version = version;
}

void Checks::at_end(const End& end) {
  check_committed();
  check_store();
  check_aborts(end);
}

void Checks::check_store() {
  for (const auto& [id, session] : setup_.ledger.sessions) check_session(id, session);
  auto& counts = setup_.ledger.counts;
  for (const auto& [id, request] : setup_.ledger.requests) {
    if (request.turns.empty()) continue;
    check(request.turns.size() == request.asked.choices &&
              std::find(request.turns.begin(), request.turns.end(), nullptr) == request.turns.end(),
          "I3", std::to_string(request.asked.choices) + " turns of " + id + ", or none", "some");
    counts["recorded turns"] += request.turns.size();
    if (request.turns.size() > 1) ++counts["recorded: several answers to one request"];
    check(request.finished, "I9", "an agent behind each turn", "none behind that of " + id);
    if (request.kind == Outcome::Kind::kAnswered || request.found) continue;
    const bool lost =
        request.kind == Outcome::Kind::kLeft || request.kind == Outcome::Kind::kBroken;
    check(lost, "I3", "no turn of " + id + ", which failed", "its turn");
    ++counts["recorded turns whose client was gone"];
  }
}

void Checks::check_session(const std::string& id, const Ledger::Session& session) {
  const auto turns = at_once(setup_.store.turns(id));
  if (gone(id)) {
    check(!turns.ok(), "I9", "no turns of session " + id + ", which is gone", "some");
    if (!session.deleted) ++setup_.ledger.counts["sessions forgotten"];
    return;
  }
  check(turns.ok(), "I9", "session " + id + " in the store", "it is not there");
  check(turns->size() == session.turns.size(), "I9",
        std::to_string(session.turns.size()) + " turns of session " + id,
        std::to_string(turns->size()));
  for (std::size_t i = 0; i < turns->size(); ++i) {
    check((*turns)[i]->id == session.turns[i]->id, "I9",
          "turn " + std::to_string(i) + " of session " + id + " as acknowledged", "another one");
    check((*turns)[i] == session.turns[i] ||
              store::testing::difference(*(*turns)[i], *session.turns[i]).empty(),
          "I9", "turn " + std::to_string(i) + " of session " + id + " as it was acknowledged",
          "other fields");
    check((*turns)[i]->seq == i + 1, "I9", "seq " + std::to_string(i + 1),
          std::to_string((*turns)[i]->seq));
  }
  check_version(id);
}

void Checks::started_again() {
  down_ = false;
  ++setup_.ledger.changes;
  ++setup_.ledger.life;
  ++setup_.ledger.counts["check: stores behind a loss of power"];
  for (auto& [id, session] : setup_.ledger.sessions) find_session(id, session);
  check_committed();
}

void Checks::find_session(const std::string& id, Ledger::Session& session) {
  const bool may_be_gone = session.delete_began;
  session.delete_began = false;
  if (session.deleted || (!session.created && session.turns.empty())) return;
  const auto turns = at_once(setup_.store.turns(id));
  if (!turns.ok() && turns.error().kind == base::ErrorKind::kNotFound && may_be_gone) {
    session.deleted = true;
    return;
  }
  if (!turns.ok() && gone(id)) return;
  check(turns.ok(), "I9", "session " + id + " behind the loss of power",
        turns.ok() ? "" : turns.error().message);
  std::size_t known = 0;
  std::vector<store::TurnPtr> all;
  for (const auto& turn : *turns) {
    const bool acknowledged = known < session.turns.size() && session.turns[known]->id == turn->id;
    if (acknowledged) {
      all.push_back(session.turns[known++]);
      continue;
    }
    auto& request = setup_.ledger.requests[turn->request_id];
    check(request.commit_began && request.turn(turn->choice) == nullptr, "I9",
          "only turns behind the loss of power that were under way before it",
          "one of " + turn->request_id);
    request.keep(turn);
    request.found = true;
    ++session.changes;
    ++setup_.ledger.counts["turns found behind a loss of power, unacknowledged"];
    setup_.ledger.unchecked.push_back(turn);
    all.push_back(turn);
  }
  check(known == session.turns.size(), "I9",
        std::to_string(session.turns.size()) + " acknowledged turns of session " + id +
            " behind the loss of power",
        std::to_string(known));
  session.turns = std::move(all);
}

void Checks::check_aborts(const End& end) {
  for (const auto& [id, request] : setup_.ledger.requests) {
    const auto left_at = abandoned(request);
    if (!left_at) continue;
    ++setup_.ledger.counts["clients that left before the commit"];
    if (!end.aborts_arrive) continue;
    const auto slack =
        end.slack + (request.asked.group.empty() ? base::Duration(0) : gateway::kRetryGrace);
    for (const sim::Served* served : generations(request.asked)) {
      ++setup_.ledger.counts["check: aborts"];
      const auto late = served->last_sent - *left_at;
      check(late <= slack, "abort",
            "nothing sent for " + id + " later than " + std::to_string(slack.count()) +
                " us behind its client's leaving",
            std::to_string(late.count()) + " us");
      check(served->ended, "abort", "the generation of " + id + " ended", "it still runs");
    }
  }
}

}  // namespace verbatim::simulate
