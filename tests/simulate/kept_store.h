#pragma once

#include <memory>

#include "base/files.h"
#include "base/sim/sim_executor.h"
#include "simulate/ledger.h"
#include "simulate/settings.h"
#include "store/memory_store.h"
#include "store/sqlite/database.h"
#include "store/store.h"
#include "store/testing/fault_vfs.h"

namespace verbatim::simulate {

// A store on disk as the disk has it: read at once, behind no cache. What reads of turns the checks
// ask for, and no more. While the disk is off it answers errors.
class DiskView final : public store::Store {
 public:
  base::Status open(const std::string& path, const std::string& vfs);
  void close();

  base::Task<base::Result<std::optional<store::SessionInfo>>> session(std::string id) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> turns(std::string session_id) override;
  [[nodiscard]] std::string dump() const override;

  base::Task<base::Status> create_session(store::SessionSpec spec) override;
  base::Task<base::Result<std::optional<store::SessionInfo>>> session_of_secret(
      std::string secret_hash) override;
  base::Task<base::Result<std::vector<store::SessionInfo>>> sessions(
      store::SessionQuery query) override;
  base::Task<base::Status> delete_session(std::string id) override;
  base::Task<base::Result<store::IdleSessions>> idle_sessions(store::IdleQuery query) override;
  base::Task<base::Result<bool>> expire_session(std::string id, std::int64_t before_ms) override;
  base::Task<base::Result<store::TurnPtr>> last_turn(std::string session_id) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> commit(store::NewTurns added) override;
  base::Task<base::Result<store::StoredResponsePtr>> response(std::string id) override;
  base::Task<base::Result<bool>> delete_response(std::string id) override;
  base::Task<base::Status> create_conversation(store::SessionSpec spec,
                                               store::ConversationChange first) override;
  base::Task<base::Result<std::optional<store::Conversation>>> conversation(
      std::string id) override;
  base::Task<base::Result<store::Conversation>> change_conversation(
      store::ConversationChange change) override;
  base::Task<base::Result<store::ConversationItems>> conversation_items(
      store::ItemQuery query) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> find(
      std::span<const trajectory::Digest> digests) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> by_ids(
      std::span<const std::uint64_t> ids) override;
  base::Task<base::Status> takes_turns(std::string session_id, store::SessionUse use) override;
  base::Task<base::Status> probe() override;

 private:
  std::unique_ptr<store::sqlite::Connection> connection_;
  std::unique_ptr<store::sqlite::Reader> reader_;
};

// The store of a world: in memory, or SQLite on a disk that fails and loses power.
class KeptStore {
 public:
  struct Setup {
    base::sim::SimExecutor& executor;
    base::Files& files;
    std::uint64_t seed = 0;
    std::size_t implicit_bytes = 0;
    bool on_disk = false;
    store::testing::VfsFaultOptions faults;
    Break broken = Break::kNone;
  };
  explicit KeptStore(const Setup& setup);

  [[nodiscard]] store::Store& store();
  // What is kept, for checks: looked at without waiting.
  [[nodiscard]] store::Store& view();
  // Null: in memory.
  [[nodiscard]] store::testing::FaultVfs* disk() { return setup_.on_disk ? &vfs_ : nullptr; }
  // Behind the end of all that used it: the power is back, what survived is opened.
  base::Status start_again();
  [[nodiscard]] store::sqlite::WriterStats stats() const;
  // On disk, while it is open.
  [[nodiscard]] base::Result<std::unique_ptr<store::CommitLog>> commit_log() {
    return database_->commit_log();
  }

 private:
  base::Status open();
  void close();

  Setup setup_;
  base::SeededRandom random_;
  store::MemoryStore memory_;
  store::testing::FaultVfs vfs_;
  std::unique_ptr<store::sqlite::Database> database_;
  std::unique_ptr<store::Store> on_disk_;
  DiskView view_;
  store::sqlite::WriterStats earlier_;
};

}  // namespace verbatim::simulate
