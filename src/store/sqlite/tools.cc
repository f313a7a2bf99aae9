#include "store/sqlite/tools.h"

namespace verbatim::store::sqlite {

using base::Result;

namespace {

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
