#include "store/sqlite/held.h"

#include "store/sqlite/schema.h"

namespace verbatim::store::sqlite {

using base::ErrorKind;
using base::Result;

namespace {

Result<Held> open(const ToolTarget& target, Connection::Mode mode, base::Random* makes) {
  auto lock = lock_store(target.files, target.path, target.vfs);
  if (!lock) return std::move(lock).error();
  auto connection = Connection::to(target.path, mode, target.vfs);
  if (!connection) return std::move(connection).error();
  Held held{std::move(*lock), std::move(*connection)};
  const auto version = schema_version(held.connection, target.path);
  if (!version) return version.error();
  if (*version == 0 && makes != nullptr) {
    for (const char* sql : {"PRAGMA synchronous = EXTRA", "PRAGMA journal_mode = WAL"}) {
      if (auto status = held.connection.run(sql); !status.ok()) return std::move(status).error();
    }
    if (auto status = migrate(held.connection, 0, *makes); !status.ok())
      return std::move(status).error();
    return held;
  }
  if (*version != kSchemaVersion)
    return base::error(ErrorKind::kUnsupported,
                       target.path + " has schema version " + std::to_string(*version) +
                           ", expected " + std::to_string(kSchemaVersion) +
                           "; run: verbatim store migrate --store sqlite:" + target.path);
  return held;
}

}  // namespace

Result<Held> hold(const ToolTarget& target) {
  if (!target.files.exists(target.path) && target.vfs.empty())
    return base::error(
        ErrorKind::kNotFound,
        "there is no store at " + target.path + "; name it with --store sqlite:FILE or --data-dir");
  return open(target, Connection::Mode::kWrite, nullptr);
}

Result<Held> hold_or_make(const ToolTarget& target, base::Random& random) {
  return open(target, Connection::Mode::kCreate, &random);
}

}  // namespace verbatim::store::sqlite
