#include "store/sqlite/tables.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/sha256.h"
#include "store/sqlite/turn_codec.h"
#include "store/testing/full_turn.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::sqlite {
namespace {

using testing::full_turn;
using testing::SqliteStage;

PreparedTurns prepared(std::unique_ptr<Turn> turn) {
  join_path(*turn);
  PreparedTurns made;
  made.bodies.push_back(encode(*turn));
  if (!turn->parent) {
    made.root_bytes = encode(*turn->root);
    made.root_hash = base::sha256_hex(made.root_bytes);
  }
  made.added = NewTurns(std::move(turn), SessionUse::kExisting);
  return made;
}

// The tables of a file with one session, within a transaction.
class TablesScene {
 public:
  TablesScene() : stage_(1), cache_(0) {
    stage_.close();
    auto connection =
        Connection::to(SqliteStage::kPath, Connection::Mode::kWrite, stage_.vfs.name());
    connection_ = std::move(connection.value());
    tables_.emplace(Tables::of(connection_, cache_, {}).value());
    EXPECT_TRUE(connection_.run("BEGIN").ok());
    Tables::ChangeResult made;
    EXPECT_TRUE(tables_->create(std::make_shared<SessionSpec>("s", 1), made).ok());
  }

  TurnPtr add(TurnPtr parent) {
    auto turn = full_turn(random_, "s", parent);
    if (parent) turn->root = parent->root;
    auto added = prepared(std::move(turn));
    Tables::ChangeResult made;
    EXPECT_TRUE(tables_->add(added, made).ok());
    return made->value().turns.front().turn;
  }

  // Steps of SQLite's machine for one more turn: its work, whatever else this machine does.
  int steps_of_one_more(const TurnPtr& parent) {
    int steps = 0;
    const auto count = [](void* all) {
      ++*static_cast<int*>(all);
      return 0;
    };
    sqlite3_progress_handler(connection_.handle(), 1, count, &steps);
    add(parent);
    sqlite3_progress_handler(connection_.handle(), 0, nullptr, nullptr);
    return steps;
  }

 private:
  SqliteStage stage_;
  base::SeededRandom random_{1};
  PathCache cache_;
  Connection connection_;
  std::optional<Tables> tables_;
};

TEST(SqliteTables, a_turn_costs_as_much_behind_a_parent_of_thousands_as_behind_one_of_a_few) {
  TablesScene scene;
  const auto root = scene.add(nullptr);
  // Behind a line of turns and not at their end: what comes behind a parent need not be its child.
  auto last = scene.add(root);
  const auto parent = last;
  for (int i = 0; i < 2000; ++i) last = scene.add(last);
  for (int i = 0; i < 10; ++i) scene.add(parent);
  const int few = scene.steps_of_one_more(parent);
  for (int i = 0; i < 2000; ++i) scene.add(parent);
  EXPECT_LE(scene.steps_of_one_more(parent), few * 3 / 2);
  EXPECT_LE(few, scene.steps_of_one_more(root) * 3 / 2);
  EXPECT_LE(scene.steps_of_one_more(root), scene.steps_of_one_more(last) * 3 / 2);
}

TEST(SqliteTables, a_turn_behind_the_first_of_many_siblings_costs_as_much_as_behind_the_last) {
  TablesScene scene;
  const auto root = scene.add(nullptr);
  const auto first = scene.add(root);
  for (int i = 0; i < 2000; ++i) scene.add(root);
  const auto last = scene.add(root);
  EXPECT_LE(scene.steps_of_one_more(first), scene.steps_of_one_more(last) * 3 / 2);
}

TEST(SqliteTables, the_first_child_goes_on_with_its_parents_branch_and_no_other) {
  TablesScene scene;
  const auto root = scene.add(nullptr);
  EXPECT_EQ(root->branch, root->id);
  const auto first = scene.add(root);
  const auto second = scene.add(root);
  EXPECT_EQ(first->branch, root->branch);
  EXPECT_EQ(second->branch, second->id);
  EXPECT_EQ(scene.add(second)->branch, second->branch);
  EXPECT_EQ(scene.add(first)->branch, first->branch);
  EXPECT_NE(scene.add(first)->branch, first->branch);
}

}  // namespace
}  // namespace verbatim::store::sqlite
