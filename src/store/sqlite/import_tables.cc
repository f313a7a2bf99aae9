#include "store/sqlite/import_tables.h"

#include <algorithm>

#include "base/sha256.h"
#include "store/sqlite/commit_log.h"
#include "store/sqlite/schema.h"

namespace verbatim::store::sqlite {

using base::Result;
using base::Status;

Status ImportTables::prepare() {
  if (auto status = rows_.prepare(connection_); !status.ok()) return status;
  if (auto status = responses_.prepare(connection_); !status.ok()) return status;
  if (auto status = reader_.prepare(connection_); !status.ok()) return status;
  return connection_.prepare({
      {&find_session_,
       "SELECT " VERBATIM_SESSION_COLUMNS ", " VERBATIM_SPEC_COLUMNS " FROM session WHERE id = ?"},
      {&find_secret_, "SELECT 1 FROM session WHERE secret_hash = ? AND secret_hash <> ''"},
      {&find_id_, "SELECT 1 FROM turn WHERE id = ?"},
      {&find_body_, "SELECT 1 FROM body WHERE number = ?"},
      {&find_turn_,
       "SELECT turn.seq, turn.parent, turn.id, turn.branch, turn.digest, body.bytes, root.bytes "
       "FROM turn JOIN body ON body.number = turn.body JOIN root ON root.number = turn.root "
       "WHERE turn.session = ? AND turn.seq = ?"},
      {&insert_session_, "INSERT INTO session(" VERBATIM_SPEC_COLUMNS
                         ", number, implicit, version, turns, tokens, bytes, used_ms, disk, newest)"
                         " VALUES(?, ?, ?, ?, ?, ?6, ?7, ?8, ?9, 0, 0, 0, ?6, 0, 0)"},
      {&update_session_,
       "UPDATE session SET turns = ?2, tokens = ?3, bytes = ?4, used_ms = ?5, disk = ?6, "
       "newest = ?7 WHERE number = ?1"},
      {&set_meta_,
       "INSERT INTO meta(name, value) VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value = "
       "excluded.value"},
      {&set_sequence_, "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'session'"},
      {&add_sequence_,
       "INSERT INTO sqlite_sequence(name, seq) SELECT 'session', 0 WHERE NOT EXISTS "
       "(SELECT 1 FROM sqlite_sequence WHERE name = 'session')"},
  });
}

Result<bool> ImportTables::any(Use& query) {
  return query->step();
}

Result<bool> ImportTables::empty() {
  const auto sessions = connection_.integer("SELECT count(*) FROM session");
  if (!sessions) return sessions.error();
  return *sessions == 0;
}

Result<std::string> ImportTables::key() {
  return read_key(connection_);
}

Status ImportTables::adopt(const StoreLine& store) {
  set_meta_.bind_text(1, "key");
  set_meta_.bind_text(2, store.key);
  if (auto status = set_meta_.run(); !status.ok()) return status;
  const auto before = last();
  if (!before) return before.error();
  set_meta_.bind_text(1, "commits");
  set_meta_.bind(2, stored(std::max(before->commit, store.commits)));
  if (auto status = set_meta_.run(); !status.ok()) return status;
  if (auto status = add_sequence_.run(); !status.ok()) return status;
  set_sequence_.bind(1, stored(store.sessions));
  return set_sequence_.run();
}

Result<ImportTables::Last> ImportTables::last() {
  const auto session = connection_.integer(kLastSession);
  if (!session) return session.error();
  const auto commit = connection_.integer(kLastCommit);
  if (!commit) return commit.error();
  return Last{unstored(*session), unstored(*commit)};
}

Result<std::optional<SessionRow>> ImportTables::session(const std::string& id) {
  Use find(find_session_);
  find->bind_text(1, id);
  const auto there = any(find);
  if (!there) return there.error();
  if (!*there) return std::optional<SessionRow>();
  SessionRow row = session_of(*find, 0);
  row.info.spec = spec_of(*find, 8);
  return std::optional(std::move(row));
}

Result<bool> ImportTables::secret_taken(const std::string& secret_hash) {
  Use find(find_secret_);
  find->bind_text(1, secret_hash);
  return any(find);
}

Result<bool> ImportTables::turn_taken(std::uint64_t id) {
  Use find(find_id_);
  find->bind(1, stored(id));
  return any(find);
}

Result<bool> ImportTables::commit_taken(std::uint64_t commit) {
  Use find(find_body_);
  find->bind(1, stored(commit));
  return any(find);
}

Result<std::optional<ImportTables::Stored>> ImportTables::turn(std::uint64_t session,
                                                               std::uint64_t seq) {
  Use find(find_turn_);
  find->bind(1, stored(session));
  find->bind(2, stored(seq));
  const auto there = any(find);
  if (!there) return there.error();
  if (!*there) return std::optional<Stored>();
  Stored found;
  found.turn.seq = unstored(find->integer(0));
  found.turn.parent = unstored(find->integer(1));
  found.turn.id = unstored(find->integer(2));
  found.turn.branch = unstored(find->integer(3));
  found.turn.digest = digest_of(find->bytes(4));
  found.turn.bytes = find->bytes(5);
  found.root = find->bytes(6);
  return std::optional(std::move(found));
}

Status ImportTables::insert(const SessionInfo& session) {
  const SessionSpec& spec = *session.spec;
  insert_session_.bind_text(1, spec.id);
  insert_session_.bind_text(2, spec.owner);
  insert_session_.bind_text(3, spec.options);
  insert_session_.bind_text(4, spec.metadata);
  insert_session_.bind_text(5, spec.secret_hash);
  insert_session_.bind(6, spec.created_ms);
  insert_session_.bind(7, stored(session.number));
  insert_session_.bind(8, session.implicit ? 1 : 0);
  insert_session_.bind(9, stored(session.version));
  return insert_session_.run();
}

Result<TurnRows::Root> ImportTables::use_root(std::uint64_t session, const std::string& bytes) {
  return rows_.use_root(base::sha256_hex(bytes), bytes, session);
}

Status ImportTables::insert(std::uint64_t session, std::int64_t root, const TurnLine& turn) {
  return rows_.insert(
      session,
      {turn.seq, turn.parent, turn.id, turn.branch, root, stored(turn.commit), turn.digest},
      turn.bytes);
}

Status ImportTables::update(const SessionInfo& session, std::uint64_t disk, std::uint64_t newest) {
  update_session_.bind(1, stored(session.number));
  update_session_.bind(2, stored(session.turns));
  update_session_.bind(3, stored(session.tokens));
  update_session_.bind(4, stored(session.bytes));
  update_session_.bind(5, session.last_used_ms);
  update_session_.bind(6, stored(disk));
  update_session_.bind(7, stored(newest));
  return update_session_.run();
}

}  // namespace verbatim::store::sqlite
