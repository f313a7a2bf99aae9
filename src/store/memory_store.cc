#include "store/memory_store.h"

#include <algorithm>

#include "store/dump.h"

namespace verbatim::store {

using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;

namespace {
base::Error no_session(const std::string& id) {
  return base::error(ErrorKind::kNotFound, "session not found: session_id=" + id);
}
}  // namespace

Task<Status> MemoryStore::create_session(std::string id, std::int64_t now_ms) {
  std::lock_guard lock(mutex_);
  Session session;
  session.info = {id, now_ms, 1, 0};
  const bool fresh = sessions_.emplace(id, std::move(session)).second;
  if (!fresh)
    co_return base::error(ErrorKind::kConflict, "session exists already: session_id=" + id);
  co_return Status();
}

Task<Result<std::optional<SessionInfo>>> MemoryStore::session(std::string id) {
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(id);
  if (it == sessions_.end()) co_return std::optional<SessionInfo>();
  co_return std::optional(it->second.info);
}

Task<Status> MemoryStore::delete_session(std::string id) {
  std::vector<TurnPtr> dropped;  // freed outside the lock
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(id);
  if (it == sessions_.end()) co_return no_session(id);
  erase(it, dropped);
  co_return Status();
}

Task<Result<std::vector<TurnPtr>>> MemoryStore::turns(std::string session_id) {
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session_id);
  if (it == sessions_.end()) co_return no_session(session_id);
  co_return it->second.turns;
}

Task<Result<TurnPtr>> MemoryStore::commit(std::unique_ptr<Turn> turn, SessionUse use) {
  std::vector<TurnPtr> dropped;  // freed outside the lock
  join_path(*turn);
  std::lock_guard lock(mutex_);
  co_return add(std::move(turn), use, dropped);
}

Result<TurnPtr> MemoryStore::add(std::unique_ptr<Turn> turn, SessionUse use,
                                 std::vector<TurnPtr>& dropped) {
  auto it = sessions_.find(turn->session_id);
  if (it == sessions_.end()) {
    // A parent that is gone took its session with it.
    if (use == SessionUse::kExisting || turn->parent) return no_session(turn->session_id);
    Session fresh;
    fresh.info = {turn->session_id, turn->times.received_ms, 1, 0};
    fresh.implicit = true;
    it = sessions_.emplace(turn->session_id, std::move(fresh)).first;
  }
  Session& session = it->second;
  turn->seq = ++session.info.turns;
  ++session.info.version;
  // A branch has the id of the turn that began it: a root, or a later child of its parent.
  const bool first_child = turn->parent && session.continued.insert(turn->parent->id).second;
  turn->branch = first_child ? turn->parent->branch : turn->id;
  const std::size_t bytes = footprint(*turn);
  session.bytes += bytes;
  if (session.implicit) {
    implicit_by_commit_.erase(session.last_commit);
    session.last_commit = ++commits_;
    implicit_by_commit_.emplace(session.last_commit, turn->session_id);
    implicit_bytes_ += bytes;
  }
  TurnPtr recorded(std::move(turn));
  session.turns.push_back(recorded);
  index_[recorded->digest].push_back(recorded);
  newest_[recorded->root_digest] = recorded;
  if (session.implicit) shrink(recorded->session_id, dropped);
  return recorded;
}

Task<Result<std::vector<TurnPtr>>> MemoryStore::find(std::span<const trajectory::Digest> digests) {
  std::vector<TurnPtr> found;
  std::lock_guard lock(mutex_);
  for (const auto& digest : digests) {
    const auto it = index_.find(digest);
    if (it == index_.end()) continue;
    found.insert(found.end(), it->second.begin(), it->second.end());
  }
  co_return found;
}

Task<Result<std::vector<TurnPtr>>> MemoryStore::newest(const trajectory::Digest& root) {
  std::lock_guard lock(mutex_);
  const auto it = newest_.find(root);
  if (it == newest_.end()) co_return std::vector<TurnPtr>();
  // With all that share its digest: whether there is a tie is for the caller to see.
  co_return index_.at(it->second->digest);
}

void MemoryStore::erase(Sessions::iterator it, std::vector<TurnPtr>& dropped) {
  Session& session = it->second;
  for (const auto& turn : session.turns) {
    const auto last = newest_.find(turn->root_digest);
    // The one before is not looked for: without an answer here the caller asks by digests.
    if (last != newest_.end() && last->second == turn) newest_.erase(last);
    const auto entry = index_.find(turn->digest);
    if (entry == index_.end()) continue;
    std::erase(entry->second, turn);
    if (entry->second.empty()) index_.erase(entry);
  }
  if (session.implicit) {
    implicit_by_commit_.erase(session.last_commit);
    implicit_bytes_ -= session.bytes;
  }
  dropped.insert(dropped.end(), std::make_move_iterator(session.turns.begin()),
                 std::make_move_iterator(session.turns.end()));
  sessions_.erase(it);
}

void MemoryStore::shrink(const std::string& keep, std::vector<TurnPtr>& dropped) {
  while (implicit_bytes_ > implicit_limit_ && !implicit_by_commit_.empty()) {
    const std::string oldest = implicit_by_commit_.begin()->second;
    if (oldest == keep) return;  // it has just been committed to
    erase(sessions_.find(oldest), dropped);
  }
}

std::string MemoryStore::dump() const {
  std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [id, session] : sessions_) {
    out += "session " + id + " version " + std::to_string(session.info.version) + " created " +
           std::to_string(session.info.created_ms) + (session.implicit ? " implicit\n" : "\n");
    for (const auto& turn : session.turns) append_dump(out, *turn);
  }
  return out;
}

}  // namespace verbatim::store
