// Which replica a turn is given to.

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "engine/pool/testing/pool_scene.h"

namespace verbatim::engine::pool {
namespace {

using base::Task;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::answered;
using testing::PoolScene;

constexpr const char* kQueueFull = R"({"error":{"message":"The request queue is full."}})";

class PoolChoice : public ::testing::TestWithParam<Path> {};

TEST_P(PoolChoice, a_conversation_stays_with_its_replica) {
  PoolScene scene(GetParam(), 3);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    std::map<std::string, std::string> served_by;
    for (int round = 0; round < 5; ++round) {
      for (int c = 0; c < 20; ++c) {
        const std::string key = "c" + std::to_string(c);
        const auto outcome = co_await scene.turn(key);
        EXPECT_TRUE(outcome.ok());
        const auto& first = served_by.try_emplace(key, outcome.served_by).first->second;
        EXPECT_EQ(outcome.served_by, first) << key;
      }
    }
  }));
}

TEST_P(PoolChoice, equal_loads_take_turns) {
  PoolScene scene(GetParam(), 4);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    for (int c = 0; c < 40; ++c) (void)co_await scene.turn("c" + std::to_string(c));
  }));
  for (std::size_t r = 0; r < 4; ++r) EXPECT_EQ(scene.asked(r), 10U) << r;
}

TEST_P(PoolChoice, a_new_conversation_goes_to_the_least_loaded) {
  PoolScene scene(GetParam(), 3);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    std::vector<std::unique_ptr<TokenStream>> streams;
    for (int c = 0; c < 30; ++c) {
      auto stream = co_await scene.begin(scene.request("c" + std::to_string(c)));
      streams.push_back(std::move(*stream));
    }
    for (std::size_t r = 0; r < 3; ++r) EXPECT_EQ(scene.view(r).running, 10U);
    // The replica of the streams that end has room.
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (i % 3 == 1) streams[i].reset();
    }
    EXPECT_EQ(scene.view(1).running, 0U) << "a stream that is destroyed is no load any more";
    for (int c = 100; c < 110; ++c) {
      auto stream = co_await scene.begin(scene.request("c" + std::to_string(c)));
      streams.push_back(std::move(*stream));
    }
    EXPECT_EQ(scene.view(1).running, 10U);
  }));
}

TEST_P(PoolChoice, a_turn_follows_the_replica_that_sampled_the_one_before_it) {
  PoolScene scene(GetParam(), 3);
  // Another thread's pool may have served it: this one never saw the conversation.
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    for (int i = 0; i < 9; ++i) {
      auto request = scene.request("c" + std::to_string(i));
      request.last_engine_url = PoolScene::url(2);
      const auto outcome = co_await scene.turn(std::move(request));
      EXPECT_EQ(outcome.served_by, PoolScene::url(2));
    }
    // It also knows better than the map; an engine that is no replica says nothing.
    auto request = scene.request("c1");
    request.last_engine_url = PoolScene::url(0);
    auto outcome = co_await scene.turn(std::move(request));
    EXPECT_EQ(outcome.served_by, PoolScene::url(0));
    request = scene.request("c1");
    request.last_engine_url = "http://elsewhere";
    outcome = co_await scene.turn(std::move(request));
    EXPECT_EQ(outcome.served_by, PoolScene::url(0));
  }));
}

TEST_P(PoolChoice, requests_without_a_conversation_are_spread) {
  PoolScene scene(GetParam(), 2);
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    for (int i = 0; i < 10; ++i) (void)co_await scene.turn("");
  }));
  EXPECT_EQ(scene.asked(0), 5U);
}

TEST_P(PoolChoice, a_busy_replica_is_passed_over_for_as_long_as_it_says) {
  PoolScene scene(GetParam(), 2);
  scene.engines[0]->fates.push_back({answered(503, kQueueFull, "3"), {}, {}, {}});
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    auto outcome = co_await scene.turn("a");
    EXPECT_EQ(outcome.served_by, PoolScene::url(1)) << "refused before sampling: sent elsewhere";
    co_await scene.wait(milliseconds(2900));
    for (int i = 0; i < 4; ++i) {
      outcome = co_await scene.turn("b" + std::to_string(i));
      EXPECT_EQ(outcome.served_by, PoolScene::url(1));
    }
    EXPECT_EQ(scene.view(0).state, Health::State::kServing) << "busy is not dead";
    co_await scene.wait(milliseconds(200));
    for (int i = 0; i < 2; ++i) (void)co_await scene.turn("c" + std::to_string(i));
  }));
  EXPECT_EQ(scene.asked(0), 2U);
}

TEST_P(PoolChoice, a_busy_replica_still_gets_what_no_other_can_take) {
  for (const std::size_t replicas : {1U, 2U}) {
    PoolScene scene(GetParam(), replicas);
    for (auto* engine : scene.engines) {
      for (int i = 0; i < 8; ++i)
        engine->fates.push_back(
            {answered(429, R"({"error":{"message":"rate limit"}})", "7"), {}, {}, {}});
    }
    ASSERT_TRUE(scene.run([&]() -> Task<void> {
      for (int i = 0; i < 6; ++i) {
        const auto outcome = co_await scene.turn("a");
        EXPECT_FALSE(outcome.ok());
        if (outcome.ok()) continue;
        EXPECT_TRUE(outcome.error->upstream) << "the engine's own answer passes through";
        if (!outcome.error->upstream) continue;
        EXPECT_EQ(outcome.error->upstream->status, 429);
        const auto& headers = outcome.error->upstream->headers;
        EXPECT_TRUE(std::any_of(headers.begin(), headers.end(), [](const auto& h) {
          return net::equals_ignoring_case(h.first, "retry-after") && h.second == "7";
        }));
      }
    }));
    std::size_t sent = 0;
    for (std::size_t r = 0; r < replicas; ++r) sent += scene.asked(r);
    EXPECT_EQ(sent, 6 + (replicas - 1)) << "only the first is tried elsewhere: then both are busy";
  }
}

TEST_P(PoolChoice, a_draining_replica_gets_nothing_new_and_ends_what_it_has) {
  PoolScene scene(GetParam(), 2);
  scene.engines[0]->fates.push_back({{}, {}, {}, seconds(10)});
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    auto running = co_await scene.begin(scene.request("a"));
    EXPECT_TRUE(running.ok());
    const auto drained = scene.pool->set_draining(PoolScene::url(0), Pool::Draining::kYes);
    EXPECT_TRUE(drained.ok());
    for (int i = 0; i < 6; ++i) (void)co_await scene.turn("new " + std::to_string(i));
    auto moved = co_await scene.turn("a");
    EXPECT_EQ(moved.served_by, PoolScene::url(1)) << "its conversations move on";
    for (;;) {
      auto chunk = co_await (*running)->next();
      EXPECT_TRUE(chunk.ok());
      if (!chunk.ok() || !*chunk) break;
    }
    EXPECT_EQ((*running)->end().engine_url, PoolScene::url(0)) << "the running stream ends";
    EXPECT_EQ(scene.asked(0), 1U);
    (void)scene.pool->set_draining(PoolScene::url(1), Pool::Draining::kYes);
    auto refused = co_await scene.turn("b");
    EXPECT_EQ(refused.error.value_or(base::Error{}).kind, base::ErrorKind::kUnavailable);
    auto ready = co_await scene.pool->ready(base::kNever);
    EXPECT_FALSE(ready.ok());
    (void)scene.pool->set_draining(PoolScene::url(0), Pool::Draining::kNo);
    auto back = co_await scene.turn("c");
    EXPECT_EQ(back.served_by, PoolScene::url(0));
  }));
  EXPECT_EQ(scene.journals[0]->aborts, 0);
  EXPECT_EQ(scene.pool->set_draining("http://r9", Pool::Draining::kYes).error().kind,
            base::ErrorKind::kNotFound);
}

// Conversations of several turns, with thinking time between them, started at random: what agents
// do. The bound that is stated: at no time does a replica hold over twice its share of running
// requests, plus two; and of the conversations over a tenth more than its share, plus two.
TEST_P(PoolChoice, load_is_balanced_over_seeds) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    constexpr std::size_t kReplicas = 4;
    constexpr std::size_t kConversations = 64;
    PoolScene scene(GetParam(), kReplicas, seed);
    for (auto* engine : scene.engines) {
      for (int i = 0; i < 2000; ++i)
        engine->fates.push_back({{},
                                 {},
                                 milliseconds(scene.world.random.below(300)),
                                 milliseconds(scene.world.random.below(3000))});
    }
    std::map<std::string, std::set<std::string>> homes;
    std::size_t over = 0;
    ASSERT_TRUE(scene.run([&]() -> Task<void> {
      std::size_t left = kConversations;
      const auto converse = [](PoolScene& s, int number, std::size_t& running,
                               std::map<std::string, std::set<std::string>>& seen) -> Task<void> {
        co_await s.wait(milliseconds(s.world.random.below(4000)));
        const std::string key = "c" + std::to_string(number);
        for (int i = 0; i < 6; ++i) {
          const auto outcome = co_await s.turn(key);
          EXPECT_TRUE(outcome.ok());
          seen[key].insert(outcome.served_by);
          co_await s.wait(milliseconds(s.world.random.below(2000)));
        }
        --running;
      };
      for (std::size_t c = 0; c < kConversations; ++c)
        base::spawn(converse(scene, static_cast<int>(c), left, homes));
      // NOLINTNEXTLINE(bugprone-infinite-loop): the conversations count down
      while (left > 0) {
        co_await scene.wait(milliseconds(20));
        std::size_t all = 0;
        std::size_t most = 0;
        for (const auto& view : scene.pool->replicas()) {
          all += view.running;
          most = std::max(most, view.running);
        }
        if (most * kReplicas > 2 * all + 2 * kReplicas) ++over;
      }
    })) << "seed "
        << seed;
    std::map<std::string, std::size_t> conversations;
    for (const auto& [key, urls] : homes) {
      EXPECT_EQ(urls.size(), 1U) << key << " moved, seed " << seed;
      ++conversations[*urls.begin()];
    }
    for (const auto& [url, count] : conversations)
      EXPECT_LE(count, kConversations / kReplicas * 11 / 10 + 2) << url << ", seed " << seed;
    EXPECT_EQ(over, 0U) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, PoolChoice, ::testing::Values(Path::kTokens, Path::kMessages),
                         [](const auto& path) {
                           return path.param == Path::kTokens ? "by_ids" : "by_messages";
                         });

}  // namespace
}  // namespace verbatim::engine::pool
