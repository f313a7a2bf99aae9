// A store whose files are taken away while it is served: on the real file system, since that is
// whose trick it is to go on writing into a file that has no name any more.
#include <filesystem>

#include <gtest/gtest.h>

#include "base/sim/sim_worker.h"
#include "store/sqlite/sqlite_store.h"
#include "store/testing/full_turn.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::sqlite {
namespace {

using base::ErrorKind;
using testing::full_turn;
using testing::StoreStage;

class FileStage final : public StoreStage {
 public:
  FileStage() : StoreStage(1) {
    const auto random = base::system_random();
    folder_ = std::filesystem::temp_directory_path() / ("verbatim-store-" + new_hex_id(*random));
    std::filesystem::create_directories(folder_);
    const auto worker = [this] {
      return std::make_unique<base::sim::SimWorker>(executor, random_.next());
    };
    DatabaseOptions options;
    options.path = path("");
    auto opened =
        Database::open(*files_, random_, {worker(), worker(), worker()}, std::move(options));
    database_ = std::move(opened).value();
    store_ = std::make_unique<SqliteStore>(*database_, executor);
  }
  FileStage(const FileStage&) = delete;
  FileStage& operator=(const FileStage&) = delete;
  ~FileStage() override {
    store_ = nullptr;
    database_ = nullptr;
    std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] Store& store() override { return *store_; }
  [[nodiscard]] std::string path(const std::string& suffix) const {
    return (folder_ / "store.db").string() + suffix;
  }
  base::Result<std::vector<TurnPtr>> commit(TurnPtr parent) {
    NewTurns added(full_turn(random_, "s", std::move(parent)), SessionUse::kExisting);
    return run(store().commit(std::move(added)));
  }

 private:
  base::SeededRandom random_{1};
  std::filesystem::path folder_;
  std::unique_ptr<base::Files> files_ = base::system_files();
  std::unique_ptr<Database> database_;
  std::unique_ptr<Store> store_;
};

enum class Loss { kRemoved, kReplaced, kMoved };

class SqlitePlace : public ::testing::TestWithParam<std::tuple<const char*, Loss>> {};

TEST_P(SqlitePlace, nothing_is_acknowledged_that_no_file_of_the_store_keeps) {
  const auto& [suffix, loss] = GetParam();
  FileStage stage;
  ASSERT_TRUE(stage.run(stage.store().create_session(SessionSpec("s", 1))).ok());
  const auto first = stage.commit(nullptr);
  ASSERT_TRUE(first.ok());
  const std::string before = stage.store().dump();
  const std::string path = stage.path(suffix);
  std::filesystem::rename(path, path + ".away");
  if (loss == Loss::kReplaced) std::filesystem::copy_file(path + ".away", path);
  if (loss != Loss::kMoved) std::filesystem::remove(path + ".away");
  const auto refused = stage.commit(first->front());
  ASSERT_FALSE(refused.ok()) << "it was acknowledged, and is in no file";
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(refused.error().message.find(path + " was removed or replaced"), std::string::npos)
      << refused.error().message;
  EXPECT_FALSE(stage.run(stage.store().create_session(SessionSpec("t", 1))).ok());
  EXPECT_FALSE(stage.run(stage.store().delete_session("s")).ok());
  EXPECT_FALSE(stage.run(stage.store().takes_turns("s", SessionUse::kExisting)).ok());
  EXPECT_FALSE(stage.run(stage.store().probe()).ok());
  EXPECT_EQ(stage.store().dump(), before);
  if (loss != Loss::kMoved) return;
  std::filesystem::rename(path + ".away", path);
  EXPECT_TRUE(stage.run(stage.store().probe()).ok()) << "it is back";
  EXPECT_TRUE(stage.commit(first->front()).ok());
}

INSTANTIATE_TEST_SUITE_P(Files, SqlitePlace,
                         ::testing::Combine(::testing::Values("", "-wal", "-shm"),
                                            ::testing::Values(Loss::kRemoved, Loss::kReplaced,
                                                              Loss::kMoved)));

TEST(SqlitePlaceIdle,
     a_store_that_stands_idle_is_found_to_be_gone_when_it_is_asked_whether_it_is_ready) {
  FileStage stage;
  EXPECT_TRUE(stage.run(stage.store().probe()).ok());
  std::filesystem::remove(stage.path(""));
  stage.executor.run_for(std::chrono::seconds(2));
  EXPECT_FALSE(stage.run(stage.store().probe()).ok());
}

}  // namespace
}  // namespace verbatim::store::sqlite
