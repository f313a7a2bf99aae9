#include "store/sqlite/schema.h"

namespace verbatim::store::sqlite {

using base::ErrorKind;
using base::Result;
using base::Status;

namespace {

struct Step {
  int to;
  const char* sql;
};

// `turn` has the shape of the tree and is kept in order of sessions, `body` has the bulk
// (turn_codec.h) in order of commits: so a commit touches few pages, and neighbours share them.
// `root` is what the turns of a root share, once for all sessions with the same; `root_use` says
// whose, so that it leaves with the last of them. A session's `newest` is the body of the turn it
// committed last, `disk` the bytes of its bodies and of the roots it uses: by these sessions of
// stateless chat are dropped. Numbers of sessions and roots are never used again: caches know them
// by these.
constexpr Step kSteps[] = {
    {1, R"(
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES('probe', 0);
CREATE TABLE session(
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
  options TEXT NOT NULL, metadata TEXT NOT NULL, secret_hash TEXT NOT NULL,
  created_ms INTEGER NOT NULL, implicit INTEGER NOT NULL, version INTEGER NOT NULL,
  turns INTEGER NOT NULL, tokens INTEGER NOT NULL, bytes INTEGER NOT NULL, used_ms INTEGER NOT NULL,
  disk INTEGER NOT NULL, newest INTEGER NOT NULL);
CREATE INDEX session_owner ON session(owner, number);
CREATE UNIQUE INDEX session_secret ON session(secret_hash) WHERE secret_hash <> '';
CREATE INDEX implicit_session ON session(newest) WHERE implicit = 1;
CREATE TABLE root(number INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE,
  bytes BLOB NOT NULL);
CREATE TABLE root_use(root INTEGER NOT NULL, session INTEGER NOT NULL,
  PRIMARY KEY(root, session)) WITHOUT ROWID;
CREATE TABLE turn(
  session INTEGER NOT NULL, seq INTEGER NOT NULL, parent INTEGER NOT NULL, id INTEGER NOT NULL,
  branch INTEGER NOT NULL, root INTEGER NOT NULL, digest BLOB NOT NULL, body INTEGER NOT NULL,
  PRIMARY KEY(session, seq)) WITHOUT ROWID;
CREATE UNIQUE INDEX turn_id ON turn(id);
CREATE INDEX turn_digest ON turn(digest);
CREATE TABLE body(number INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
)"},
    // Lists of created sessions pass over no implicit ones; and these leave owner by owner.
    {2, R"(
CREATE INDEX created_session ON session(owner, number) WHERE implicit = 0;
DROP INDEX implicit_session;
CREATE INDEX implicit_session ON session(owner, newest) WHERE implicit = 1;
)"},
    // Responses are found by their ids, and leave with their session.
    {3, R"(
CREATE TABLE response(id TEXT NOT NULL UNIQUE, session INTEGER NOT NULL, turn INTEGER NOT NULL,
  instructed INTEGER NOT NULL, created_ms INTEGER NOT NULL, body BLOB NOT NULL,
  input BLOB NOT NULL);
CREATE INDEX response_session ON response(session);
)"},
    // Whether a turn has a child stands in its row, which lies beside those of its session: an
    // index of parents would be one more page to write with each commit.
    {4, R"(
ALTER TABLE turn ADD COLUMN continued INTEGER NOT NULL DEFAULT 0;
UPDATE turn SET continued = 1
  WHERE (session, seq) IN (SELECT session, parent FROM turn WHERE parent <> 0);
)"},
    // Sessions that are gone and of which others are to hear: see CommitLog::Ended.
    {5, R"(
CREATE TABLE ended(number INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL,
  turns INTEGER NOT NULL, why INTEGER NOT NULL, at_ms INTEGER NOT NULL);
)"},
    // Conversations are parts of their sessions, and leave with them.
    {6, R"(
CREATE TABLE conversation(session INTEGER PRIMARY KEY, metadata TEXT NOT NULL,
  version INTEGER NOT NULL, items INTEGER NOT NULL, bytes INTEGER NOT NULL, last INTEGER NOT NULL,
  turn INTEGER NOT NULL, answered INTEGER NOT NULL, instructed INTEGER NOT NULL,
  carried TEXT NOT NULL);
CREATE TABLE conversation_item(session INTEGER NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL,
  body BLOB NOT NULL);
CREATE UNIQUE INDEX conversation_item_seq ON conversation_item(session, seq);
CREATE UNIQUE INDEX conversation_item_id ON conversation_item(session, id);
)"},
};
static_assert(std::size(kSteps) == kSchemaVersion);

Status take_step(Connection& connection, const Step& step, base::Random& random) {
  std::string sql = step.sql;
  if (step.to == 1)
    sql += "PRAGMA application_id = " + std::to_string(kApplicationId) +
           "; INSERT INTO meta VALUES('key', '" + base::new_hex_id(random) + "');";
  sql += "PRAGMA user_version = " + std::to_string(step.to) + ";";
  if (auto status = connection.run("BEGIN IMMEDIATE"); !status.ok()) return status;
  auto status = connection.run(sql.c_str());
  if (status.ok()) status = connection.run("COMMIT");
  if (!status.ok() && connection.in_transaction()) (void)connection.run("ROLLBACK");
  return status;
}

}  // namespace

Result<int> schema_version(Connection& connection, const std::string& path) {
  const auto application = connection.integer("PRAGMA application_id");
  if (!application) return application.error();
  const auto version = connection.integer("PRAGMA user_version");
  if (!version) return version.error();
  if (*application == 0 && *version == 0) {
    const auto tables = connection.integer("SELECT count(*) FROM sqlite_schema");
    if (!tables) return tables.error();
    if (*tables == 0) return 0;
  }
  if (*application != kApplicationId)
    return base::error(ErrorKind::kUnsupported,
                       path + " is the database of another program; name another file");
  if (*version > kSchemaVersion)
    return base::error(ErrorKind::kUnsupported,
                       path + " has schema version " + std::to_string(*version) +
                           ", this verbatim knows versions up to " +
                           std::to_string(kSchemaVersion) +
                           "; use the newer verbatim that wrote it, or name another file");
  return static_cast<int>(*version);
}

Status migrate(Connection& connection, int from, base::Random& random) {
  for (const auto& step : kSteps) {
    if (step.to <= from) continue;
    if (auto status = take_step(connection, step, random); !status.ok()) return status;
  }
  return {};
}

Result<std::string> read_key(Connection& connection) {
  auto statement = connection.prepare("SELECT value FROM meta WHERE name = 'key'");
  if (!statement) return std::move(statement).error();
  const auto row = statement->step();
  if (!row) return row.error();
  std::string key(*row ? statement->bytes(0) : "");
  if (key.size() == 32) return key;
  return base::error(ErrorKind::kInternal, "the store's key: found " + std::to_string(key.size()) +
                                               " characters, expected 32; the file is damaged");
}

}  // namespace verbatim::store::sqlite
