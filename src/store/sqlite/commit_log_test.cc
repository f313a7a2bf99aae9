#include "store/commit_log.h"

#include <gtest/gtest.h>

#include "store/testing/full_turn.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::sqlite {
namespace {

using testing::full_turn;
using testing::SqliteStage;

DatabaseOptions keeping_ended() {
  DatabaseOptions options;
  options.keep_ended = true;
  return options;
}

struct Logged {
  explicit Logged(DatabaseOptions options = keeping_ended())
      : stage(1, std::move(options)), random(2) {}

  TurnPtr add(const std::string& session, TurnPtr parent = nullptr) {
    NewTurns added(full_turn(random, session, std::move(parent)), SessionUse::kImplicit);
    return stage.run(stage.store().commit(std::move(added))).value().front();
  }
  void erase(const std::string& session) {
    ASSERT_TRUE(stage.run(stage.store().delete_session(session)).ok());
  }
  std::unique_ptr<CommitLog> log() { return std::move(stage.database().commit_log().value()); }
  CommitPoint newest() { return log()->newest().value(); }
  // "session:first new/turns ..."
  std::string changed(std::uint64_t number) {
    std::string text;
    const auto status = log()->each_changed(number, [&](const CommitLog::Changed& changed) {
      text += changed.session + ":" + std::to_string(changed.first_new) + "/" +
              std::to_string(changed.turns.size()) + " ";
      return base::Status();
    });
    EXPECT_TRUE(status.ok());
    return text;
  }

  // "number:session/turns/why ..."
  std::string ended(std::uint64_t number) {
    std::string text;
    const auto status = log()->each_ended(number, [&](const CommitLog::Ended& ended) {
      text += std::to_string(ended.number) + ":" + ended.session + "/" +
              std::to_string(ended.turns) +
              (ended.why == CommitLog::Ended::Why::kDeleted ? "/deleted " : "/expired ");
      return base::Status();
    });
    EXPECT_TRUE(status.ok());
    return text;
  }

  SqliteStage stage;
  base::SeededRandom random;
};

TEST(CommitLog, tells_what_changed_behind_a_point) {
  Logged l;
  EXPECT_EQ(l.newest(), CommitPoint());
  const auto one = l.add("a");
  l.add("b");
  const auto point = l.newest();
  EXPECT_EQ(point.number, 2U);
  l.add("a", one);
  l.add("c");
  EXPECT_EQ(l.changed(0), "a:1/2 b:1/1 c:1/1 ");
  EXPECT_EQ(l.changed(point.number), "a:2/2 c:1/1 ");
  EXPECT_EQ(l.changed(4), "");
  l.erase("c");
  EXPECT_EQ(l.changed(point.number), "a:2/2 ");
  EXPECT_TRUE(l.log()->has_session("a").value());
  EXPECT_FALSE(l.log()->has_session("c").value());
  EXPECT_EQ(l.log()->turns("a").value().size(), 2U);
}

TEST(CommitLog, gives_places_with_their_parents) {
  Logged l;
  const auto one = l.add("a");
  const auto two = l.add("a", one);
  l.add("a", one);
  const auto status = l.log()->each_changed(0, [&](const CommitLog::Changed& changed) {
    EXPECT_EQ(changed.turns[1].id, two->id);
    EXPECT_EQ(changed.turns[1].parent, 1U);
    EXPECT_EQ(changed.turns[2].parent, 1U);
    EXPECT_EQ(changed.turns[2].seq, 3U);
    return base::Status();
  });
  EXPECT_TRUE(status.ok());
}

TEST(CommitLog, tells_of_sessions_that_have_ended_until_it_is_told_to_forget_them) {
  Logged l;
  l.add("a", l.add("a"));
  l.add("b");
  l.add("c");
  ASSERT_TRUE(l.stage.run(l.stage.store().create_session(SessionSpec("empty", 1))).ok());
  l.erase("a");
  EXPECT_EQ(l.newest().ended, 1U);
  EXPECT_TRUE(l.stage.run(l.stage.store().expire_session("b", INT64_MAX)).value());
  l.erase("empty");
  EXPECT_EQ(l.ended(0), "1:a/2/deleted 2:b/1/expired ") << "of one without turns nothing is left";
  EXPECT_EQ(l.ended(1), "2:b/1/expired ");
  ASSERT_TRUE(l.stage.restart());
  EXPECT_EQ(l.ended(0), "1:a/2/deleted 2:b/1/expired ");
  l.log()->forget_ended(1);
  l.erase("c");
  EXPECT_EQ(l.ended(0), "2:b/1/expired 3:c/1/deleted ");
  auto point = l.newest();
  EXPECT_EQ(point.ended, 3U);
  EXPECT_TRUE(l.log()->follows(point).value());
  point.ended = 4;
  EXPECT_FALSE(l.log()->follows(point).value()) << "an older copy of the store";
}

TEST(CommitLog, nothing_is_kept_of_sessions_that_end_where_nobody_asks) {
  Logged l{DatabaseOptions()};
  l.add("a");
  l.erase("a");
  EXPECT_EQ(l.ended(0), "");
}

TEST(CommitLog, sessions_come_in_pages_and_none_is_left_out) {
  Logged l;
  for (int i = 0; i < 600; ++i) l.add("s" + std::to_string(i));
  std::size_t seen = 0;
  const auto status = l.log()->each_changed(100, [&](const CommitLog::Changed& changed) {
    EXPECT_EQ(changed.session, "s" + std::to_string(100 + seen++));
    return base::Status();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(seen, 500U);
}

TEST(CommitLog, no_number_is_used_again) {
  Logged l;
  for (int round = 0; round < 40; ++round) {
    const auto session = "s" + std::to_string(l.random.below(3));
    const auto before = l.newest().number;
    l.add(session);
    EXPECT_EQ(l.newest().number, before + 1) << round;
    if (l.random.chance(500)) l.erase(session);
    if (l.random.chance(300)) {
      ASSERT_TRUE(l.stage.restart());
    }
    // A write that fails, whatever was given up with it.
    l.stage.vfs.options().fail_sync = l.random.chance(200) ? 1000 : 0;
    (void)l.stage.run(l.stage.store().delete_session("s0"));
    l.stage.vfs.options().fail_sync = 0;
    ASSERT_TRUE(l.stage.run(l.stage.store().create_session({"c" + std::to_string(round), 1})).ok());
    EXPECT_EQ(l.newest().number, before + 1) << round;
  }
}

TEST(CommitLog, a_point_of_another_store_or_of_a_later_state_does_not_lead_here) {
  Logged l;
  l.add("a");
  l.add("b");
  const auto point = l.newest();
  EXPECT_TRUE(l.log()->follows({}).value());
  EXPECT_TRUE(l.log()->follows(point).value());
  EXPECT_FALSE(l.log()->follows({3, "of a turn that was lost"}).value());
  EXPECT_FALSE(l.log()->follows({2, "of another turn"}).value());
  l.erase("b");
  EXPECT_TRUE(l.log()->follows(point).value()) << "its session may be gone";
  EXPECT_EQ(l.log()->store_id(), l.log()->store_id());
  EXPECT_EQ(l.log()->store_id().find(l.stage.database().key()), std::string::npos);
  SqliteStage another(9);
  EXPECT_NE(another.database().commit_log().value()->store_id(), l.log()->store_id());
}

}  // namespace
}  // namespace verbatim::store::sqlite
