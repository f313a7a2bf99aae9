// Conversations in memory: a part of their sessions.
#include <algorithm>
#include <unordered_set>

#include "store/memory_store.h"
#include "store/rules.h"

namespace verbatim::store {

using base::Result;
using base::Status;
using base::Task;

Task<Status> MemoryStore::create_conversation(SessionSpec spec, ConversationChange first) {
  auto shared = std::make_shared<const SessionSpec>(std::move(spec));
  auto made = std::make_unique<KeptConversation>();
  made->state.id = shared->id;
  made->state.owner = shared->owner;
  made->state.created_ms = shared->created_ms;
  std::lock_guard lock(mutex_);
  if (auto status = room_for_session(*shared); !status.ok()) co_return status;
  // Looked at before there is anything: ids that come twice.
  Session proposed;
  proposed.conversation = std::move(made);
  if (auto status = check(proposed, first); !status.ok()) co_return status;
  Session& session = insert(std::move(shared), false);
  session.conversation = std::move(proposed.conversation);
  apply(session, first);
  session.info.version = 1;
  session.conversation->state.version = 1;
  co_return Status();
}

Status MemoryStore::check(const Session& session, const ConversationChange& change) {
  if (!session.conversation) return no_conversation(change.id);
  const auto& kept = *session.conversation;
  if (auto status = check_version(kept.state, change); !status.ok()) return status;
  if (!change.removed.empty() && !kept.seqs.contains(change.removed)) return no_item();
  if (change.answer) return {};
  std::unordered_set<std::string_view> ids;
  for (const auto& item : change.added) {
    if (kept.seqs.contains(item.id) || !ids.insert(item.id).second) return item_exists(item.id);
  }
  return {};
}

void MemoryStore::apply(Session& session, const ConversationChange& change) {
  auto& kept = *session.conversation;
  const auto texts = [&kept] { return kept.state.metadata.size() + kept.state.carried.size(); };
  release(session, texts());
  Removed removed;
  if (!change.removed.empty()) {
    const auto it = kept.seqs.find(change.removed);
    const auto item = kept.items.find(it->second);
    removed = {item->first, item->second->body.size()};
    release(session, footprint(*item->second));
    kept.items.erase(item);
    kept.seqs.erase(it);
  }
  std::uint64_t seq = kept.state.last;
  for (const auto& added : change.added) {
    auto item = std::make_shared<ConversationItem>();
    item->seq = ++seq;
    item->id = added.id;
    if (change.answer) {
      while (item->id.empty() || kept.seqs.contains(item->id)) item->id = another_id(item->id, seq);
    }
    item->body = added.body;
    hold(session, footprint(*item));
    kept.seqs.emplace(item->id, seq);
    kept.items.emplace(seq, std::move(item));
  }
  enter(kept.state, change, removed.seq == 0 ? nullptr : &removed);
  hold(session, texts());
  ++session.info.version;
  session.info.last_used_ms = std::max(session.info.last_used_ms, change.now_ms);
}

Task<Result<std::optional<Conversation>>> MemoryStore::conversation(std::string id) {
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(id);
  if (it == sessions_.end() || !it->second.conversation) co_return std::optional<Conversation>();
  co_return std::optional(it->second.conversation->state);
}

Task<Result<Conversation>> MemoryStore::change_conversation(ConversationChange change) {
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(change.id);
  if (it == sessions_.end()) co_return no_conversation(change.id);
  if (auto status = check(it->second, change); !status.ok()) co_return std::move(status).error();
  if (!change.added.empty()) {
    if (auto status = room_for_turns(change.id); !status.ok()) co_return std::move(status).error();
  }
  apply(it->second, change);
  co_return it->second.conversation->state;
}

Task<Result<ConversationItems>> MemoryStore::conversation_items(ItemQuery query) {
  ConversationItems found;
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(query.conversation);
  if (it == sessions_.end() || !it->second.conversation) co_return found;
  const auto& kept = *it->second.conversation;
  if (!query.ids.empty()) {
    for (const auto& id : query.ids) {
      const auto seq = kept.seqs.find(id);
      if (seq != kept.seqs.end()) found.push_back(kept.items.at(seq->second));
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a->seq < b->seq; });
    found.erase(std::unique(found.begin(), found.end()), found.end());
    co_return found;
  }
  if (query.descending) {
    auto at = query.behind == 0 ? kept.items.end() : kept.items.lower_bound(query.behind);
    while (at != kept.items.begin() && found.size() < query.limit) found.push_back((--at)->second);
    co_return found;
  }
  for (auto at = kept.items.upper_bound(query.behind);
       at != kept.items.end() && found.size() < query.limit; ++at)
    found.push_back(at->second);
  co_return found;
}

}  // namespace verbatim::store
