#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "store/conversation.h"
#include "trajectory/attach.h"
#include "trajectory/turn.h"

namespace verbatim::store {

using trajectory::Turn;
using trajectory::TurnPtr;

// What a session is made with; never changes. Texts are the gateway's: a store keeps them and reads
// none.
struct SessionSpec {
  SessionSpec() = default;
  SessionSpec(std::string name, std::int64_t now_ms) : id(std::move(name)), created_ms(now_ms) {}

  std::string id;           // unique among all owners
  std::string owner;        // empty: of a server without keys
  std::string options;      // canonical JSON object; empty: all as usual
  std::string metadata;     // JSON object, the client's own; empty: none
  std::string secret_hash;  // of the key that opens this session, unique; empty: none
  std::int64_t created_ms = 0;
};

struct SessionInfo {
  std::shared_ptr<const SessionSpec> spec;
  std::uint64_t number = 0;       // in order of creation, from 1; no session gets it again
  bool implicit = false;          // made by its first commit
  std::uint64_t version = 0;      // rises with every change, never falls
  std::uint64_t turns = 0;        // committed
  std::uint64_t tokens = 0;       // ids that its turns added, see trajectory::added_tokens()
  std::uint64_t bytes = 0;        // of its turns, see trajectory::footprint()
  std::int64_t last_used_ms = 0;  // of the last commit, or of the creation
};

// Which sessions to list.
struct SessionQuery {
  std::string owner;
  std::uint64_t after = 0;  // the number of the last one seen; 0: from the first one on
  std::size_t limit = 0;
  bool implicit = false;  // those that a first commit made, too
};

// Sessions that nothing was committed to lately.
struct IdleQuery {
  std::string after;           // the id behind which it goes on; empty: from the first
  std::int64_t before_ms = 0;  // last used before
  std::size_t limit = 0;       // sessions to look at
};
struct IdleSessions {
  std::vector<std::string> ids;
  std::string last;  // that was looked at; empty: there are no more
};

// Who opened the session a turn belongs to.
enum class SessionUse {
  kExisting,  // POST /sessions made it; a commit fails with kNotFound once it is deleted
  kImplicit,  // stateless chat, a session header: the first commit makes it
};

// A response that can be gone on from (POST /v1/responses): what of it no turn holds. Texts are the
// gateway's.
struct StoredResponse {
  std::string id;  // unique among all owners
  std::string owner;
  std::string session_id;   // of its turn; it goes with that session
  std::uint64_t turn = 0;   // its id
  bool instructed = false;  // the first message of its path is its request's `instructions`
  std::int64_t created_ms = 0;
  std::string body;   // the response object
  std::string input;  // what the request added: an array of items
};
using StoredResponsePtr = std::shared_ptr<const StoredResponse>;

// What a commit adds: the answers to one request, siblings, all of them or none.
struct NewTurns {
  NewTurns() = default;
  NewTurns(std::unique_ptr<Turn> turn, SessionUse session_use) : use(session_use) {
    turns.push_back(std::move(turn));
  }

  std::vector<std::unique_ptr<Turn>> turns;  // of one session, with one parent
  SessionUse use = SessionUse::kExisting;
  // What is kept of an answer of one turn beside it; may be null.
  std::unique_ptr<StoredResponse> response;
  // What becomes of the conversation they are in, that of their session; may be null.
  std::unique_ptr<ConversationChange> conversation;
  // kImplicit: what the first commit makes the session with. Null: with the turn's session id and
  // time alone.
  std::shared_ptr<const SessionSpec> spec;
};

// Keeps sessions and their turns. Asynchronous, and any call can fail with kUnavailable: nothing
// has changed then. Thread-safe. The one place where a conversation changes is commit(). Reading
// changes nothing, no time of use either.
class Store : public trajectory::NodeSource {
 public:
  // Errors: kConflict (id or secret are taken), kInvalidRequest (as many as an owner may have),
  // kUnavailable (also: as many as it keeps).
  virtual base::Task<base::Status> create_session(SessionSpec spec) = 0;
  virtual base::Task<base::Result<std::optional<SessionInfo>>> session(std::string id) = 0;
  virtual base::Task<base::Result<std::optional<SessionInfo>>> session_of_secret(
      std::string secret_hash) = 0;
  // In order of their numbers, at most `limit`.
  virtual base::Task<base::Result<std::vector<SessionInfo>>> sessions(SessionQuery query) = 0;
  // kNotFound when there is no such session. Its turns are gone when this returns.
  virtual base::Task<base::Status> delete_session(std::string id) = 0;
  // In order of their ids.
  virtual base::Task<base::Result<IdleSessions>> idle_sessions(IdleQuery query) = 0;
  // delete_session() of one that was last used before `before_ms`, seen in the same moment. False:
  // it is gone, or was used since.
  virtual base::Task<base::Result<bool>> expire_session(std::string id, std::int64_t before_ms) = 0;
  // Turns of a session in order of their commits; kNotFound.
  virtual base::Task<base::Result<std::vector<TurnPtr>>> turns(std::string session_id) = 0;
  // The turn of a session committed last; null where there is none, or no such session.
  virtual base::Task<base::Result<TurnPtr>> last_turn(std::string session_id) = 0;
  // Adds turns: all of them, or nothing. Gives each its `seq` and `branch`, joins it to its path
  // (trajectory::join_path), and returns them as recorded. After success they are attachable and
  // as durable as the store is. Errors: kNotFound (session or parent deleted meanwhile), kConflict
  // (a turn of this id exists; those of change_conversation()), kUnavailable.
  virtual base::Task<base::Result<std::vector<TurnPtr>>> commit(NewTurns added) = 0;

  // Null: there is none of this id.
  virtual base::Task<base::Result<StoredResponsePtr>> response(std::string id) = 0;
  // False: there was none. With the last response of an implicit session its turns go, too.
  virtual base::Task<base::Result<bool>> delete_response(std::string id) = 0;

  // create_session() of one that has a conversation, with its first items and its metadata.
  virtual base::Task<base::Status> create_conversation(SessionSpec spec,
                                                       ConversationChange first) = 0;
  // Nothing: there is none of this id.
  virtual base::Task<base::Result<std::optional<Conversation>>> conversation(std::string id) = 0;
  // The conversation behind the change, which counts as use of its session. Errors: kNotFound (it
  // is gone, or the item is), kConflict with code conversation_locked (another version),
  // kInvalidRequest (an item of this id is there), kUnavailable (also: no room).
  virtual base::Task<base::Result<Conversation>> change_conversation(ConversationChange change) = 0;
  // In order of their seqs. None where the conversation is gone.
  virtual base::Task<base::Result<ConversationItems>> conversation_items(ItemQuery query) = 0;

  // Would turns of a session be kept, as far as is known? Asked before an engine works for them.
  // Where the last write failed a small one is tried. kUnavailable says why not; kInvalidRequest:
  // the session is an implicit one and has as much as such a one may have.
  virtual base::Task<base::Status> takes_turns(std::string session_id, SessionUse use) = 0;
  // Tries a small write, at most one a second while they succeed: is this store ready?
  virtual base::Task<base::Status> probe() = 0;

  // All that is kept, as text: equal exactly when nothing changed. For tests and audits; excludes
  // times of use.
  [[nodiscard]] virtual std::string dump() const = 0;
};

}  // namespace verbatim::store
