#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/sqlite/connection.h"
#include "store/sqlite/conversation_rows.h"
#include "store/sqlite/path_cache.h"
#include "store/sqlite/response_rows.h"
#include "store/sqlite/session_row.h"
#include "store/sqlite/turn_rows.h"
#include "store/store.h"

namespace verbatim::store::sqlite {

// Reads what is on disk, each call as of one moment. Turns that are in the cache are not read
// again, so a turn is one object while it is in use. One thread at a time.
//
// What can't be read is kUnavailable; a row that is damaged is kInternal and names its session and
// turn.
class Reader {
 public:
  // `connection` is a reader's own and outlives it. Without a cache each turn is read from disk.
  static base::Result<std::unique_ptr<Reader>> of(Connection& connection, PathCache* cache);

  base::Result<std::optional<SessionInfo>> session(const std::string& id);
  base::Result<std::optional<SessionInfo>> session_of_secret(const std::string& secret_hash);
  base::Result<std::vector<SessionInfo>> sessions(const SessionQuery& query);
  base::Result<IdleSessions> idle_sessions(const IdleQuery& query);
  // Those of a session, in order of their commits. Leaves the cache as it is. kNotFound.
  base::Result<std::vector<TurnPtr>> turns(const std::string& id);
  base::Result<StoredResponsePtr> response(const std::string& id);
  base::Result<std::optional<Conversation>> conversation(const std::string& id) {
    return conversations_.read(id);
  }
  base::Result<ConversationItems> items(const ItemQuery& query);
  // These come with their paths, and the cache keeps them.
  base::Result<TurnPtr> last_turn(const std::string& session_id);
  base::Result<std::vector<TurnPtr>> find(const std::vector<trajectory::Digest>& digests);
  base::Result<std::vector<TurnPtr>> by_ids(const std::vector<std::uint64_t>& ids);
  base::Result<std::string> dump();
  // All sessions by their ids, each with what is kept of it.
  struct Parts {
    std::vector<TurnPtr> turns;
    std::vector<StoredResponsePtr> responses;
    std::optional<Conversation> conversation;
    ConversationItems items;
  };
  using Visit = std::function<base::Status(const SessionInfo& info, const Parts& parts)>;
  base::Status each_session(const Visit& visit);

 private:
  using Row = TurnRow;
  using RootPtr = std::shared_ptr<const trajectory::RootInfo>;

  Reader(Connection& connection, PathCache* cache) : connection_(connection), cache_(cache) {}
  base::Status prepare();
  void note_deletions();
  template <class F>
  auto at_one_moment(F&& read) -> decltype(read());
  static SessionInfo info_of(const Statement& statement);
  base::Result<std::optional<SessionInfo>> find_session(Statement& query, std::string_view value);
  base::Result<std::vector<TurnPtr>> read_turns(const SessionInfo& session);
  base::Result<Parts> read_parts(const SessionInfo& session);
  // The turns of a query's rows (session, seq, session's id), the one behind the other.
  base::Status load_rows(Use& rows, std::vector<TurnPtr>& found);
  // With all above it that are not in the cache.
  base::Result<TurnPtr> load(std::uint64_t session, const std::string& id, std::uint64_t seq);
  base::Result<Row> row(std::uint64_t session, std::uint64_t seq);
  base::Result<TurnPtr> make(const std::string& session_id, const Row& row, TurnPtr parent);
  base::Result<RootPtr> root(std::int64_t number);
  [[nodiscard]] TurnPtr cached(std::uint64_t session, std::uint64_t seq) const {
    return cache_ == nullptr ? nullptr : cache_->turn(session, seq);
  }
  static Row row_of(const Statement& statement);

  Connection& connection_;
  PathCache* cache_;
  std::uint64_t deletions_ = 0;  // before the moment that is read
  ResponseReader responses_;
  ConversationReader conversations_;
  std::unordered_map<std::int64_t, std::weak_ptr<const trajectory::RootInfo>> roots_;
  Statement find_session_, find_secret_, list_, list_created_, idle_, next_session_, rows_of_, row_;
  Statement by_digest_, by_id_, last_turn_, body_, root_;
};

}  // namespace verbatim::store::sqlite
