// What replicas are asked: what they serve, and whether they are well.

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/pool/testing/pool_scene.h"

namespace verbatim::engine::pool {
namespace {

using base::error;
using base::ErrorKind;
using base::Task;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::PoolScene;
using State = Health::State;

base::Error cut_answer() {
  auto failure = error(ErrorKind::kEngine, "the engine's answer was cut");
  failure.code = "cut_answer";
  return failure;
}

TEST(PoolChecks, a_probe_asks_all_and_gives_what_they_have_in_common) {
  PoolScene scene(3);
  scene.engines[1]->says.weight_version = "w1";
  ASSERT_TRUE(scene.run_unasked([&]() -> Task<void> {
    const auto probe = co_await scene.pool->probe(base::kNever);
    EXPECT_TRUE(probe.ok());
    if (!probe.ok()) co_return;
    EXPECT_EQ(probe->models.front().id, "m");
    EXPECT_EQ(probe->context_length, 4096U);
    EXPECT_EQ(probe->weight_version, "") << "each replica has its own";
    EXPECT_EQ(scene.view(0).weight_version, "w");
    EXPECT_EQ(scene.view(1).weight_version, "w1");
  }));
}

TEST(PoolChecks, replicas_that_contradict_each_other_are_an_error_that_names_both) {
  for (const bool other_model : {true, false}) {
    PoolScene scene(3);
    if (other_model) scene.engines[2]->says.models = {{"n", 4096}};
    if (!other_model) scene.engines[2]->says.models = {{"m", 8192}};
    ASSERT_TRUE(scene.run_unasked([&]() -> Task<void> {
      const auto probe = co_await scene.pool->probe(base::kNever);
      EXPECT_FALSE(probe.ok());
      if (probe.ok()) co_return;
      EXPECT_EQ(probe.error().message,
                std::string("replicas must serve the same: http://r2 differs from http://r0: ") +
                    (other_model ? "found model \"n\", expected \"m\""
                                 : "found a context length of 8192, expected 4096"));
      const auto outcome = co_await scene.turn("a");
      EXPECT_FALSE(outcome.ok()) << "nobody knows which of them is right";
      // Mended, they serve.
      scene.engines[2]->says = scene.engines[0]->says;
      const auto again = co_await scene.turn("a");
      EXPECT_TRUE(again.ok());
    }));
  }
}

TEST(PoolChecks, replicas_of_another_kind_or_mode_contradict_too) {
  PoolScene scene(2);
  scene.engines[1]->in_mode = "other";
  ASSERT_TRUE(scene.run_unasked([&]() -> Task<void> {
    auto probe = co_await scene.pool->probe(base::kNever);
    EXPECT_EQ(probe.ok() ? "" : probe.error().message,
              "replicas must serve the same: http://r1 differs from http://r0: found scripted in "
              "mode other, expected scripted in mode script");
    scene.engines[1]->down = true;
    probe = co_await scene.pool->probe(base::kNever);
    EXPECT_TRUE(probe.ok());
    scene.engines[1]->down = false;
    co_await scene.wait(minutes(1));
    EXPECT_EQ(scene.view(1).state, State::kKeptOut);
  }));
}

TEST(PoolChecks, an_engine_that_is_not_there_yet_joins_later) {
  PoolScene scene(2);
  scene.engines[0]->down = true;
  ASSERT_TRUE(scene.run_unasked([&]() -> Task<void> {
    const auto probe = co_await scene.pool->probe(base::kNever);
    EXPECT_TRUE(probe.ok());
    EXPECT_EQ(scene.view(0).state, State::kCooling);
    const auto outcome = co_await scene.turn("a");
    EXPECT_EQ(outcome.served_by, PoolScene::url(1));
    scene.engines[0]->down = false;
    co_await scene.wait(seconds(2));
    EXPECT_EQ(scene.view(0).state, State::kServing);
  }));
  EXPECT_EQ(scene.told,
            (std::vector<std::string>{"engine http://r0 is left out: Connection refused",
                                      "engine http://r0 is back"}));
}

TEST(PoolChecks, when_none_answers_the_probe_fails_and_a_request_asks_again) {
  PoolScene scene(2);
  for (auto* engine : scene.engines) engine->down = true;
  ASSERT_TRUE(scene.run_unasked([&]() -> Task<void> {
    auto probe = co_await scene.pool->probe(base::kNever);
    EXPECT_EQ(probe.ok() ? ErrorKind::kInternal : probe.error().kind, ErrorKind::kUnavailable);
    scene.engines[1]->down = false;
    const auto outcome = co_await scene.turn("a");
    EXPECT_EQ(outcome.served_by, PoolScene::url(1));
  }));
}

TEST(PoolChecks, a_comer_that_serves_something_else_is_kept_out_and_told_of) {
  PoolScene scene(2);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    scene.engines[1]->down = true;
    (void)co_await scene.turn("a");
    (void)co_await scene.turn("b");
    EXPECT_EQ(scene.view(1).state, State::kCooling);
    scene.engines[1]->down = false;
    scene.engines[1]->says.models = {{"n", 4096}};
    co_await scene.wait(seconds(5));
    EXPECT_EQ(scene.view(1).state, State::kKeptOut);
    EXPECT_EQ(scene.told.back(),
              "engine http://r1 is left out: it serves something else than the other replicas: "
              "found model \"n\", expected \"m\"");
    // Not even when it is the last.
    scene.engines[0]->down = true;
    const auto outcome = co_await scene.turn("a");
    EXPECT_FALSE(outcome.ok());
    scene.engines[1]->says = scene.engines[0]->says;
    co_await scene.wait(minutes(1));
    EXPECT_EQ(scene.view(1).state, State::kServing) << "it is asked again, slowly";
  }));
  EXPECT_EQ(scene.asked(1), 0U);
}

TEST(PoolChecks, cut_answers_in_a_row_leave_a_replica_out_until_a_check_succeeds) {
  PoolScene scene(2);
  for (int i = 0; i < 3; ++i) scene.engines[0]->fates.push_back({{}, cut_answer(), {}, {}});
  scene.engines[0]->sick = true;
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(scene.view(0).state, State::kServing);
      const auto outcome = co_await scene.turn("a");
      EXPECT_FALSE(outcome.ok());
    }
    EXPECT_EQ(scene.view(0).state, State::kCooling);
    EXPECT_EQ(scene.view(0).why, "the engine's answer was cut");
    co_await scene.wait(minutes(5));
    EXPECT_EQ(scene.view(0).state, State::kCooling) << "no time alone brings it back";
    const auto& checks = scene.journals[0]->checks;
    EXPECT_GE(checks.size(), 10U);
    EXPECT_LE(checks.size(), 30U) << "cool-downs grow to 30 s";
    EXPECT_GE(scene.journals[0]->tokens_asked, 10)
        << "its sampling failed, so it is asked for that";
    for (std::size_t i = 1; i < checks.size(); ++i)
      EXPECT_LE(checks[i] - checks[i - 1], seconds(31)) << "and not beyond";
    scene.engines[0]->sick = false;
    co_await scene.wait(seconds(31));
    EXPECT_EQ(scene.view(0).state, State::kServing);
  }));
}

TEST(PoolChecks, a_check_that_finds_a_full_queue_is_no_strike) {
  PoolScene scene(2);
  scene.engines[0]->check_fails = testing::answered(503, "queue is full", "2");
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    co_await scene.wait(minutes(5));
    EXPECT_GE(scene.journals[0]->checks.size(), 9U);
    EXPECT_EQ(scene.view(0).state, State::kServing) << scene.view(0).why;
  }));
}

TEST(PoolChecks, all_are_checked_at_a_slow_pace_and_at_different_times) {
  PoolScene scene(4, 9);
  ASSERT_TRUE(scene.run([&]() -> Task<void> { co_await scene.wait(minutes(10)); }));
  std::set<std::int64_t> first;
  for (const auto& journal : scene.journals) {
    EXPECT_GE(journal->checks.size(), 20U);
    EXPECT_LE(journal->checks.size(), 27U);
    EXPECT_EQ(journal->tokens_asked, 0) << "nothing is sampled for one that is well";
    first.insert(journal->checks.front().us);
  }
  EXPECT_EQ(first.size(), 4U);
}

TEST(PoolChecks, an_idle_replica_that_fell_ill_is_found) {
  PoolScene scene(2);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    scene.engines[0]->sick = true;
    co_await scene.wait(seconds(40));
    EXPECT_EQ(scene.view(0).state, State::kCooling);
    EXPECT_EQ(scene.view(1).state, State::kServing);
  }));
}

TEST(PoolChecks, a_replica_that_was_restarted_with_another_model_is_found) {
  PoolScene scene(2);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    scene.engines[0]->says.models = {{"n", 4096}};
    co_await scene.wait(seconds(31));
    EXPECT_EQ(scene.view(0).state, State::kKeptOut);
  }));
}

TEST(PoolChecks, one_ready_replica_is_enough) {
  PoolScene scene(3);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    scene.engines[0]->sick = true;
    scene.engines[1]->down = true;
    auto ready = co_await scene.pool->ready(base::kNever);
    EXPECT_TRUE(ready.ok());
    scene.engines[2]->sick = true;
    ready = co_await scene.pool->ready(base::kNever);
    EXPECT_FALSE(ready.ok());
  }));
}

TEST(PoolChecks, what_is_demanded_of_a_request_is_what_every_serving_replica_demands) {
  PoolScene scene(2);
  scene.engines[1]->refuses = base::invalid("cache_salt", "too old");
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    auto checked = scene.pool->check({});
    EXPECT_EQ(checked.ok() ? "" : checked.error().field, "cache_salt");
    checked = scene.pool->check_messages({});
    EXPECT_EQ(checked.ok() ? "" : checked.error().field, "cache_salt");
    scene.engines[1]->down = true;
    scene.engines[1]->refuses.reset();  // else it is not even asked
    for (int i = 0; i < 2; ++i) (void)co_await scene.turn("c" + std::to_string(i));
    scene.engines[1]->refuses = base::invalid("cache_salt", "too old");
    checked = scene.pool->check({});
    EXPECT_TRUE(checked.ok()) << "one that is out demands nothing";
    EXPECT_EQ(scene.pool->kind(), "scripted");
    EXPECT_EQ(scene.pool->mode(), "script");
    EXPECT_TRUE(scene.pool->matches_stop_strings());
  }));
  for (const auto& journal : scene.journals) EXPECT_TRUE(journal->stopped);
}

TEST(PoolChecks, nothing_is_armed_behind_the_end) {
  PoolScene scene(3);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    scene.engines[0]->down = true;
    for (int i = 0; i < 3; ++i) (void)co_await scene.turn("c" + std::to_string(i));
  }));
  const auto end = scene.world.executor.clock().now();
  scene.world.executor.run_until_idle();
  EXPECT_EQ(scene.world.executor.clock().now(), end);
}

TEST(PoolChecks, requests_that_wait_share_one_round_of_questions) {
  PoolScene scene(1);
  ASSERT_TRUE(scene.run_unasked([&]() -> Task<void> {
    scene.engines[0]->probe_takes = seconds(3);
    scene.engines[0]->down = true;
    std::size_t left = 50;
    const auto one = [&]() -> Task<void> {
      const auto outcome = co_await scene.turn("a");
      EXPECT_FALSE(outcome.ok());
      --left;
    };
    const auto begin = scene.world.executor.clock().now();
    for (int i = 0; i < 50; ++i) base::spawn(one());
    while (left > 0) co_await scene.wait(milliseconds(100));
    EXPECT_LE(scene.world.executor.clock().now() - begin, seconds(7));
  }));
}

}  // namespace
}  // namespace verbatim::engine::pool
