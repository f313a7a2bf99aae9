#pragma once

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/store.h"

namespace verbatim::store::sqlite {

// What of the store is in memory: sessions that were used last, each with the turns of it that were
// needed. Over `limit` bytes the session used longest ago leaves, whole; its turns live on while
// somebody holds them. Never the truth: what is not here is on disk. Thread-safe.
class PathCache {
 public:
  explicit PathCache(std::size_t limit) : limit_(limit) {}

  // A session as its last change left it; only changes of this process tell.
  std::optional<SessionInfo> info(const std::string& id);
  std::optional<SessionInfo> info_of_secret(const std::string& secret_hash);
  std::shared_ptr<const SessionSpec> spec(std::uint64_t session);
  TurnPtr turn(std::uint64_t session, std::uint64_t seq);
  TurnPtr turn_with_id(std::uint64_t id);
  // The turn of a session committed last; absent: not known here.
  std::optional<TurnPtr> last_turn(const std::string& id);
  // The turn committed last below a root, where it is known and no other shares its digest.
  TurnPtr newest(const trajectory::Digest& root);

  struct Added {
    TurnPtr turn;
    bool alone = false;  // no turn before it has its digest
  };
  struct Change {
    SessionInfo info;
    std::vector<Added> turns;  // none: the session was created
  };
  // Behind the commit of a change: the session moves to the front.
  void committed(const Change& change);
  void deleted(const std::string& id);

  // Turns that were read from disk, where no session was deleted since `deletions` was asked for
  // (before the reading): else they may be those of a session that is gone.
  [[nodiscard]] std::uint64_t deletions();
  void add(std::uint64_t session, const std::vector<TurnPtr>& turns, std::uint64_t deletions);

  [[nodiscard]] std::size_t bytes();

 private:
  struct Entry {
    std::uint64_t session = 0;
    std::optional<SessionInfo> info;
    std::map<std::uint64_t, TurnPtr> turns;  // by seq
    std::vector<trajectory::Digest> roots;   // those in newest_
    std::size_t bytes = 0;
    std::list<std::string>::iterator used;
  };
  using Entries = std::unordered_map<std::string, Entry>;
  using Dropped = std::vector<std::map<std::uint64_t, TurnPtr>>;

  Entry* find(std::uint64_t session);
  Entry& use(const std::string& id, std::uint64_t session);
  void insert(Entry& entry, const TurnPtr& turn);
  void count(Entry& entry, std::size_t bytes);
  void set_newest(Entry& entry, const Added& added);
  void erase(Entries::iterator it, Dropped& dropped);
  void shrink(Dropped& dropped);

  const std::size_t limit_;
  std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::uint64_t, Entry*> by_number_;
  std::unordered_map<std::string, std::string> secrets_;  // to session ids
  std::unordered_map<std::uint64_t, TurnPtr> by_id_;
  std::unordered_map<trajectory::Digest, TurnPtr, trajectory::DigestHash> newest_;
  std::list<std::string> used_;  // newest first
  std::size_t bytes_ = 0;
  std::uint64_t deletions_ = 0;
};

}  // namespace verbatim::store::sqlite
