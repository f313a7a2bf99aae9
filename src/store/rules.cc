#include "store/rules.h"

namespace verbatim::store {

using base::ErrorKind;

base::Error no_session(const std::string& id) {
  return base::error(ErrorKind::kNotFound, "session not found: session_id=" + id);
}

base::Error session_exists(const std::string& id) {
  return base::error(ErrorKind::kConflict, "session exists already: session_id=" + id);
}

base::Error secret_taken() {
  return base::error(ErrorKind::kConflict, "another session has this secret: choose another");
}

base::Error turn_exists() {
  return base::error(ErrorKind::kConflict, "a turn of this number exists: ask again");
}

base::Error owner_is_full(std::uint64_t limit) {
  auto full = base::error(ErrorKind::kInvalidRequest,
                          "this owner has " + std::to_string(limit) +
                              " sessions, as many as the server keeps for one: delete those that "
                              "are done (DELETE /sessions/{id})");
  full.code = "session_quota";
  return full;
}

base::Status check_implicit(const SessionInfo& info, std::uint64_t limit) {
  if (!info.implicit || info.bytes < limit) return {};
  auto failure = base::error(
      ErrorKind::kInvalidRequest,
      "this conversation has " + std::to_string(info.bytes) +
          " bytes, and one in a session that nobody created may have " + std::to_string(limit) +
          ": begin another one, or create a session with POST /sessions, which has no "
          "such bound");
  failure.code = "session_limit";
  return failure;
}

std::size_t footprint(const StoredResponse& response) {
  return sizeof response + response.id.size() + response.body.size() + response.input.size() + 200;
}

std::size_t footprint(const SessionSpec& spec) {
  return sizeof spec + spec.id.size() + spec.owner.size() + spec.options.size() +
         spec.metadata.size() + spec.secret_hash.size();
}

std::shared_ptr<const SessionSpec> implicit_spec(const NewTurns& added) {
  if (added.spec) return added.spec;
  const Turn& first = *added.turns.front();
  return std::make_shared<SessionSpec>(first.session_id, first.times.received_ms);
}

void enter(SessionInfo& session, Turn& turn, std::optional<std::uint64_t> goes_on) {
  turn.seq = ++session.turns;
  ++session.version;
  turn.branch = goes_on.value_or(turn.id);
  session.bytes += footprint(turn);
  session.tokens += added_tokens(turn);
  session.last_used_ms = turn.times.committed_ms;
}

}  // namespace verbatim::store
