#include "store/sqlite/database.h"

#include <gtest/gtest.h>

#include "base/sim/sim_worker.h"
#include "store/sqlite/schema.h"
#include "store/testing/full_turn.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::sqlite {
namespace {

using base::ErrorKind;
using testing::full_turn;
using testing::SqliteStage;

base::Result<std::vector<TurnPtr>> commit(SqliteStage& stage, std::unique_ptr<Turn> turn) {
  NewTurns added(std::move(turn), SessionUse::kExisting);
  return stage.run(stage.store().commit(std::move(added)));
}

base::Status commit_to(SqliteStage& stage, base::Random& random, const std::string& session) {
  const auto recorded = commit(stage, full_turn(random, session, nullptr));
  return recorded.ok() ? base::Status() : base::Status(recorded.error());
}

void add_session(SqliteStage& stage) {
  ASSERT_TRUE(stage.run(stage.store().create_session(SessionSpec("s", 1))).ok());
}

// Changes the closed file as another program would.
void change_file(SqliteStage& stage, const char* sql) {
  auto connection = Connection::to(SqliteStage::kPath, Connection::Mode::kWrite, stage.vfs.name());
  ASSERT_TRUE(connection.ok());
  ASSERT_TRUE(connection->run(sql).ok());
}

std::string refusal(SqliteStage& stage, ErrorKind kind) {
  const auto status = stage.open();
  if (status.ok()) return "it was opened";
  EXPECT_EQ(status.error().kind, kind) << status.error().message;
  return status.error().message;
}

TEST(SqliteDatabase, the_key_is_as_old_as_the_store) {
  SqliteStage stage(1);
  const std::string key = stage.database().key();
  EXPECT_EQ(key.size(), 32U);
  ASSERT_TRUE(stage.restart());
  EXPECT_EQ(stage.database().key(), key);
  EXPECT_NE(SqliteStage(2).database().key(), key);
}

TEST(SqliteDatabase, what_is_written_and_what_fails_is_counted) {
  SqliteStage stage(1);
  base::Metrics metrics;
  stage.database().writer().count_in(metrics, stage.executor.clock());
  const auto batches = [&](std::string_view outcome) {
    return metrics.value(kStoreBatchesMetric, {{"outcome", outcome}});
  };
  add_session(stage);
  base::SeededRandom random(1);
  ASSERT_TRUE(commit(stage, full_turn(random, "s", nullptr)).ok());
  EXPECT_EQ(batches("kept"), 2);
  EXPECT_EQ(metrics.value(kStoreFailingMetric), 0);
  EXPECT_NE(metrics.text().find("verbatim_store_batch_changes_sum 2\n"), std::string::npos);
  EXPECT_NE(metrics.text().find("verbatim_store_batch_seconds_count 2\n"), std::string::npos);
  for (std::uint64_t i = 1; i <= 30; ++i)
    stage.vfs.set_fault(stage.vfs.points() + i, testing::FaultVfs::At::kFull);
  EXPECT_FALSE(commit(stage, full_turn(random, "s", nullptr)).ok());
  EXPECT_EQ(batches("failed"), 1);
  EXPECT_EQ(metrics.value(kStoreFailingMetric), 1);
  stage.vfs.clear_faults();
  EXPECT_TRUE(commit(stage, full_turn(random, "s", nullptr)).ok());
  EXPECT_EQ(metrics.value(kStoreFailingMetric), 0);
}

TEST(SqliteDatabase, a_store_in_use_is_refused) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  const auto worker = [&] { return std::make_unique<base::sim::SimWorker>(stage.executor, 1); };
  DatabaseOptions options;
  options.path = SqliteStage::kPath;
  options.vfs = stage.vfs.name();
  const auto second =
      Database::open(stage.files, random, {worker(), worker(), worker()}, std::move(options));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kConflict);
  EXPECT_NE(second.error().message.find("in use by another process"), std::string::npos);
}

TEST(SqliteDatabase, a_file_of_another_kind_is_refused_and_left_as_it_is) {
  SqliteStage stage(1);
  stage.close();
  change_file(stage, "PRAGMA user_version = 99");
  EXPECT_NE(refusal(stage, ErrorKind::kUnsupported).find("schema version 99"), std::string::npos);
  change_file(stage, "PRAGMA application_id = 7");
  EXPECT_NE(refusal(stage, ErrorKind::kUnsupported).find("another program"), std::string::npos);
  stage.vfs.bytes(SqliteStage::kPath) = std::string(8192, 'x');
  EXPECT_NE(refusal(stage, ErrorKind::kInternal).find("damaged"), std::string::npos);
  EXPECT_EQ(stage.vfs.bytes(SqliteStage::kPath), std::string(8192, 'x'));
}

// What is asked often is answered by an index, however much else there is.
TEST(SqliteDatabase, no_question_reads_through_what_it_does_not_ask_for) {
  SqliteStage stage(1);
  auto connection = Connection::to(SqliteStage::kPath, Connection::Mode::kRead, stage.vfs.name());
  const std::vector<std::pair<std::string, std::string>> rows{
      {"SELECT * FROM session WHERE owner = ? AND number > ? AND implicit = 0 ORDER BY number "
       "LIMIT ?",
       "created_session"},
      {"SELECT id FROM session WHERE implicit = 1 AND owner = ? ORDER BY newest, number LIMIT 1",
       "implicit_session"},
      {"SELECT turn.session, turn.seq, session.id FROM turn JOIN session ON session.number = "
       "turn.session WHERE turn.digest = ? ORDER BY turn.session DESC, turn.seq DESC LIMIT ?",
       "turn_digest"},
      {"SELECT body FROM conversation_item JOIN session ON session.number = "
       "conversation_item.session WHERE session.id = ?1 AND seq < ?2 "
       "ORDER BY conversation_item.seq DESC LIMIT ?3",
       "conversation_item_seq"},
      {"SELECT seq FROM conversation_item WHERE session = ? AND id = ?", "conversation_item_id"}};
  for (const auto& [query, index] : rows) {
    auto plan = connection->prepare(("EXPLAIN QUERY PLAN " + query).c_str());
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    std::string text;
    while (plan->step().value()) text += std::string(plan->bytes(3)) + "\n";
    EXPECT_NE(text.find(index), std::string::npos) << query << ":\n" << text;
    EXPECT_EQ(text.find("TEMP B-TREE"), std::string::npos) << query << ":\n" << text;
    EXPECT_EQ(text.find("SCAN"), std::string::npos) << query << ":\n" << text;
  }
}

// Back to what the schema was at first.
constexpr const char* kVersion1 =
    "DROP TABLE conversation; DROP TABLE conversation_item; DROP TABLE ended; "
    "ALTER TABLE turn DROP COLUMN continued; DROP TABLE response; DROP INDEX created_session; "
    "DROP INDEX implicit_session; "
    "CREATE INDEX implicit_session ON session(newest) WHERE implicit = 1; "
    "PRAGMA user_version = 1;";

TEST(SqliteDatabase, an_older_file_is_refused_until_it_is_migrated_and_is_the_same_then) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  add_session(stage);
  const auto root = commit(stage, full_turn(random, "s", nullptr));
  ASSERT_TRUE(root.ok());
  ASSERT_TRUE(commit(stage, full_turn(random, "s", root->front())).ok());
  const std::string before = stage.store().dump();
  const auto schema = [&] {
    auto connection = Connection::to(SqliteStage::kPath, Connection::Mode::kRead, stage.vfs.name());
    auto rows = connection->prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").value();
    std::string text;
    while (rows.step().value())
      text += std::string(rows.bytes(0)) + " " + std::string(rows.bytes(1)) + "\n";
    return text;
  };
  const std::string new_schema = schema();
  stage.close();
  change_file(stage, kVersion1);
  EXPECT_NE(refusal(stage, ErrorKind::kUnsupported).find("store migrate"), std::string::npos);
  // The lock's file alone is there: with its own disk a store has no other.
  ASSERT_TRUE(stage.files.replace(SqliteStage::kPath, "").ok());
  const auto migrated = stage.open(Database::Open::kMigrate);
  ASSERT_TRUE(migrated.ok()) << migrated.error().message;
  EXPECT_EQ(stage.database().schema_found(), 1);
  EXPECT_EQ(stage.store().dump(), before);
  EXPECT_EQ(schema(), new_schema);
  const auto sibling = commit(stage, full_turn(random, "s", root->front()));
  EXPECT_EQ(sibling->front()->branch, sibling->front()->id) << "its parent had a child before";
  ASSERT_TRUE(stage.restart());
  EXPECT_EQ(stage.database().schema_found(), kSchemaVersion);
}

TEST(SqliteDatabase, an_implicit_session_has_a_bound_of_its_own) {
  DatabaseOptions options;
  options.implicit_session_bytes = 1;
  SqliteStage stage(1, options);
  base::SeededRandom random(1);
  add_session(stage);
  const auto takes = [&](const char* id, SessionUse use) {
    return stage.run(stage.store().takes_turns(id, use));
  };
  EXPECT_TRUE(takes("chat", SessionUse::kImplicit).ok()) << "it is not there yet";
  NewTurns first(full_turn(random, "chat", nullptr), SessionUse::kImplicit);
  ASSERT_TRUE(stage.run(stage.store().commit(std::move(first))).ok());
  ASSERT_TRUE(commit(stage, full_turn(random, "s", nullptr)).ok());
  for (int i = 0; i < 2; ++i) {
    const auto refused = takes("chat", SessionUse::kImplicit);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kInvalidRequest);
    EXPECT_EQ(refused.error().code, "session_limit");
    EXPECT_TRUE(takes("", SessionUse::kImplicit).ok()) << "a new conversation";
    EXPECT_TRUE(takes("s", SessionUse::kExisting).ok()) << "its limits are its own";
    EXPECT_TRUE(takes("s", SessionUse::kImplicit).ok()) << "it was created";
    ASSERT_TRUE(stage.restart());
  }
}

TEST(SqliteDatabase, a_damaged_turn_is_named) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  add_session(stage);
  const auto turn = commit(stage, full_turn(random, "s", nullptr));
  ASSERT_TRUE(turn.ok());
  stage.close();
  change_file(stage, "UPDATE body SET bytes = x'0102'");
  ASSERT_TRUE(stage.open().ok());
  const auto turns = stage.run(stage.store().turns("s"));
  ASSERT_FALSE(turns.ok());
  EXPECT_EQ(turns.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(turns.error().message.find("turn 1 of session s"), std::string::npos)
      << turns.error().message;
}

// Whatever is asked, damage is not the request's fault, and the answer says what to do.
TEST(SqliteDatabase, a_damaged_file_is_told_by_every_question) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  for (int i = 0; i < 50; ++i) {
    SessionSpec spec("s" + std::to_string(i), 1);
    spec.secret_hash = "h" + std::to_string(i);
    ASSERT_TRUE(stage.run(stage.store().create_session(std::move(spec))).ok());
    ASSERT_TRUE(commit(stage, full_turn(random, "s" + std::to_string(i), nullptr)).ok());
  }
  ASSERT_TRUE(stage.restart());
  auto& bytes = stage.vfs.bytes(SqliteStage::kPath);
  std::fill(bytes.begin() + 4096, bytes.end(), 'x');
  const std::vector<trajectory::Digest> digests(1);
  const std::vector<std::uint64_t> ids{1};
  const auto problem = [](const auto& result) {
    if (result.ok()) return std::string("it was answered");
    EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable) << result.error().message;
    return result.error().message;
  };
  SessionQuery query{"", 0, 10, true};
  const std::vector<std::string> told{problem(stage.run(stage.store().session("s1"))),
                                      problem(stage.run(stage.store().session_of_secret("h1"))),
                                      problem(stage.run(stage.store().sessions(std::move(query)))),
                                      problem(stage.run(stage.store().turns("s1"))),
                                      problem(stage.run(stage.store().last_turn("s1"))),
                                      problem(stage.run(stage.store().find(digests))),
                                      problem(stage.run(stage.store().by_ids(ids)))};
  for (const auto& message : told) {
    EXPECT_NE(message.find("the store can't be read"), std::string::npos) << message;
    EXPECT_NE(message.find("verbatim store check --store sqlite:"), std::string::npos) << message;
  }
}

TEST(SqliteDatabase, what_is_queued_goes_to_disk_together) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  add_session(stage);
  std::vector<std::optional<base::Result<std::vector<TurnPtr>>>> results(600);
  for (auto& result : results) {
    NewTurns added(full_turn(random, "s", nullptr), SessionUse::kExisting);
    SqliteStage::start(stage.store().commit(std::move(added)), result);
  }
  const auto before = stage.database().writer().stats();
  stage.executor.run_until_idle();
  const auto after = stage.database().writer().stats();
  for (const auto& result : results) ASSERT_TRUE(result->ok());
  EXPECT_EQ(after.works - before.works, 600U);
  EXPECT_EQ(after.largest_batch, 256U);
  EXPECT_LE(after.batches - before.batches, 4U);
}

TEST(SqliteDatabase, a_queue_that_is_full_refuses_and_says_so) {
  DatabaseOptions options;
  options.writer.queue_works = 10;
  SqliteStage stage(1, options);
  base::SeededRandom random(1);
  add_session(stage);
  std::vector<std::optional<base::Result<std::vector<TurnPtr>>>> results(20);
  for (auto& result : results) {
    NewTurns added(full_turn(random, "s", nullptr), SessionUse::kExisting);
    SqliteStage::start(stage.store().commit(std::move(added)), result);
  }
  stage.executor.run_until_idle();
  std::size_t taken = 0;
  for (const auto& result : results) taken += result->ok() ? 1 : 0;
  EXPECT_EQ(taken, 10U);
  EXPECT_EQ(results.back()->error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(stage.run(stage.store().session("s")).value()->turns, 10U);
}

TEST(SqliteDatabase, a_disk_that_takes_nothing_refuses_new_turns_until_it_does) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  add_session(stage);
  const auto first = commit(stage, full_turn(random, "s", nullptr));
  const std::string before = stage.store().dump();
  stage.vfs.options().fail_write = 1000;
  const auto refused = commit(stage, full_turn(random, "s", first->front()));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  const auto takes = [&] {
    return stage.run(stage.store().takes_turns("s", SessionUse::kExisting)).ok();
  };
  EXPECT_FALSE(takes()) << "a turn is sampled in vain";
  EXPECT_FALSE(stage.run(stage.store().probe()).ok());
  EXPECT_TRUE(stage.run(stage.store().turns("s")).ok()) << "what is there can be read";
  EXPECT_EQ(stage.store().dump(), before);
  stage.vfs.options().fail_write = 0;
  EXPECT_TRUE(takes());
  EXPECT_TRUE(commit(stage, full_turn(random, "s", first->front())).ok());
}

// Sessions until the disk is full; how many there are.
int fill_disk(SqliteStage& stage, base::Random& random) {
  stage.executor.run_until_idle();
  stage.vfs.set_room(stage.vfs.used() + 3'000'000);
  for (int made = 0;; ++made) {
    const std::string id = "s" + std::to_string(made);
    const auto session = stage.run(stage.store().create_session(SessionSpec(id, 1)));
    if (!session.ok()) return made;
    for (int turn = 0; turn < 5; ++turn) {
      if (!commit(stage, full_turn(random, id, nullptr)).ok()) return made;
    }
  }
}

DatabaseOptions with_reserve() {
  DatabaseOptions options;
  options.reserve_bytes = 600'000;
  options.writer.checkpoint_pages = 20;
  options.writer.hold_pages = 60;
  return options;
}

TEST(SqliteDatabase, a_store_that_is_called_well_again_takes_a_commit_like_the_one_that_failed) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  ASSERT_GT(fill_disk(stage, random), 5);
  const auto large = [&] {
    auto turn = full_turn(random, "s0", nullptr);
    turn->answer.text = std::string(200'000, 'x');
    return turn;
  };
  ASSERT_FALSE(commit(stage, large()).ok());
  // Room comes back page by page.
  int refused = 0;
  std::string last;
  const auto full = stage.vfs.used();
  for (std::uint64_t pages = 0; pages < 400; ++pages) {
    stage.vfs.set_room(full + pages * 4096);
    const auto takes = stage.run(stage.store().takes_turns("s0", SessionUse::kExisting));
    if (!takes.ok()) {
      ++refused;
      last = takes.error().message;
      continue;
    }
    EXPECT_TRUE(commit(stage, large()).ok()) << "well, and then not, behind " << pages << " pages";
    break;
  }
  EXPECT_GT(refused, 10) << "it was tried with less";
  EXPECT_LT(refused, 400) << "never well again: " << last;
}

class FullDisk : public ::testing::TestWithParam<testing::FaultVfs::NoRoom> {};

TEST_P(FullDisk, a_session_can_be_deleted_from_it_and_turns_go_on_then) {
  SqliteStage stage(1, with_reserve());
  stage.vfs.set_no_room(GetParam());
  base::SeededRandom random(1);
  const int made = fill_disk(stage, random);
  ASSERT_GT(made, 5);
  ASSERT_TRUE(stage.vfs.exists(std::string(SqliteStage::kPath) + "-reserve"));
  for (const std::string id : {"s0", "s1", "s2"}) {
    const auto deleted = stage.run(stage.store().delete_session(id));
    EXPECT_TRUE(deleted.ok()) << id << ": " << deleted.error().message;
    EXPECT_FALSE(stage.run(stage.store().session(id))->has_value());
  }
  EXPECT_TRUE(stage.run(stage.store().takes_turns("s3", SessionUse::kExisting)).ok());
  EXPECT_TRUE(commit_to(stage, random, "s3").ok());
  // It is made again once there is room for it.
  ASSERT_TRUE(stage.restart());
  stage.executor.run_until_idle();
  stage.vfs.set_room(UINT64_MAX);
  ASSERT_TRUE(stage.restart());
  stage.executor.run_until_idle();
  EXPECT_TRUE(stage.vfs.exists(std::string(SqliteStage::kPath) + "-reserve"));
}

TEST_P(FullDisk, sessions_expire_from_it_too) {
  SqliteStage stage(1, with_reserve());
  stage.vfs.set_no_room(GetParam());
  base::SeededRandom random(1);
  ASSERT_GT(fill_disk(stage, random), 5);
  const auto expired = stage.run(stage.store().expire_session("s0", INT64_MAX));
  ASSERT_TRUE(expired) << expired.error().message;
  EXPECT_TRUE(*expired);
  EXPECT_FALSE(stage.run(stage.store().session("s0"))->has_value());
}

INSTANTIATE_TEST_SUITE_P(OfBothKinds, FullDisk,
                         ::testing::Values(testing::FaultVfs::NoRoom::kDisk,
                                           testing::FaultVfs::NoRoom::kQuota));

TEST(SqliteDatabase, a_deletion_that_finds_no_room_at_all_has_deleted_nothing_and_says_so) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  ASSERT_GT(fill_disk(stage, random), 5);
  stage.vfs.set_room(stage.vfs.used());
  const std::string before = stage.store().dump();
  const auto refused = stage.run(stage.store().delete_session("s0"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(refused.error().message.find("nothing has changed"), std::string::npos);
  EXPECT_EQ(stage.store().dump(), before);
  stage.vfs.set_room(UINT64_MAX);
  EXPECT_TRUE(stage.run(stage.store().delete_session("s0")).ok());
}

TEST(SqliteDatabase, a_disk_that_failed_since_the_last_write_is_found_by_a_probe) {
  SqliteStage stage(1);
  EXPECT_TRUE(stage.run(stage.store().probe()).ok());
  stage.vfs.options().fail_write = 1000;
  EXPECT_TRUE(stage.run(stage.store().probe()).ok()) << "at most one write a second";
  stage.executor.run_for(std::chrono::seconds(2));
  const auto refused = stage.run(stage.store().probe());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("the store can't write"), std::string::npos);
  EXPECT_FALSE(stage.run(stage.store().takes_turns("s", SessionUse::kImplicit)).ok());
  stage.vfs.options().fail_write = 0;
  EXPECT_TRUE(stage.run(stage.store().probe()).ok()) << "one that failed is tried at once";
  EXPECT_TRUE(stage.run(stage.store().takes_turns("s", SessionUse::kImplicit)).ok());
}

TEST(SqliteDatabase, a_look_up_waits_for_the_turn_it_names) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  add_session(stage);
  auto turn = full_turn(random, "s", nullptr);
  const std::vector<std::uint64_t> ids{turn->id};
  const std::vector<trajectory::Digest> digests{turn->digest};
  std::optional<base::Result<std::vector<TurnPtr>>> added, by_id, by_digest;
  NewTurns turns(std::move(turn), SessionUse::kExisting);
  SqliteStage::start(stage.store().commit(std::move(turns)), added);
  SqliteStage::start(stage.store().by_ids(ids), by_id);
  SqliteStage::start(stage.store().find(digests), by_digest);
  stage.executor.run_until_idle();
  EXPECT_EQ(by_id->value().size(), 1U);
  EXPECT_EQ(by_digest->value().size(), 1U);
}

TEST(SqliteDatabase, what_is_in_memory_stays_bounded) {
  DatabaseOptions options;
  options.cache_bytes = 200'000;
  SqliteStage stage(1, options);
  base::SeededRandom random(1);
  for (int i = 0; i < 300; ++i) {
    const std::string id = "s" + std::to_string(i);
    ASSERT_TRUE(stage.run(stage.store().create_session(SessionSpec(id, 1))).ok());
    ASSERT_TRUE(commit(stage, full_turn(random, id, nullptr)).ok());
  }
  EXPECT_LE(stage.database().cache().bytes(), 200'000U);
  EXPECT_EQ(stage.run(stage.store().turns("s0")).value().size(), 1U);
}

TEST(SqliteDatabase, roots_are_kept_once_and_leave_with_their_last_session) {
  SqliteStage stage(1);
  base::SeededRandom random(1);
  const auto root = testing::full_root(random);
  for (const std::string id : {"a", "b"}) {
    ASSERT_TRUE(stage.run(stage.store().create_session(SessionSpec(id, 1))).ok());
    auto turn = full_turn(random, id, nullptr);
    turn->root = std::make_shared<trajectory::RootInfo>(*root);
    ASSERT_TRUE(commit(stage, std::move(turn)).ok());
  }
  auto connection = Connection::to(SqliteStage::kPath, Connection::Mode::kRead, stage.vfs.name());
  const auto roots = [&] { return connection->integer("SELECT count(*) FROM root").value(); };
  EXPECT_EQ(roots(), 1);
  ASSERT_TRUE(stage.run(stage.store().delete_session("a")).ok());
  EXPECT_EQ(roots(), 1);
  ASSERT_TRUE(stage.run(stage.store().delete_session("b")).ok());
  EXPECT_EQ(roots(), 0);
}

}  // namespace
}  // namespace verbatim::store::sqlite
