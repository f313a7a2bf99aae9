#pragma once

#include "base/executor.h"
#include "store/sqlite/database.h"
#include "store/store.h"

namespace verbatim::store::sqlite {

// A store on disk, as the tasks of one executor use it: they are resumed there. One per executor,
// on a database that all share. A call that was acknowledged has been synced.
//
// Behind a write that failed, changes and takes_turns() answer kUnavailable until a write succeeds
// again; each of them has it tried. What is there can be looked at meanwhile.
class SqliteStore final : public Store {
 public:
  SqliteStore(Database& database, base::Executor& executor)
      : database_(database), executor_(executor) {}

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
  base::Task<base::Result<StoredResponsePtr>> response(std::string id) override;
  base::Task<base::Result<bool>> delete_response(std::string id) override;
  base::Task<base::Status> create_conversation(SessionSpec spec, ConversationChange first) override;
  base::Task<base::Result<std::optional<Conversation>>> conversation(std::string id) override;
  base::Task<base::Result<Conversation>> change_conversation(ConversationChange change) override;
  base::Task<base::Result<ConversationItems>> conversation_items(ItemQuery query) override;
  base::Task<base::Result<std::vector<TurnPtr>>> commit(NewTurns added) override;
  // Turns they name that are on their way to disk are waited for.
  base::Task<base::Result<std::vector<TurnPtr>>> find(
      std::span<const trajectory::Digest> digests) override;
  base::Task<base::Result<std::vector<TurnPtr>>> by_ids(
      std::span<const std::uint64_t> ids) override;
  base::Task<base::Result<std::vector<TurnPtr>>> newest(const trajectory::Digest& root) override;
  base::Task<base::Status> takes_turns(std::string session_id, SessionUse use) override;
  base::Task<base::Status> probe() override;
  [[nodiscard]] std::string dump() const override { return database_.dump(); }

 private:
  // Until the disk has taken what is queued, or refused it.
  base::Task<base::Status> settled();

  Database& database_;
  base::Executor& executor_;
  std::optional<base::MonoTime> probed_;
};

}  // namespace verbatim::store::sqlite
