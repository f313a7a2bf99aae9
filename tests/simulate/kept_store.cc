#include "simulate/kept_store.h"

#include <cstdio>
#include <cstdlib>

#include "base/sim/sim_worker.h"
#include "store/sqlite/sqlite_store.h"

namespace verbatim::simulate {

using base::Result;
using base::Status;
using base::Task;
using store::sqlite::Connection;

namespace {

constexpr const char* kPath = "store/store.db";

base::Error not_asked() {
  return base::error(base::ErrorKind::kInternal, "the checks do not ask this of the disk");
}

base::Error off() {
  return base::error(base::ErrorKind::kUnavailable, "the disk is off");
}

void add(store::sqlite::WriterStats& to, const store::sqlite::WriterStats& more) {
  to.batches += more.batches;
  to.works += more.works;
  to.failed_batches += more.failed_batches;
  to.probes += more.probes;
}

}  // namespace

Status DiskView::open(const std::string& path, const std::string& vfs) {
  auto connection = Connection::to(path, Connection::Mode::kRead, vfs);
  if (!connection) return std::move(connection).error();
  connection_ = std::make_unique<Connection>(std::move(*connection));
  auto reader = store::sqlite::Reader::of(*connection_, nullptr);
  if (!reader) return std::move(reader).error();
  reader_ = std::move(*reader);
  return {};
}

void DiskView::close() {
  reader_ = nullptr;
  connection_ = nullptr;
}

Task<Result<std::optional<store::SessionInfo>>> DiskView::session(std::string id) {
  if (!reader_) co_return off();
  co_return reader_->session(id);
}

Task<Result<std::vector<store::TurnPtr>>> DiskView::turns(std::string session_id) {
  if (!reader_) co_return off();
  co_return reader_->turns(session_id);
}

std::string DiskView::dump() const {
  auto text = reader_ ? reader_->dump() : Result<std::string>(off());
  return text ? std::move(*text) : "unreadable: " + text.error().message;
}

Task<Status> DiskView::create_session(store::SessionSpec /*spec*/) {
  co_return not_asked();
}
Task<Result<std::optional<store::SessionInfo>>> DiskView::session_of_secret(std::string /*hash*/) {
  co_return not_asked();
}
Task<Result<std::vector<store::SessionInfo>>> DiskView::sessions(store::SessionQuery /*query*/) {
  co_return not_asked();
}
Task<Status> DiskView::delete_session(std::string /*id*/) {
  co_return not_asked();
}
Task<Result<store::IdleSessions>> DiskView::idle_sessions(store::IdleQuery /*query*/) {
  co_return not_asked();
}
Task<Result<bool>> DiskView::expire_session(std::string /*id*/, std::int64_t /*before_ms*/) {
  co_return not_asked();
}
Task<Result<store::TurnPtr>> DiskView::last_turn(std::string /*session_id*/) {
  co_return not_asked();
}
Task<Result<std::vector<store::TurnPtr>>> DiskView::commit(store::NewTurns /*added*/) {
  co_return not_asked();
}
Task<Result<std::vector<store::TurnPtr>>> DiskView::find(
    std::span<const trajectory::Digest> /*digests*/) {
  co_return not_asked();
}
Task<Result<std::vector<store::TurnPtr>>> DiskView::by_ids(std::span<const std::uint64_t> /*ids*/) {
  co_return not_asked();
}

Task<Result<store::StoredResponsePtr>> DiskView::response(std::string /*id*/) {
  co_return not_asked();
}

Task<Result<bool>> DiskView::delete_response(std::string /*id*/) {
  co_return not_asked();
}

Task<Status> DiskView::create_conversation(store::SessionSpec /*spec*/,
                                           store::ConversationChange /*first*/) {
  co_return not_asked();
}

Task<Result<std::optional<store::Conversation>>> DiskView::conversation(std::string /*id*/) {
  co_return not_asked();
}

Task<Result<store::Conversation>> DiskView::change_conversation(
    store::ConversationChange /*change*/) {
  co_return not_asked();
}

Task<Result<store::ConversationItems>> DiskView::conversation_items(store::ItemQuery /*query*/) {
  co_return not_asked();
}

Task<Status> DiskView::takes_turns(std::string /*session_id*/, store::SessionUse /*use*/) {
  co_return not_asked();
}
Task<Status> DiskView::probe() {
  co_return not_asked();
}

KeptStore::KeptStore(const Setup& setup)
    : setup_(setup),
      random_(setup.seed),
      memory_({.implicit_bytes = setup.implicit_bytes}),
      vfs_(setup.seed + 1, setup.faults) {
  if (!setup.on_disk) return;
  // A new file is made before faults begin.
  vfs_.options() = {};
  if (auto status = open(); !status.ok()) {
    std::fprintf(stderr, "simulate: a new store: %s\n", status.error().message.c_str());
    std::abort();
  }
  vfs_.set_drops_syncs(setup.broken == Break::kDroppedSync);
  vfs_.options() = setup.faults;
}

store::Store& KeptStore::store() {
  return setup_.on_disk ? *on_disk_ : memory_;
}

store::Store& KeptStore::view() {
  if (setup_.on_disk) return view_;
  return memory_;
}

Status KeptStore::open() {
  (void)setup_.files.make_directories("store");
  store::sqlite::DatabaseOptions options;
  options.path = kPath;
  options.vfs = vfs_.name();
  // So small that paths leave memory, and the log goes round.
  options.cache_bytes = std::size_t{256} << 10;
  options.implicit_bytes = setup_.implicit_bytes;
  options.keep_ended = true;
  options.writer.checkpoint_pages = 100;
  options.writer.hold_pages = 300;
  const auto worker = [this] {
    return std::make_unique<base::sim::SimWorker>(setup_.executor, random_.next());
  };
  auto opened = store::sqlite::Database::open(setup_.files, random_, {worker(), worker(), worker()},
                                              std::move(options));
  if (!opened) return std::move(opened).error();
  database_ = std::move(*opened);
  on_disk_ = std::make_unique<store::sqlite::SqliteStore>(*database_, setup_.executor);
  return view_.open(kPath, vfs_.name());
}

void KeptStore::close() {
  view_.close();
  on_disk_ = nullptr;
  if (database_) add(earlier_, database_->writer().stats());
  database_ = nullptr;
}

Status KeptStore::start_again() {
  close();
  vfs_.crash();
  vfs_.options() = {};
  auto status = open();
  vfs_.options() = setup_.faults;
  return status;
}

store::sqlite::WriterStats KeptStore::stats() const {
  auto stats = earlier_;
  if (database_) add(stats, database_->writer().stats());
  return stats;
}

}  // namespace verbatim::simulate
