#include "store/sqlite/path_cache.h"

#include <algorithm>

#include "store/rules.h"

namespace verbatim::store::sqlite {

namespace {
// What an entry holds beside its turns, about, and what a turn's places in maps take.
constexpr std::size_t kEntryBytes = 500;
constexpr std::size_t kPlaceBytes = 150;
}  // namespace

std::optional<SessionInfo> PathCache::info(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto it = entries_.find(id);
  return it == entries_.end() ? std::nullopt : it->second.info;
}

std::optional<SessionInfo> PathCache::info_of_secret(const std::string& secret_hash) {
  std::lock_guard lock(mutex_);
  const auto it = secrets_.find(secret_hash);
  return it == secrets_.end() ? std::nullopt : entries_.at(it->second).info;
}

std::shared_ptr<const SessionSpec> PathCache::spec(std::uint64_t session) {
  std::lock_guard lock(mutex_);
  const Entry* entry = find(session);
  return entry != nullptr && entry->info ? entry->info->spec : nullptr;
}

TurnPtr PathCache::turn(std::uint64_t session, std::uint64_t seq) {
  std::lock_guard lock(mutex_);
  const Entry* entry = find(session);
  if (entry == nullptr) return nullptr;
  const auto it = entry->turns.find(seq);
  return it == entry->turns.end() ? nullptr : it->second;
}

TurnPtr PathCache::turn_with_id(std::uint64_t id) {
  std::lock_guard lock(mutex_);
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

std::optional<TurnPtr> PathCache::last_turn(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto it = entries_.find(id);
  if (it == entries_.end() || !it->second.info) return std::nullopt;
  const auto& entry = it->second;
  if (entry.info->turns == 0) return TurnPtr();
  const auto last = entry.turns.find(entry.info->turns);
  if (last == entry.turns.end()) return std::nullopt;
  return last->second;
}

TurnPtr PathCache::newest(const trajectory::Digest& root) {
  std::lock_guard lock(mutex_);
  const auto it = newest_.find(root);
  return it == newest_.end() ? nullptr : it->second;
}

void PathCache::committed(const Change& change) {
  Dropped dropped;  // freed outside the lock
  std::lock_guard lock(mutex_);
  const auto& spec = *change.info.spec;
  Entry& entry = use(spec.id, change.info.number);
  if (!entry.info) count(entry, store::footprint(spec));
  entry.info = change.info;
  if (!spec.secret_hash.empty()) secrets_[spec.secret_hash] = spec.id;
  for (const auto& added : change.turns) {
    insert(entry, added.turn);
    set_newest(entry, added);
  }
  shrink(dropped);
}

void PathCache::set_newest(Entry& entry, const Added& added) {
  const auto& root = added.turn->root_digest;
  newest_.erase(root);
  if (added.alone) newest_.emplace(root, added.turn);
  const bool noted = std::find(entry.roots.begin(), entry.roots.end(), root) != entry.roots.end();
  if (!noted) entry.roots.push_back(root);
}

void PathCache::deleted(const std::string& id) {
  Dropped dropped;
  std::lock_guard lock(mutex_);
  ++deletions_;
  const auto it = entries_.find(id);
  if (it != entries_.end()) erase(it, dropped);
}

std::uint64_t PathCache::deletions() {
  std::lock_guard lock(mutex_);
  return deletions_;
}

void PathCache::add(std::uint64_t session, const std::vector<TurnPtr>& turns,
                    std::uint64_t deletions) {
  if (turns.empty()) return;
  Dropped dropped;
  std::lock_guard lock(mutex_);
  if (deletions != deletions_) return;
  Entry& entry = use(turns.front()->session_id, session);
  for (const auto& turn : turns) insert(entry, turn);
  shrink(dropped);
}

std::size_t PathCache::bytes() {
  std::lock_guard lock(mutex_);
  return bytes_;
}

PathCache::Entry* PathCache::find(std::uint64_t session) {
  const auto it = by_number_.find(session);
  return it == by_number_.end() ? nullptr : it->second;
}

PathCache::Entry& PathCache::use(const std::string& id, std::uint64_t session) {
  const auto [it, fresh] = entries_.try_emplace(id);
  Entry& entry = it->second;
  if (fresh) {
    entry.session = session;
    entry.bytes = kEntryBytes + 2 * id.size();
    bytes_ += entry.bytes;
    by_number_[session] = &entry;
    used_.push_front(id);
    entry.used = used_.begin();
  }
  used_.splice(used_.begin(), used_, entry.used);
  return entry;
}

void PathCache::insert(Entry& entry, const TurnPtr& turn) {
  if (!entry.turns.emplace(turn->seq, turn).second) return;
  by_id_[turn->id] = turn;
  count(entry, footprint(*turn) + own_root_footprint(*turn) + kPlaceBytes);
}

void PathCache::count(Entry& entry, std::size_t bytes) {
  entry.bytes += bytes;
  bytes_ += bytes;
}

void PathCache::erase(Entries::iterator it, Dropped& dropped) {
  Entry& entry = it->second;
  for (const auto& root : entry.roots) {
    const auto newest = newest_.find(root);
    // Several sessions may have turns below one root (stateless chat): only its own leave.
    if (newest != newest_.end() && newest->second->session_id == it->first) newest_.erase(newest);
  }
  for (const auto& [seq, turn] : entry.turns) by_id_.erase(turn->id);
  if (entry.info) secrets_.erase(entry.info->spec->secret_hash);
  bytes_ -= entry.bytes;
  by_number_.erase(entry.session);
  used_.erase(entry.used);
  dropped.push_back(std::move(entry.turns));
  entries_.erase(it);
}

void PathCache::shrink(Dropped& dropped) {
  // The one in front has just been used.
  while (bytes_ > limit_ && used_.size() > 1) erase(entries_.find(used_.back()), dropped);
}

}  // namespace verbatim::store::sqlite
