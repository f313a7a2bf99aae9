#include "store/sqlite/import_conversation.h"

namespace verbatim::store::sqlite {

using base::Status;

namespace {

Status wrong(const std::string& what) {
  return base::error(base::ErrorKind::kInvalidRequest, what);
}

bool same(const Conversation& a, const Conversation& b) {
  return a.metadata == b.metadata && a.version == b.version && a.items == b.items &&
         a.bytes == b.bytes && a.last == b.last && a.turn == b.turn && a.answered == b.answered &&
         a.instructed == b.instructed && a.carried == b.carried;
}

}  // namespace

Status ImportConversation::prepare(Connection& connection) {
  if (auto status = rows_.prepare(connection); !status.ok()) return status;
  return reader_.prepare(connection);
}

base::Error ImportConversation::other() const {
  return base::error(base::ErrorKind::kConflict, "conversation " + session_.id +
                                                     " is in the store already, and is not the "
                                                     "same there");
}

Status ImportConversation::begin(const Session& session, const Conversation& conversation,
                                 const std::unordered_set<std::uint64_t>& turns) {
  if (conversation_) return wrong("a second conversation of session " + session.id);
  session_ = session;
  items_ = bytes_ = last_ = disk_ = 0;
  if (conversation.answered > conversation.last || conversation.items > conversation.last)
    return wrong("a conversation of more items than were ever added");
  conversation_ = conversation;
  if (session.known) {
    const auto there = reader_.of_session(session.number);
    if (!there) return there.error();
    return *there && same(**there, conversation) ? Status() : Status(other());
  }
  if (conversation.turn != 0 && !turns.contains(conversation.turn))
    return wrong("a conversation of a turn that is not there");
  return rows_.insert(session.number, conversation);
}

Status ImportConversation::add(const ConversationItem& item) {
  if (!conversation_) return wrong("an item without its conversation");
  if (item.seq <= last_ || item.seq > conversation_->last || item.id.empty() || item.body.empty())
    return wrong("item " + std::to_string(item.seq) + ", expected one behind item " +
                 std::to_string(last_) + ", up to " + std::to_string(conversation_->last));
  last_ = item.seq;
  ++items_;
  bytes_ += item.body.size();
  std::optional<ConversationRows::Place> there;
  if (auto status = rows_.find_item(session_.number, item.id, there); !status.ok()) return status;
  if (session_.known) {
    ItemQuery query;
    query.conversation = session_.id;
    query.ids = {item.id};
    const auto found = reader_.items(query);
    if (!found) return found.error();
    const bool same =
        found->size() == 1 && found->front()->seq == item.seq && found->front()->body == item.body;
    return same ? Status() : Status(other());
  }
  if (there) return wrong("a second item " + item.id);
  disk_ += disk_bytes(item.id, item.body.size());
  return rows_.insert(session_.number, item);
}

Status ImportConversation::finish(std::uint64_t& disk) {
  if (!conversation_) return {};
  const bool fits = conversation_->items == items_ && conversation_->bytes == bytes_;
  conversation_.reset();
  disk += disk_;
  if (fits) return {};
  return wrong("conversation " + session_.id + " has " + std::to_string(items_) + " items of " +
               std::to_string(bytes_) + " bytes here, and counts others");
}

}  // namespace verbatim::store::sqlite
