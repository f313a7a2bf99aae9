#include "store/memory_store.h"

#include <algorithm>
#include <set>

#include "store/dump.h"
#include "store/rules.h"

namespace verbatim::store {

using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;

namespace {

// Of a session beside what it was made with: its places in maps, about.
constexpr std::size_t kSessionBytes = 500;

base::Error full(const std::string& what, std::size_t owners, std::uint64_t limit) {
  const std::string whose = owners > 1 ? ", and no more of this owner" : "";
  return base::error(ErrorKind::kUnavailable, "the store in memory keeps at most " +
                                                  std::to_string(limit) + " " + what + whose +
                                                  ": delete sessions that are done, or keep them "
                                                  "in a file (--store sqlite)");
}

}  // namespace

Task<Status> MemoryStore::create_session(SessionSpec spec) {
  auto shared = std::make_shared<const SessionSpec>(std::move(spec));
  std::lock_guard lock(mutex_);
  if (auto status = room_for_session(*shared); !status.ok()) co_return status;
  insert(std::move(shared), false);
  co_return Status();
}

Status MemoryStore::room_for_session(const SessionSpec& spec) const {
  if (sessions_.contains(spec.id)) return session_exists(spec.id);
  if (!spec.secret_hash.empty() && secrets_.contains(spec.secret_hash)) return secret_taken();
  if (limits_.owner_sessions != 0 && created_.of(spec.owner) >= limits_.owner_sessions)
    return owner_is_full(limits_.owner_sessions);
  if (created_.full(spec.owner)) return full("sessions", limits_.owners, limits_.sessions);
  return room_for_created(spec.owner);
}

MemoryStore::Session& MemoryStore::insert(std::shared_ptr<const SessionSpec> spec, bool implicit) {
  Session& session = sessions_[spec->id];
  session.info.number = ++last_number_;
  session.info.implicit = implicit;
  session.info.version = 1;
  session.info.last_used_ms = spec->created_ms;
  const auto place = std::pair(spec->owner, session.info.number);
  numbers_.emplace(place, &session);
  if (!spec->secret_hash.empty()) secrets_.emplace(spec->secret_hash, spec->id);
  if (!implicit) {
    created_numbers_.emplace(place, &session);
    created_.add(spec->owner, 1);
  }
  session.info.spec = std::move(spec);
  hold(session, kSessionBytes + footprint(*session.info.spec));
  return session;
}

void MemoryStore::release(Session& session, std::size_t bytes) {
  session.held -= bytes;
  if (session.info.implicit) {
    implicit_bytes_.remove(session.info.spec->owner, bytes);
  } else {
    created_bytes_.remove(session.info.spec->owner, bytes);
  }
}

void MemoryStore::hold(Session& session, std::size_t bytes) {
  session.held += bytes;
  if (session.info.implicit) {
    implicit_bytes_.add(session.info.spec->owner, bytes);
  } else {
    created_bytes_.add(session.info.spec->owner, bytes);
  }
}

Task<Result<std::optional<SessionInfo>>> MemoryStore::session(std::string id) {
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(id);
  if (it == sessions_.end()) co_return std::optional<SessionInfo>();
  co_return std::optional(it->second.info);
}

Task<Result<std::optional<SessionInfo>>> MemoryStore::session_of_secret(std::string secret_hash) {
  std::lock_guard lock(mutex_);
  const auto it = secrets_.find(secret_hash);
  if (it == secrets_.end()) co_return std::optional<SessionInfo>();
  co_return std::optional(sessions_.at(it->second).info);
}

Task<Result<std::vector<SessionInfo>>> MemoryStore::sessions(SessionQuery query) {
  std::vector<SessionInfo> found;
  std::lock_guard lock(mutex_);
  const Numbers& listed = query.implicit ? numbers_ : created_numbers_;
  auto it = listed.upper_bound({query.owner, query.after});
  for (; it != listed.end() && it->first.first == query.owner; ++it) {
    if (found.size() == query.limit) break;
    found.push_back(it->second->info);
  }
  co_return found;
}

Task<Status> MemoryStore::delete_session(std::string id) {
  std::vector<TurnPtr> dropped;  // freed outside the lock
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(id);
  if (it == sessions_.end()) co_return no_session(id);
  erase(it, dropped);
  co_return Status();
}

Task<Result<IdleSessions>> MemoryStore::idle_sessions(IdleQuery query) {
  IdleSessions found;
  std::lock_guard lock(mutex_);
  std::size_t seen = 0;
  for (auto it = sessions_.upper_bound(query.after); it != sessions_.end(); ++it) {
    if (it->second.info.last_used_ms < query.before_ms) found.ids.push_back(it->first);
    if (++seen < query.limit) continue;
    found.last = it->first;
    break;
  }
  co_return found;
}

Task<Result<bool>> MemoryStore::expire_session(std::string id, std::int64_t before_ms) {
  std::vector<TurnPtr> dropped;  // freed outside the lock
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(id);
  if (it == sessions_.end() || it->second.info.last_used_ms >= before_ms) co_return false;
  erase(it, dropped);
  co_return true;
}

Task<Result<std::vector<TurnPtr>>> MemoryStore::turns(std::string session_id) {
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session_id);
  if (it == sessions_.end()) co_return no_session(session_id);
  co_return it->second.turns;
}

Task<Result<TurnPtr>> MemoryStore::last_turn(std::string session_id) {
  std::lock_guard lock(mutex_);
  const auto it = sessions_.find(session_id);
  if (it == sessions_.end() || it->second.turns.empty()) co_return TurnPtr();
  co_return it->second.turns.back();
}

Task<Result<std::vector<TurnPtr>>> MemoryStore::commit(NewTurns added) {
  std::vector<TurnPtr> dropped;  // freed outside the lock
  std::vector<TurnPtr> recorded;
  for (const auto& turn : added.turns) join_path(*turn);
  std::lock_guard lock(mutex_);
  if (auto status = check(added); !status.ok()) co_return std::move(status).error();
  auto session = open(added);
  if (!session) co_return std::move(session).error();
  if (added.conversation) apply(**session, *added.conversation);
  for (auto& turn : added.turns) recorded.push_back(add(**session, std::move(turn)));
  if (added.response) keep(**session, std::move(added.response));
  if ((*session)->info.implicit) shrink((*session)->info.spec->id, dropped);
  co_return recorded;
}

Status MemoryStore::check(const NewTurns& added) const {
  for (const auto& turn : added.turns) {
    if (by_id_.contains(turn->id)) return turn_exists();
  }
  if (added.conversation) {
    const auto it = sessions_.find(added.conversation->id);
    if (it == sessions_.end()) return no_session(added.conversation->id);
    if (auto status = check(it->second, *added.conversation); !status.ok()) return status;
  }
  return added.use == SessionUse::kExisting ? room_for_turns(added.turns.front()->session_id)
                                            : Status();
}

Status MemoryStore::room_for_created(const std::string& owner) const {
  if (!created_bytes_.full(owner)) return {};
  return full("bytes of sessions", limits_.owners, limits_.bytes);
}

// Whether the session is there is for others to say.
Status MemoryStore::room_for_turns(const std::string& session_id) const {
  const auto it = sessions_.find(session_id);
  return it == sessions_.end() ? Status() : room_for_created(it->second.info.spec->owner);
}

Task<Status> MemoryStore::takes_turns(std::string session_id, SessionUse use) {
  std::lock_guard lock(mutex_);
  if (use == SessionUse::kExisting) co_return room_for_turns(session_id);
  const auto it = sessions_.find(session_id);
  if (it == sessions_.end()) co_return Status();
  co_return check_implicit(it->second.info, limits_.implicit_session_bytes);
}

Task<Status> MemoryStore::probe() {
  co_return Status();
}

// The session of the turns, made where it is theirs to make.
Result<MemoryStore::Session*> MemoryStore::open(const NewTurns& added) {
  const Turn& turn = *added.turns.front();
  const auto it = sessions_.find(turn.session_id);
  // A parent that is gone took its session with it; another may have its name since.
  const bool orphan = turn.parent && !by_id_.contains(turn.parent->id);
  if (it != sessions_.end() && !orphan) return &it->second;
  if (added.use == SessionUse::kExisting || turn.parent) return no_session(turn.session_id);
  return &insert(implicit_spec(added), true);
}

TurnPtr MemoryStore::add(Session& session, std::unique_ptr<Turn> turn) {
  std::optional<std::uint64_t> goes_on;
  if (turn->parent && session.continued.insert(turn->parent->id).second)
    goes_on = turn->parent->branch;
  const std::uint64_t before = session.info.bytes;
  enter(session.info, *turn, goes_on);
  hold(session, session.info.bytes - before + own_root_footprint(*turn));
  if (session.info.implicit) {
    const std::string& owner = session.info.spec->owner;
    implicit_by_commit_.erase({owner, session.last_commit});
    session.last_commit = ++commits_;
    implicit_by_commit_.emplace(std::pair(owner, session.last_commit), turn->session_id);
  }
  TurnPtr recorded(std::move(turn));
  session.turns.push_back(recorded);
  index_[recorded->digest].emplace(std::pair(session.info.number, recorded->seq), recorded);
  newest_[recorded->root_digest] = recorded;
  by_id_.emplace(recorded->id, recorded);
  return recorded;
}

void MemoryStore::keep(Session& session, std::unique_ptr<StoredResponse> response) {
  hold(session, footprint(*response));
  session.responses.insert(response->id);
  const std::string id = response->id;
  responses_[id] = std::move(response);
}

Task<Result<StoredResponsePtr>> MemoryStore::response(std::string id) {
  std::lock_guard lock(mutex_);
  const auto it = responses_.find(id);
  co_return it == responses_.end() ? StoredResponsePtr() : it->second;
}

Task<Result<bool>> MemoryStore::delete_response(std::string id) {
  std::vector<TurnPtr> dropped;  // freed outside the lock
  std::lock_guard lock(mutex_);
  const auto it = responses_.find(id);
  if (it == responses_.end()) co_return false;
  const auto session = sessions_.find(it->second->session_id);
  release(session->second, footprint(*it->second));
  session->second.responses.erase(id);
  ++session->second.info.version;
  responses_.erase(it);
  if (session->second.info.implicit && session->second.responses.empty()) erase(session, dropped);
  co_return true;
}

Task<Result<std::vector<TurnPtr>>> MemoryStore::find(std::span<const trajectory::Digest> digests) {
  std::vector<TurnPtr> found;
  std::lock_guard lock(mutex_);
  for (const auto& digest : digests) {
    if (found.size() >= trajectory::kMostFound) break;
    const auto it = index_.find(digest);
    if (it == index_.end()) continue;
    const auto& alike = it->second;
    std::size_t left = trajectory::kMostAlike;
    for (auto turn = alike.rbegin(); turn != alike.rend() && left > 0; ++turn, --left)
      found.push_back(turn->second);
  }
  co_return found;
}

Task<Result<std::vector<TurnPtr>>> MemoryStore::newest(const trajectory::Digest& root) {
  std::lock_guard lock(mutex_);
  const auto it = newest_.find(root);
  if (it == newest_.end()) co_return std::vector<TurnPtr>();
  // With another that shares its digest: whether there is a tie is for the caller to see.
  std::vector<TurnPtr> found{it->second};
  for (const auto& [place, turn] : index_.at(it->second->digest)) {
    if (found.size() == 2) break;
    if (turn != it->second) found.push_back(turn);
  }
  co_return found;
}

Task<Result<std::vector<TurnPtr>>> MemoryStore::by_ids(std::span<const std::uint64_t> ids) {
  std::vector<TurnPtr> found;
  std::lock_guard lock(mutex_);
  for (const auto id : ids) {
    const auto it = by_id_.find(id);
    if (it != by_id_.end()) found.push_back(it->second);
  }
  co_return found;
}

void MemoryStore::erase(Sessions::iterator it, std::vector<TurnPtr>& dropped) {
  Session& session = it->second;
  for (const auto& turn : session.turns) {
    by_id_.erase(turn->id);
    const auto last = newest_.find(turn->root_digest);
    // The one before is not looked for: without an answer here the caller asks by digests.
    if (last != newest_.end() && last->second == turn) newest_.erase(last);
    const auto entry = index_.find(turn->digest);
    if (entry == index_.end()) continue;
    entry->second.erase({session.info.number, turn->seq});
    if (entry->second.empty()) index_.erase(entry);
  }
  for (const auto& id : session.responses) responses_.erase(id);
  const SessionInfo& info = session.info;
  numbers_.erase({info.spec->owner, info.number});
  created_numbers_.erase({info.spec->owner, info.number});
  if (!info.spec->secret_hash.empty()) secrets_.erase(info.spec->secret_hash);
  if (info.implicit) {
    implicit_by_commit_.erase({info.spec->owner, session.last_commit});
    implicit_bytes_.remove(info.spec->owner, session.held);
  } else {
    created_.remove(info.spec->owner, 1);
    created_bytes_.remove(info.spec->owner, session.held);
  }
  dropped.insert(dropped.end(), std::make_move_iterator(session.turns.begin()),
                 std::make_move_iterator(session.turns.end()));
  sessions_.erase(it);
}

// Of the owner who has most; where that is `keep` alone, of the next one.
MemoryStore::Sessions::iterator MemoryStore::oldest_implicit(const std::string& keep) {
  const auto& owners = implicit_bytes_.by_size();
  for (auto owner = owners.rbegin(); owner != owners.rend(); ++owner) {
    const auto oldest = implicit_by_commit_.lower_bound({owner->second, 0});
    if (oldest != implicit_by_commit_.end() && oldest->first.first == owner->second &&
        oldest->second != keep)
      return sessions_.find(oldest->second);
  }
  return sessions_.end();
}

void MemoryStore::shrink(const std::string& keep, std::vector<TurnPtr>& dropped) {
  while (implicit_bytes_.total() > limits_.implicit_bytes) {
    const auto oldest = oldest_implicit(keep);
    if (oldest == sessions_.end()) return;  // all that is left has just been committed to
    erase(oldest, dropped);
  }
}

std::string MemoryStore::dump() const {
  std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [id, session] : sessions_) {
    append_dump(out, session.info);
    for (const auto& turn : session.turns) append_dump(out, *turn);
    if (session.conversation) {
      append_dump(out, session.conversation->state);
      for (const auto& [seq, item] : session.conversation->items) append_dump(out, *item);
    }
    const std::set<std::string> ordered(session.responses.begin(), session.responses.end());
    for (const auto& response : ordered) append_dump(out, *responses_.at(response));
  }
  return out;
}

}  // namespace verbatim::store
