// What stores promise of responses.
#include <gtest/gtest.h>

#include "store/testing/full_turn.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::testing {
namespace {

constexpr std::size_t kUnbounded = std::size_t{1} << 40;

std::unique_ptr<StoreStage> in_memory() {
  return memory_stage(1, kUnbounded);
}
std::unique_ptr<StoreStage> on_disk() {
  return std::make_unique<SqliteStage>(1);
}

class Responses : public ::testing::TestWithParam<std::unique_ptr<StoreStage> (*)()> {
 protected:
  std::unique_ptr<StoreStage> stage_ = GetParam()();
  base::SeededRandom random_{5};

  base::Result<std::vector<TurnPtr>> commit(const std::string& session, TurnPtr parent,
                                            const std::string& response,
                                            SessionUse use = SessionUse::kImplicit) {
    NewTurns added(full_turn(random_, session, std::move(parent)), use);
    added.response = full_response(response, *added.turns.front());
    return stage_->run(stage_->store().commit(std::move(added)));
  }
  StoredResponsePtr read(const std::string& id) {
    return stage_->run(stage_->store().response(id)).value();
  }
  bool erase(const std::string& id) {
    return stage_->run(stage_->store().delete_response(id)).value();
  }
  std::size_t turns(const std::string& session) {
    const auto all = stage_->run(stage_->store().turns(session));
    return all ? all->size() : 0;
  }
};

TEST_P(Responses, come_back_as_they_were_kept) {
  const auto turn = commit("s", nullptr, "resp_1");
  ASSERT_TRUE(turn.ok());
  for (const bool again : {false, true}) {
    if (again && !stage_->restart()) break;
    const auto kept = read("resp_1");
    ASSERT_TRUE(kept);
    const auto expected = full_response("resp_1", *turn->front());
    EXPECT_EQ(kept->session_id, "s");
    EXPECT_EQ(kept->turn, expected->turn);
    EXPECT_EQ(kept->instructed, expected->instructed);
    EXPECT_EQ(kept->created_ms, expected->created_ms);
    EXPECT_EQ(kept->body, expected->body);
    EXPECT_EQ(kept->input, expected->input);
    EXPECT_FALSE(read("resp_2"));
  }
}

TEST_P(Responses, of_a_turn_that_is_not_kept_are_not_kept) {
  const auto turn = commit("s", nullptr, "resp_1");
  ASSERT_TRUE(turn.ok());
  ASSERT_TRUE(stage_->run(stage_->store().delete_session("s")).ok());
  EXPECT_FALSE(read("resp_1")) << "it goes with its session";
  const std::string before = stage_->store().dump();
  EXPECT_FALSE(commit("s", turn->front(), "resp_2").ok());
  EXPECT_FALSE(read("resp_2"));
  EXPECT_EQ(stage_->store().dump(), before);
}

TEST_P(Responses, the_last_of_an_implicit_session_takes_its_turns_along) {
  const auto first = commit("s", nullptr, "resp_1");
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(commit("s", first->front(), "resp_2").ok());
  const auto version = stage_->run(stage_->store().session("s")).value()->version;
  EXPECT_TRUE(erase("resp_1"));
  EXPECT_FALSE(erase("resp_1"));
  EXPECT_FALSE(read("resp_1"));
  EXPECT_TRUE(read("resp_2"));
  EXPECT_EQ(turns("s"), 2u) << "what is left goes on from both";
  EXPECT_GT(stage_->run(stage_->store().session("s")).value()->version, version);
  EXPECT_TRUE(erase("resp_2"));
  EXPECT_EQ(turns("s"), 0u);
  EXPECT_FALSE(stage_->run(stage_->store().session("s")).value());
}

TEST_P(Responses, a_session_that_was_created_stays) {
  ASSERT_TRUE(stage_->run(stage_->store().create_session(SessionSpec("s", 1))).ok());
  ASSERT_TRUE(commit("s", nullptr, "resp_1", SessionUse::kExisting).ok());
  EXPECT_TRUE(erase("resp_1"));
  EXPECT_EQ(turns("s"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Stores, Responses, ::testing::Values(in_memory, on_disk),
                         [](const auto& kind) { return kind.index == 0 ? "memory" : "sqlite"; });

TEST(StoredResponses, count_for_what_an_owner_may_have) {
  const auto stage = memory_stage(1, 300'000);
  base::SeededRandom random(5);
  for (int i = 0; i < 40; ++i) {
    NewTurns added(full_turn(random, "s" + std::to_string(i), nullptr), SessionUse::kImplicit);
    added.response = full_response("resp_" + std::to_string(i), *added.turns.front());
    added.response->body = std::string(50'000, 'x');
    ASSERT_TRUE(stage->run(stage->store().commit(std::move(added))).ok());
  }
  std::size_t kept = 0;
  for (int i = 0; i < 40; ++i)
    kept += stage->run(stage->store().response("resp_" + std::to_string(i))).value() ? 1 : 0;
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, 7u);
}

}  // namespace
}  // namespace verbatim::store::testing
