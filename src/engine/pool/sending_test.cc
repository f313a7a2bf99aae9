// What is sent again, and what never is.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/pool/replica_metrics.h"
#include "engine/pool/testing/pool_scene.h"

namespace verbatim::engine::pool {
namespace {

using base::error;
using base::ErrorKind;
using base::Task;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::answered;
using testing::Outcome;
using testing::PoolScene;

base::Error with_code(ErrorKind kind, std::string code) {
  auto failure = error(kind, "it failed");
  failure.code = std::move(code);
  return failure;
}

std::size_t sent(const PoolScene& scene) {
  std::size_t count = 0;
  for (const auto& journal : scene.journals) count += journal->asked.size();
  return count;
}

class PoolSending : public ::testing::TestWithParam<Path> {};

TEST_P(PoolSending, what_was_never_sent_goes_on_to_the_next_replica_at_once) {
  PoolScene scene(GetParam(), 3);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    (void)co_await scene.turn("a");
    scene.engines[0]->down = true;
    const auto before = scene.world.executor.clock().now();
    const auto moved = co_await scene.turn("a");
    EXPECT_EQ(moved.served_by, PoolScene::url(1));
    EXPECT_EQ(scene.world.executor.clock().now(), before);
    EXPECT_EQ(scene.view(0).state, Health::State::kCooling);
  }));
}

TEST_P(PoolSending, when_nobody_is_there_the_error_names_each_and_why) {
  PoolScene scene(GetParam(), 2);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    for (auto* engine : scene.engines) engine->down = true;
    const auto outcome = co_await scene.turn("a");
    EXPECT_FALSE(outcome.ok());
    if (outcome.ok()) co_return;
    EXPECT_EQ(outcome.error->kind, ErrorKind::kUnavailable);
    EXPECT_EQ(outcome.error->message,
              "no replica can take the request: http://r0: Connection refused; http://r1: "
              "Connection refused");
  }));
}

TEST_P(PoolSending, what_becomes_of_requests_is_counted_by_replica) {
  base::Metrics metrics;
  Options options;
  options.metrics = &metrics;
  PoolScene scene(GetParam(), 2, 1, options);
  const auto requests = [&](std::size_t replica, std::string_view outcome) {
    return metrics.value(kEngineRequestsMetric,
                         {{"engine", PoolScene::url(replica)}, {"outcome", outcome}});
  };
  const auto threads = [&](std::size_t replica, std::string_view state) {
    return metrics.value(kReplicaThreadsMetric,
                         {{"engine", PoolScene::url(replica)}, {"state", state}});
  };
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    EXPECT_EQ(threads(0, "serving"), 1);
    (void)co_await scene.turn("a");
    EXPECT_EQ(requests(0, "answered"), 1);
    scene.engines[0]->down = true;
    (void)co_await scene.turn("a");
    EXPECT_EQ(requests(0, "unreachable"), 1);
    EXPECT_EQ(requests(1, "answered"), 1);
    EXPECT_EQ(threads(0, "serving"), 0);
    EXPECT_EQ(threads(0, "cooling"), 1);
    EXPECT_EQ(metrics.value(kEngineUpMetric, {{"engine", PoolScene::url(0)}}), 0);
    EXPECT_EQ(metrics.value(kEngineUpMetric, {{"engine", PoolScene::url(1)}}), 1);
    EXPECT_EQ(metrics.value(kEngineRunningMetric, {{"engine", PoolScene::url(1)}}), 0);
  }));
}

TEST_P(PoolSending, an_engine_that_came_back_serves_at_once_where_no_other_does) {
  PoolScene scene(GetParam(), 1);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    scene.engines[0]->down = true;
    for (int i = 0; i < 10; ++i) (void)co_await scene.turn("a");
    EXPECT_EQ(scene.view(0).state, Health::State::kCooling);
    scene.engines[0]->down = false;
    const auto outcome = co_await scene.turn("a");
    EXPECT_TRUE(outcome.ok());
  }));
}

TEST_P(PoolSending, whatever_may_have_been_sampled_is_returned_as_it_is) {
  const base::Error table[] = {
      with_code(ErrorKind::kTimeout, ""),
      with_code(ErrorKind::kEngine, ""),
      with_code(ErrorKind::kEngine, "malformed_answer"),
      with_code(ErrorKind::kEngine, "cut_answer"),
      with_code(ErrorKind::kEngine, "engine_error"),
      with_code(ErrorKind::kEngine, "engine_abort"),
      with_code(ErrorKind::kCancelled, ""),
      with_code(ErrorKind::kInvalidRequest, ""),
      answered(400, R"({"error":{"message":"queue is full"}})"),
      answered(500, R"({"error":{"message":"queue is full"}})"),
      answered(502, "queue is full"),
      answered(504, "queue is full"),
      answered(503, R"({"error":{"message":"it broke"}})"),
      answered(503, ""),
      answered(429, ""),
  };
  std::vector<base::Error> failures(std::begin(table), std::end(table));
  failures.push_back(answered(503, "queue is full"));
  failures.back().code = "sampled_already";
  for (const auto& failure : failures) {
    PoolScene scene(GetParam(), 3);
    scene.engines[0]->fates.push_back({failure, {}, {}, {}});
    ASSERT_TRUE(scene.run([&]() -> Task<void> {
      const auto outcome = co_await scene.turn("a");
      EXPECT_FALSE(outcome.ok());
      if (outcome.ok()) co_return;
      EXPECT_EQ(outcome.error->kind, failure.kind);
      EXPECT_EQ(outcome.error->code, failure.code);
      EXPECT_EQ(outcome.error->message, failure.message);
      EXPECT_EQ(outcome.error->upstream, failure.upstream);
    }));
    EXPECT_EQ(sent(scene), 1U) << failure.message << " " << failure.code;
  }
}

TEST_P(PoolSending, a_failure_within_the_stream_is_never_sent_again) {
  PoolScene scene(GetParam(), 2);
  // Even where it says that the request was not begun.
  scene.engines[0]->fates.push_back({{}, answered(503, "queue is full"), {}, {}});
  scene.engines[0]->fates.push_back({{}, with_code(ErrorKind::kUnavailable, ""), {}, {}});
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    for (int i = 0; i < 2; ++i) {
      auto request = scene.request("a");
      request.last_engine_url = PoolScene::url(0);
      const auto outcome = co_await scene.turn(std::move(request));
      EXPECT_FALSE(outcome.ok());
      co_await scene.wait(seconds(2));
    }
  }));
  EXPECT_EQ(sent(scene), 2U);
}

TEST_P(PoolSending, a_refusal_before_the_first_token_is_tried_at_one_other) {
  PoolScene scene(GetParam(), 4);
  for (auto* engine : scene.engines)
    engine->fates.push_back({answered(503, "queue is full"), {}, {}, {}});
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    const auto outcome = co_await scene.turn("a");
    EXPECT_FALSE(outcome.ok());
  }));
  EXPECT_EQ(sent(scene), 2U);
}

TEST_P(PoolSending, the_other_ones_failure_counts_where_it_may_have_sampled) {
  PoolScene scene(GetParam(), 3);
  scene.engines[0]->fates.push_back({answered(503, "queue is full"), {}, {}, {}});
  scene.engines[1]->fates.push_back({with_code(ErrorKind::kTimeout, ""), {}, {}, {}});
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    const auto outcome = co_await scene.turn("a");
    EXPECT_EQ(outcome.error.value_or(base::Error{}).kind, ErrorKind::kTimeout);
  }));
  EXPECT_EQ(sent(scene), 2U);
}

TEST_P(PoolSending, the_first_refusal_stands_where_nobody_else_is_there) {
  PoolScene scene(GetParam(), 3);
  scene.engines[0]->fates.push_back({answered(503, "queue is full"), {}, {}, {}});
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    scene.engines[1]->down = true;
    scene.engines[2]->down = true;
    const auto outcome = co_await scene.turn("a");
    EXPECT_TRUE(outcome.error && outcome.error->upstream);
  }));
  EXPECT_EQ(sent(scene), 1U);
}

TEST_P(PoolSending, giving_up_a_request_stops_the_replica_that_has_it) {
  PoolScene scene(GetParam(), 2);
  scene.engines[0]->fates.push_back({{}, {}, {}, seconds(60)});
  scene.engines[1]->fates.push_back({{}, {}, seconds(60), {}});
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    for (int i = 0; i < 2; ++i) {  // in the middle of its stream; before its first token
      base::CancelSignal cancel;
      base::Timer timer;
      timer.arm(scene.world.executor.timers(), scene.world.executor.clock().now() + seconds(1),
                [&] { cancel.fire("the client left"); });
      auto request = scene.request("c" + std::to_string(i));
      request.cancel = &cancel;
      const auto outcome = co_await scene.turn(std::move(request));
      EXPECT_EQ(outcome.error.value_or(base::Error{}).kind, ErrorKind::kCancelled);
    }
    for (std::size_t r = 0; r < 2; ++r) {
      EXPECT_EQ(scene.view(r).running, 0U);
      EXPECT_EQ(scene.view(r).state, Health::State::kServing);
    }
  }));
  EXPECT_EQ(scene.journals[0]->aborts, 1);
  EXPECT_EQ(sent(scene), 2U);
}

// What becomes of the requests of one replica: mostly well, else any kind of trouble.
void draw_fates(testing::ScriptedEngine& engine, base::Random& random) {
  for (int i = 0; i < 400; ++i) {
    testing::Fate fate;
    fate.before = milliseconds(random.below(200));
    fate.between = milliseconds(random.below(500));
    if (random.chance(40)) fate.refusal = answered(503, "queue is full", "1");
    if (random.chance(30)) fate.refusal = answered(500, "it broke");
    if (random.chance(30)) fate.refusal = with_code(ErrorKind::kTimeout, "");
    if (random.chance(60)) fate.failure = with_code(ErrorKind::kEngine, "cut_answer");
    engine.fates.push_back(std::move(fate));
  }
}

struct Tally {
  std::size_t good = 0, bad = 0, stayed = 0, moved = 0, running = 0;
};

// Whether a turn may count on replica `r`.
bool is_well(const PoolScene& scene, std::size_t r) {
  const auto view = scene.view(r);
  return view.state == Health::State::kServing && !view.busy && !scene.engines[r]->down;
}

Task<void> converse(PoolScene& scene, std::string key, Tally& tally) {
  std::string last;
  for (int i = 0; i < 15; ++i) {
    co_await scene.wait(milliseconds(scene.world.random.below(400)));
    auto request = scene.request(key);
    request.last_engine_url = last;
    const std::string id = request.request_id;
    std::optional<std::size_t> home;
    for (std::size_t r = 0; r < scene.engines.size(); ++r) {
      if (PoolScene::url(r) == last && is_well(scene, r)) home = r;
    }
    const Outcome outcome = co_await scene.turn(std::move(request));
    if (home) {
      const auto& asked = scene.journals[*home]->asked;
      EXPECT_TRUE(std::find(asked.begin(), asked.end(), id) != asked.end())
          << key << " left a replica that was well";
    }
    outcome.ok() ? ++tally.good : ++tally.bad;
    if (!outcome.ok()) continue;
    outcome.served_by == last ? ++tally.stayed : ++tally.moved;
    last = outcome.served_by;
  }
  --tally.running;
}

// Replicas die, come back, hang, are busy, cut and refuse, at random, under conversations.
TEST_P(PoolSending, no_request_is_sampled_twice_and_conversations_stay_where_all_is_well) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    PoolScene scene(GetParam(), 3, seed);
    auto& random = scene.world.random;
    for (auto* engine : scene.engines) draw_fates(*engine, random);
    ASSERT_TRUE(scene.run([&]() -> Task<void> {
      tally.running = 12;
      for (int c = 0; c < 12; ++c) base::spawn(converse(scene, "c" + std::to_string(c), tally));
      while (tally.running > 0) {
        co_await scene.wait(milliseconds(300));
        scene.engines[random.below(3)]->down = random.chance(300);
        scene.engines[random.below(3)]->sick = random.chance(200);
      }
    })) << "seed "
        << seed;
    std::map<std::string, int> asked;
    std::map<std::string, int> begun;
    for (const auto& journal : scene.journals) {
      for (const auto& id : journal->asked) ++asked[id];
      for (const auto& id : journal->begun) ++begun[id];
      EXPECT_EQ(journal->running, 0);
    }
    for (const auto& [id, times] : begun) EXPECT_EQ(times, 1) << id << ", seed " << seed;
    for (const auto& [id, times] : asked) EXPECT_LE(times, 2) << id << ", seed " << seed;
    for (const auto& view : scene.pool->replicas()) EXPECT_EQ(view.running, 0U);
  }
  EXPECT_GT(tally.good, 8000U);
  EXPECT_GT(tally.bad, 500U);
  EXPECT_GT(tally.stayed, tally.moved);
}

INSTANTIATE_TEST_SUITE_P(Paths, PoolSending, ::testing::Values(Path::kTokens, Path::kMessages),
                         [](const auto& path) {
                           return path.param == Path::kTokens ? "by_ids" : "by_messages";
                         });

}  // namespace
}  // namespace verbatim::engine::pool
