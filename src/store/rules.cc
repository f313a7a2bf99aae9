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

base::Error no_conversation(const std::string& id) {
  auto failure = base::error(ErrorKind::kNotFound, "conversation not found: " + id);
  failure.code = "not_found";
  return failure;
}

base::Error no_item() {
  auto failure = base::error(ErrorKind::kNotFound, "the conversation has no item of this id");
  failure.code = "not_found";
  return failure;
}

base::Error item_exists(const std::string& id) {
  auto failure = base::invalid(
      "items", "the conversation has an item " + id + " already; leave its id out to add it again");
  failure.code = "item_already_in_conversation";
  return failure;
}

std::string another_id(const std::string& id, std::uint64_t seq) {
  return (id.empty() ? "item" : id) + "~" + std::to_string(seq);
}

base::Status check_version(const Conversation& conversation, const ConversationChange& change) {
  if (!change.version || *change.version == conversation.version) return {};
  auto failure = base::error(ErrorKind::kConflict,
                             "another request has changed the conversation meanwhile, and nothing "
                             "of this one was added to it; send it again");
  failure.field = "conversation";
  failure.code = "conversation_locked";
  return failure;
}

void enter(Conversation& conversation, const ConversationChange& change, const Removed* removed) {
  if (change.metadata) conversation.metadata = *change.metadata;
  if (removed != nullptr) {
    --conversation.items;
    conversation.bytes -= removed->bytes;
    if (removed->seq <= conversation.answered) conversation.turn = conversation.answered = 0;
  }
  for (const auto& item : change.added) {
    ++conversation.items;
    ++conversation.last;
    conversation.bytes += item.body.size();
  }
  if (change.answer) {
    conversation.turn = change.answer->turn;
    conversation.answered = conversation.last;
    conversation.instructed = change.answer->instructed;
    conversation.carried = change.answer->carried;
  }
  if (removed != nullptr || !change.added.empty() || change.answer) ++conversation.version;
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

std::size_t footprint(const ConversationItem& item) {
  return sizeof item + 2 * item.id.size() + item.body.size() + 200;
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
