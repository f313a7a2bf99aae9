#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "store/store.h"
#include "trajectory/digest.h"

namespace verbatim::store {

// Everything in memory, gone at exit. Sessions that were created stay until they are deleted.
// Implicit ones (stateless chat) are bounded: over `implicit_bytes` the one that committed longest
// ago goes first, whole.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::size_t implicit_bytes = std::size_t{256} << 20)
      : implicit_limit_(implicit_bytes) {}

  base::Task<base::Status> create_session(std::string id, std::int64_t now_ms) override;
  base::Task<base::Result<std::optional<SessionInfo>>> session(std::string id) override;
  base::Task<base::Status> delete_session(std::string id) override;
  base::Task<base::Result<std::vector<TurnPtr>>> turns(std::string session_id) override;
  base::Task<base::Result<TurnPtr>> commit(std::unique_ptr<Turn> turn, SessionUse use) override;
  base::Task<base::Result<std::vector<TurnPtr>>> find(
      std::span<const trajectory::Digest> digests) override;
  base::Task<base::Result<std::vector<TurnPtr>>> newest(const trajectory::Digest& root) override;
  [[nodiscard]] std::string dump() const override;

 private:
  struct Session {
    SessionInfo info;
    bool implicit = false;
    std::uint64_t last_commit = 0;
    std::size_t bytes = 0;
    std::vector<TurnPtr> turns;
    std::unordered_set<std::uint64_t> continued;  // turns that have a child
  };
  using Sessions = std::map<std::string, Session>;

  base::Result<TurnPtr> add(std::unique_ptr<Turn> turn, SessionUse use,
                            std::vector<TurnPtr>& dropped);
  void erase(Sessions::iterator it, std::vector<TurnPtr>& dropped);
  void shrink(const std::string& keep, std::vector<TurnPtr>& dropped);

  const std::size_t implicit_limit_;
  mutable std::mutex mutex_;
  Sessions sessions_;
  std::unordered_map<trajectory::Digest, std::vector<TurnPtr>, trajectory::DigestHash> index_;
  std::unordered_map<trajectory::Digest, TurnPtr, trajectory::DigestHash> newest_;  // by root
  std::map<std::uint64_t, std::string> implicit_by_commit_;
  std::uint64_t commits_ = 0;
  std::size_t implicit_bytes_ = 0;
};

}  // namespace verbatim::store
