#include "store/sqlite/connection.h"

#include <gtest/gtest.h>

#include "store/testing/fault_vfs.h"

namespace verbatim::store::sqlite {
namespace {

using testing::FaultVfs;

// Writes within a transaction until one fails, while a look-up is open, and goes on asking.
base::Status fill(Connection& connection) {
  auto look = connection.prepare("SELECT count(*) FROM t");
  EXPECT_TRUE(look.ok());
  EXPECT_TRUE(connection.run("BEGIN").ok());
  base::Status failed;
  for (int i = 0; i < 1000 && failed.ok(); ++i) {
    Use use(*look);
    EXPECT_TRUE(use->step().ok());
    failed = connection.run("INSERT INTO t(b) VALUES(randomblob(4000))");
  }
  if (connection.in_transaction()) {
    EXPECT_TRUE(connection.run("ROLLBACK").ok());
  }
  EXPECT_TRUE(look->step().ok());
  return failed;
}

Connection with_small_cache(FaultVfs& vfs) {
  auto connection = Connection::to("a.db", Connection::Mode::kCreate, vfs.name());
  // Pages leave memory within a transaction, so that its statements meet the disk.
  EXPECT_TRUE(connection
                  ->run("PRAGMA journal_mode = WAL; PRAGMA cache_size = 5; "
                        "CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)")
                  .ok());
  return std::move(*connection);
}

TEST(SqliteConnection, that_there_is_no_room_is_told_by_the_error_whatever_is_asked_next) {
  for (const auto no_room : {FaultVfs::NoRoom::kDisk, FaultVfs::NoRoom::kQuota}) {
    FaultVfs vfs(1);
    vfs.set_no_room(no_room);
    auto connection = with_small_cache(vfs);
    vfs.set_room(vfs.used() + 100'000);
    const auto failed = fill(connection);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().kind, base::ErrorKind::kUnavailable);
    EXPECT_TRUE(disk_full(failed.error())) << failed.error().message;
  }
}

TEST(SqliteConnection, a_disk_that_fails_is_not_called_full) {
  FaultVfs vfs(1);
  auto connection = with_small_cache(vfs);
  for (std::uint64_t i = 1; i <= 100; ++i) vfs.set_fault(vfs.points() + i, FaultVfs::At::kEio);
  const auto failed = fill(connection);
  ASSERT_FALSE(failed.ok());
  EXPECT_FALSE(disk_full(failed.error())) << failed.error().message;
}

}  // namespace
}  // namespace verbatim::store::sqlite
