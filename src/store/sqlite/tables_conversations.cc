// Conversations: what a change does to their rows, and to that of their session.
#include <algorithm>
#include <unordered_set>

#include "store/rules.h"
#include "store/sqlite/tables.h"

namespace verbatim::store::sqlite {

using base::Error;
using base::Status;

Status Tables::create_conversation(const std::shared_ptr<const SessionSpec>& spec,
                                   const ConversationChange& first, ChangeResult& result) {
  Conversation conversation;
  std::optional<Error> refused;
  if (auto status = check(first, nullptr, conversation, refused); !status.ok()) return status;
  if (refused) {
    result = *refused;
    return {};
  }
  if (auto status = create(spec, result); !status.ok() || !*result) return status;
  SessionRow session;
  session.info = (*result)->info;
  auto status = conversations_.insert(session.info.number, conversation);
  if (status.ok()) status = write(first, session, conversation);
  conversation.version = session.info.version = 1;
  if (status.ok()) status = conversations_.update(session.info.number, conversation);
  if (status.ok()) status = use_session(session);
  if (status.ok()) result = Change{std::move(session.info), {}};
  return status;
}

Status Tables::change_conversation(const ConversationChange& change, ConversationResult& result) {
  result = {};
  std::optional<SessionRow> session;
  if (auto status = find_session(change.id, session); !status.ok()) return status;
  std::optional<Conversation> state;
  if (session) {
    auto status = conversations_.find(session->info.number, state);
    if (!status.ok()) return status;
  }
  if (!state) {
    result.conversation = no_conversation(change.id);
    return {};
  }
  std::optional<Error> refused;
  auto status = check(change, &*session, *state, refused);
  if (!status.ok()) return status;
  if (refused) {
    result.conversation = *refused;
    return {};
  }
  if (status = write(change, *session, *state); !status.ok()) return status;
  if (status = use_session(*session); !status.ok()) return status;
  state->id = session->info.spec->id;
  state->owner = session->info.spec->owner;
  state->created_ms = session->info.spec->created_ms;
  result.conversation = std::move(*state);
  result.change = Change{std::move(session->info), {}};
  return {};
}

Status Tables::advance(const ConversationChange& change, SessionRow& session,
                       std::optional<Error>& refused) {
  std::optional<Conversation> state;
  if (auto status = conversations_.find(session.info.number, state); !status.ok()) return status;
  if (!state) {
    refused = no_conversation(change.id);
    return {};
  }
  auto status = check(change, &session, *state, refused);
  if (!status.ok() || refused) return status;
  return write(change, session, *state);
}

// Whatever is wrong with a change is found before anything is written. `session`: null where there
// is none yet.
Status Tables::check(const ConversationChange& change, const SessionRow* session,
                     const Conversation& state, std::optional<Error>& refused) {
  if (auto status = check_version(state, change); !status.ok()) {
    refused = std::move(status).error();
    return {};
  }
  std::optional<ConversationRows::Place> there;
  if (!change.removed.empty()) {
    auto status = conversations_.find_item(session->info.number, change.removed, there);
    if (!status.ok()) return status;
    if (!there) refused = no_item();
  }
  if (change.answer) return {};
  std::unordered_set<std::string_view> ids;
  for (const auto& item : change.added) {
    there.reset();
    if (session != nullptr) {
      auto status = conversations_.find_item(session->info.number, item.id, there);
      if (!status.ok()) return status;
    }
    if (there || !ids.insert(item.id).second) refused = item_exists(item.id);
    if (refused) return {};
  }
  return {};
}

Status Tables::write(const ConversationChange& change, SessionRow& session, Conversation& state) {
  const std::uint64_t number = session.info.number;
  std::optional<ConversationRows::Place> place;
  if (!change.removed.empty()) {
    auto status = conversations_.find_item(number, change.removed, place);
    if (status.ok()) status = conversations_.erase(number, place->seq);
    if (!status.ok()) return status;
    const auto freed = disk_bytes(change.removed, place->bytes);
    session.disk -= std::min(session.disk, freed);
    if (session.info.implicit) count({session.info.spec->owner, freed, false});
  }
  ConversationItem item;
  item.seq = state.last;
  for (const auto& added : change.added) {
    ++item.seq;
    item.id = added.id;
    if (change.answer) {
      if (auto status = find_free_id(number, item); !status.ok()) return status;
    }
    item.body = added.body;
    if (auto status = conversations_.insert(number, item); !status.ok()) return status;
    grow(session, disk_bytes(item.id, item.body.size()));
  }
  if (place) {
    const Removed removed{place->seq, place->bytes};
    enter(state, change, &removed);
  } else {
    enter(state, change, nullptr);
  }
  ++session.info.version;
  session.info.last_used_ms = std::max(session.info.last_used_ms, change.now_ms);
  return conversations_.update(number, state);
}

Status Tables::find_free_id(std::uint64_t session, ConversationItem& item) {
  for (;;) {
    std::optional<ConversationRows::Place> there;
    auto status = conversations_.find_item(session, item.id, there);
    if (!status.ok() || (!there && !item.id.empty())) return status;
    item.id = another_id(item.id, item.seq);
  }
}

Status Tables::use_session(const SessionRow& session) {
  use_session_.bind(1, stored(session.info.number));
  use_session_.bind(2, stored(session.info.version));
  use_session_.bind(3, session.info.last_used_ms);
  use_session_.bind(4, stored(session.disk));
  return use_session_.run();
}

}  // namespace verbatim::store::sqlite
