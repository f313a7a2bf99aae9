#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "store/owner_bytes.h"
#include "store/owner_shares.h"
#include "store/store.h"
#include "trajectory/digest.h"

namespace verbatim::store {

struct MemoryLimits {
  // Sessions that were created: more are refused, since none of them may go without a word.
  std::size_t sessions = 1'000'000;
  // Bytes of all created sessions: more of them, and further turns, are refused.
  std::size_t bytes = std::size_t{4} << 30;
  // Bytes of implicit sessions: over it, of the owner who has most, the one that committed longest
  // ago goes first, whole.
  std::size_t implicit_bytes = std::size_t{256} << 20;
  // Created sessions of one owner; 0: as many as there may be.
  std::size_t owner_sessions = 0;
  // Who may come: what may be created is shared out among so many (owner_shares.h).
  std::size_t owners = 1;
  // Bytes of one of them, as SessionInfo counts them: more turns are refused.
  std::size_t implicit_session_bytes = std::size_t{32} << 20;
};

// Everything in memory, gone at exit. Sessions that were created stay until they are deleted.
class MemoryStore final : public Store {
 public:
  explicit MemoryStore(MemoryLimits limits = {})
      : limits_(limits),
        created_(limits.sessions, limits.owners),
        created_bytes_(limits.bytes, limits.owners) {}

  base::Task<base::Status> create_session(SessionSpec spec) override;
  base::Task<base::Result<std::optional<SessionInfo>>> session(std::string id) override;
  base::Task<base::Result<std::optional<SessionInfo>>> session_of_secret(
      std::string secret_hash) override;
  base::Task<base::Result<std::vector<SessionInfo>>> sessions(SessionQuery query) override;
  base::Task<base::Status> delete_session(std::string id) override;
  base::Task<base::Result<IdleSessions>> idle_sessions(IdleQuery query) override;
  base::Task<base::Result<bool>> expire_session(std::string id, std::int64_t before_ms) override;
  base::Task<base::Result<std::vector<TurnPtr>>> turns(std::string session_id) override;
  base::Task<base::Result<TurnPtr>> last_turn(std::string session_id) override;
  base::Task<base::Result<std::vector<TurnPtr>>> commit(NewTurns added) override;
  base::Task<base::Result<StoredResponsePtr>> response(std::string id) override;
  base::Task<base::Result<bool>> delete_response(std::string id) override;
  base::Task<base::Status> create_conversation(SessionSpec spec, ConversationChange first) override;
  base::Task<base::Result<std::optional<Conversation>>> conversation(std::string id) override;
  base::Task<base::Result<Conversation>> change_conversation(ConversationChange change) override;
  base::Task<base::Result<ConversationItems>> conversation_items(ItemQuery query) override;
  base::Task<base::Result<std::vector<TurnPtr>>> find(
      std::span<const trajectory::Digest> digests) override;
  base::Task<base::Result<std::vector<TurnPtr>>> newest(const trajectory::Digest& root) override;
  base::Task<base::Result<std::vector<TurnPtr>>> by_ids(
      std::span<const std::uint64_t> ids) override;
  base::Task<base::Status> takes_turns(std::string session_id, SessionUse use) override;
  base::Task<base::Status> probe() override;
  [[nodiscard]] std::string dump() const override;

 private:
  struct KeptConversation {
    Conversation state;
    std::map<std::uint64_t, ConversationItemPtr> items;   // by seq
    std::unordered_map<std::string, std::uint64_t> seqs;  // by id
  };
  struct Session {
    SessionInfo info;
    std::unique_ptr<KeptConversation> conversation;  // null: it has none
    std::size_t held = 0;  // bytes, with what it was made with and its roots
    std::uint64_t last_commit = 0;
    std::vector<TurnPtr> turns;
    std::unordered_set<std::uint64_t> continued;  // turns that have a child
    std::unordered_set<std::string> responses;
  };
  using Sessions = std::map<std::string, Session>;
  // Of an owner, in order of creation.
  using Numbers = std::map<std::pair<std::string, std::uint64_t>, const Session*>;

  [[nodiscard]] base::Status room_for_created(const std::string& owner) const;
  [[nodiscard]] base::Status room_for_turns(const std::string& session_id) const;
  [[nodiscard]] base::Status check(const NewTurns& added) const;
  base::Result<Session*> open(const NewTurns& added);
  Session& insert(std::shared_ptr<const SessionSpec> spec, bool implicit);
  TurnPtr add(Session& session, std::unique_ptr<Turn> turn);
  void keep(Session& session, std::unique_ptr<StoredResponse> response);
  base::Status room_for_session(const SessionSpec& spec) const;
  static base::Status check(const Session& session, const ConversationChange& change);
  // A change that was checked.
  void apply(Session& session, const ConversationChange& change);
  void erase(Sessions::iterator it, std::vector<TurnPtr>& dropped);
  void hold(Session& session, std::size_t bytes);
  void release(Session& session, std::size_t bytes);
  void shrink(const std::string& keep, std::vector<TurnPtr>& dropped);
  [[nodiscard]] Sessions::iterator oldest_implicit(const std::string& keep);

  const MemoryLimits limits_;
  mutable std::mutex mutex_;
  Sessions sessions_;
  Numbers numbers_, created_numbers_;                     // the latter without implicit ones
  std::unordered_map<std::string, std::string> secrets_;  // to session ids
  // By the number of their session and their own: those that a look-up brings first are last.
  using Alike = std::map<std::pair<std::uint64_t, std::uint64_t>, TurnPtr>;
  std::unordered_map<trajectory::Digest, Alike, trajectory::DigestHash> index_;
  std::unordered_map<trajectory::Digest, TurnPtr, trajectory::DigestHash> newest_;  // by root
  std::unordered_map<std::uint64_t, TurnPtr> by_id_;
  // By owner and last commit.
  std::map<std::pair<std::string, std::uint64_t>, std::string> implicit_by_commit_;
  std::unordered_map<std::string, StoredResponsePtr> responses_;
  std::uint64_t commits_ = 0;
  std::uint64_t last_number_ = 0;
  OwnerShares created_, created_bytes_;  // sessions not implicit, and what they hold
  OwnerBytes implicit_bytes_;
};

}  // namespace verbatim::store
