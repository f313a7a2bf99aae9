#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gateway/doors.h"
#include "gateway/stop_watch.h"
#include "gateway/turn_rules.h"
#include "trajectory/turn.h"

namespace verbatim::gateway {

// What became of a request for turns.
enum class TurnOutcome : std::size_t {
  kAnswered,     // the client has all of it
  kUndelivered,  // committed, and the client was gone before it had the end
  kRepeated,     // answered from the turns of an equal request
  kRefused,      // the request's own fault: nothing was sampled for it
  kEngineError,  // the engine refused, failed, or said what can't be trusted
  kTimeout,
  kUnavailable,  // no engine, or no store
  kAborted,      // the client hung up, or the gateway was stopped
  kDeleted,      // the session was deleted meanwhile
  kError,        // the gateway's own fault
};
inline constexpr std::size_t kTurnOutcomes = 10;
inline constexpr std::array<std::string_view, kTurnOutcomes> kTurnOutcomeNames = {
    "answered", "undelivered", "repeated", "refused", "engine_error",
    "timeout",  "unavailable", "aborted",  "deleted", "error"};

TurnOutcome outcome_of(const base::Error& error);

// One request for turns, looked back at: for metrics and logs.
struct TurnReport {
  std::string request_id;  // ours, or the client's x-request-id
  std::string session_id;  // empty: none was found
  std::string owner;
  DoorKind door = DoorKind::kNone;
  SessionMode mode = SessionMode::kTree;
  bool stream = false;
  TurnOutcome outcome = TurnOutcome::kError;
  int status = 0;                          // of the answer; 0: none was begun
  std::optional<base::Error> failure;      // why there are no turns
  std::vector<trajectory::TurnPtr> turns;  // as they were committed
  StopWatch watch;
};

}  // namespace verbatim::gateway
