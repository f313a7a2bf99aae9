#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/owner_bytes.h"
#include "store/sqlite/commit_log.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/conversation_rows.h"
#include "store/sqlite/path_cache.h"
#include "store/sqlite/response_rows.h"
#include "store/sqlite/session_row.h"
#include "store/sqlite/turn_rows.h"
#include "store/store.h"

namespace verbatim::store::sqlite {

// Turns on their way to disk. `bodies` and `root_bytes` are made before they are queued, on the
// thread that commits them.
struct PreparedTurns {
  NewTurns added;
  std::vector<std::string> bodies;
  std::string root_bytes;  // empty: the root is that of their parent
  std::string root_hash;
};

// What changes the tables, one change after the other within a transaction that the caller opens.
// Two kinds of failure: the Status says that the disk failed, and the transaction must be given up;
// what a call reports in `result` it has noticed before it changed anything. Writer's thread only.
class Tables {
 public:
  struct Limits {
    // Bytes of the bodies and roots of sessions of stateless chat, over which, of the owner who has
    // most, the one that committed longest ago goes.
    std::uint64_t implicit_bytes = 0;
    std::uint64_t owner_sessions = 0;  // created by one owner; 0: as many as there may be
    // Ended sessions are kept until their number is here. Null: none is.
    const EndedNoted* ended = nullptr;
  };
  // `cache` saves reading what sessions were made with.
  static base::Result<Tables> of(Connection& connection, PathCache& cache, Limits limits);

  using Change = PathCache::Change;
  using ChangeResult = std::optional<base::Result<Change>>;
  // kConflict: id or secret are taken. kInvalidRequest: the owner has as many as it may have.
  base::Status create(const std::shared_ptr<const SessionSpec>& spec, ChangeResult& result);
  // kNotFound. `now_ms`: when it ends.
  base::Status erase(const std::string& id, std::int64_t now_ms,
                     std::optional<base::Status>& result);
  // erase() of one that was last used before `before_ms`; false: it is gone, or was used since.
  base::Status expire(const std::string& id, std::int64_t before_ms, std::int64_t now_ms,
                      std::optional<bool>& result);
  // Gives the turns their seqs and branches, and leaves them in the change. kNotFound when session
  // or parent are gone, kConflict when a turn is there already.
  base::Status add(PreparedTurns& prepared, ChangeResult& result);
  // Erases a response; with the last of an implicit session all of it. What is left of the session
  // is in the change; none: it is gone.
  struct ErasedResponse {
    bool found = false;
    std::string session;           // its id
    std::optional<Change> change;  // absent: the session is gone
  };
  base::Status erase_response(const std::string& id, ErasedResponse& erased);
  // create() of a session with its conversation.
  base::Status create_conversation(const std::shared_ptr<const SessionSpec>& spec,
                                   const ConversationChange& first, ChangeResult& result);
  // The errors of Store::change_conversation(); with success the session as the change left it.
  struct ConversationResult {
    std::optional<base::Result<Conversation>> conversation;
    std::optional<Change> change;
  };
  base::Status change_conversation(const ConversationChange& change, ConversationResult& result);
  // Drops sessions of stateless chat that are too much, but not `keep`. Their ids.
  base::Status shrink(const std::string& keep, std::vector<std::string>& dropped);
  // A write that nobody sees.
  base::Status touch();
  // The transaction was given up, or committed.
  void given_up();
  void committed() { counted_.clear(); }

 private:
  struct Parent {
    std::uint64_t branch = 0;
    std::int64_t root = 0;
    bool continued = false;
  };
  struct Counted {
    std::string owner;
    std::uint64_t bytes = 0;
    bool added = false;
  };
  Tables(Connection& connection, PathCache& cache) : connection_(&connection), cache_(&cache) {}
  base::Status prepare();
  base::Status created_by(const std::string& owner, std::uint64_t*& count);
  base::Status find_session(const std::string& id, std::optional<SessionRow>& found);
  base::Status insert_session(const std::shared_ptr<const SessionSpec>& spec, bool implicit,
                              SessionRow& made);
  base::Status update_session(const SessionRow& session);
  base::Status erase_session(const SessionRow& session);
  base::Status note_end(const SessionRow& session, CommitLog::Ended::Why why, std::int64_t now_ms);
  base::Status erase_unused_roots(std::int64_t session);
  // Numbers of commits are never used again, see commit_log.h: where the last one's body is gone,
  // `meta` keeps its number.
  base::Status note_last_commit();
  base::Status find_parent(std::uint64_t session, const Turn& parent, std::optional<Parent>& found);
  base::Status find_root(const PreparedTurns& prepared, SessionRow& session, std::int64_t& root);
  base::Status find_place(const NewTurns& added, std::optional<SessionRow>& session,
                          std::optional<Parent>& parent);
  base::Status insert_turns(PreparedTurns& prepared, SessionRow& session,
                            std::optional<Parent>& parent, Change& change);
  base::Status insert_turn(const Turn& turn, std::uint64_t session, std::int64_t root,
                           const std::string& body);
  // Of the conversation of a session whose row the caller writes.
  base::Status advance(const ConversationChange& change, SessionRow& session,
                       std::optional<base::Error>& refused);
  base::Status check(const ConversationChange& change, const SessionRow* session,
                     const Conversation& state, std::optional<base::Error>& refused);
  base::Status write(const ConversationChange& change, SessionRow& session, Conversation& state);
  base::Status find_free_id(std::uint64_t session, ConversationItem& item);
  base::Status use_session(const SessionRow& session);
  void count(Counted counted);
  void grow(SessionRow& session, std::uint64_t bytes);
  base::Status oldest_implicit(const std::string& keep, std::string& oldest);
  // Is there a row for what was bound?
  static base::Status any(Use& query, bool& found);
  base::Status taken(const NewTurns& added, bool& taken);

  Connection* connection_;
  PathCache* cache_;
  Limits limits_;
  OwnerBytes implicit_bytes_;
  std::vector<Counted> counted_;  // since the last commit
  // Sessions by owner, of those that were asked for since a transaction was given up.
  std::unordered_map<std::string, std::uint64_t> created_by_;
  std::int64_t last_commit_ = 0;   // number of the body that was written last
  std::int64_t noted_commit_ = 0;  // in `meta`, as far as is known
  TurnRows rows_;
  ResponseRows responses_;
  ConversationRows conversations_;
  Statement find_session_, find_session_id_, find_spec_, find_secret_, count_created_,
      insert_session_, update_session_;
  Statement shrink_session_, use_session_, erase_session_, oldest_implicit_;
  Statement find_parent_, find_id_, same_digest_;
  Statement roots_of_, unuse_root_, root_used_, erase_root_;
  Statement erase_bodies_, erase_turns_, last_body_, note_commit_;
  Statement note_end_, forget_ends_;
};

}  // namespace verbatim::store::sqlite
