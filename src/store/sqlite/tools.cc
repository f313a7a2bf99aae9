#include "store/sqlite/tools.h"

#include "store/sqlite/schema.h"

namespace verbatim::store::sqlite {

using base::ErrorKind;
using base::Result;

namespace {

// A connection to a store of this version, and the lock that keeps others away.
struct Held {
  StoreLock lock;
  Connection connection;
};

Result<Held> hold(const ToolTarget& target) {
  if (!target.files.exists(target.path) && target.vfs.empty())
    return base::error(
        ErrorKind::kNotFound,
        "there is no store at " + target.path + "; name it with --store sqlite:FILE or --data-dir");
  auto lock = lock_store(target.files, target.path, target.vfs);
  if (!lock) return std::move(lock).error();
  auto connection = Connection::to(target.path, Connection::Mode::kWrite, target.vfs);
  if (!connection) return std::move(connection).error();
  Held held{std::move(*lock), std::move(*connection)};
  const auto version = schema_version(held.connection, target.path);
  if (!version) return version.error();
  if (*version != kSchemaVersion)
    return base::error(ErrorKind::kUnsupported,
                       target.path + " has schema version " + std::to_string(*version) +
                           ", expected " + std::to_string(kSchemaVersion) +
                           "; run: verbatim store migrate --store sqlite:" + target.path);
  return held;
}

Result<std::uint64_t> size_of(Connection& connection) {
  const auto pages = connection.integer("PRAGMA page_count");
  if (!pages) return pages.error();
  const auto size = connection.integer("PRAGMA page_size");
  if (!size) return size.error();
  return unstored(*pages * *size);
}

}  // namespace

Result<CheckReport> check_file(const ToolTarget& target, const Progress& progress) {
  auto held = hold(target);
  if (!held) return std::move(held).error();
  return check(held->connection, progress);
}

Result<Compacted> compact_file(const ToolTarget& target) {
  auto held = hold(target);
  if (!held) return std::move(held).error();
  Compacted compacted;
  const auto before = size_of(held->connection);
  if (!before) return before.error();
  for (const char* sql :
       {"PRAGMA synchronous = EXTRA", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"}) {
    if (auto status = held->connection.run(sql); !status.ok()) return std::move(status).error();
  }
  const auto after = size_of(held->connection);
  if (!after) return after.error();
  compacted.before = *before;
  compacted.after = *after;
  return compacted;
}

}  // namespace verbatim::store::sqlite
