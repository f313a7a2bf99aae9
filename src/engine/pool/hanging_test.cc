// Replicas whose sampling hangs while every GET is answered, as those of a sleeping vLLM are.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "engine/kinds.h"
#include "engine/pool/engine.h"
#include "engine/testing/proofs.h"
#include "sim/sim_engine.h"
#include "sim/testing/toy_tokenizer.h"

namespace verbatim::engine::pool {
namespace {

using base::Task;
using std::chrono::minutes;
using std::chrono::seconds;
using State = Health::State;
using engine::testing::Driven;

// Two simulated engines of one kind, the first of which may hang.
struct Scene {
  explicit Scene(const Driven& driven) {
    std::vector<Member> members;
    for (std::uint16_t i = 0; i < 2; ++i) {
      sim::SimOptions options;
      options.face = driven.face();
      options.tokenizer = sim::testing::toy_tokenizer();
      options.seed = i + 1U;
      engines.push_back(std::make_unique<sim::SimEngine>(world.runtime, options));
      Choice choice;
      choice.kind = driven.kind->name;
      choice.mode = driven.mode->name;
      choice.url.endpoint = {"r" + std::to_string(i), static_cast<std::uint16_t>(30000 + i), false};
      choice.vocab_size = options.tokenizer->vocab_size();
      EXPECT_TRUE(engines[i]->start(choice.url.endpoint.host, choice.url.endpoint.port).ok());
      urls.push_back(net::url_text(choice.url));
      auto engine = make_engine(world.runtime, choice);
      EXPECT_TRUE(engine.ok());
      if (engine.ok()) members.push_back({urls[i], std::move(*engine)});
    }
    pool = std::make_unique<Pool>(world.runtime, std::move(members));
  }

  using Started = base::Result<std::unique_ptr<TokenStream>>;

  Task<Started> by_ids(std::string conversation, base::MonoTime deadline) {
    static const TokenIds kPrompt = {1, 2, 3};
    TokenRequest request;
    request.request_id = base::new_hex_id(world.random);
    request.model = "sim";
    request.chat = R"({"model":"sim","messages":[{"role":"user","content":"hello"}]})";
    request.prompt = {kPrompt};
    request.max_new_tokens = 4;
    request.routing_key = std::move(conversation);
    request.deadline = deadline;
    auto stream = co_await pool->generate(std::move(request));
    co_return std::move(stream);
  }
  Task<Started> by_messages(std::string conversation, base::MonoTime deadline) {
    protocol::Conversation asked;
    asked.model = "sim";
    asked.messages = {{.role = message::Role::kUser, .text = "hello"}};
    MessageRequest request;
    request.request_id = base::new_hex_id(world.random);
    request.conversation = &asked;
    request.routing_key = std::move(conversation);
    request.deadline = deadline;
    auto stream = co_await pool->complete(std::move(request));
    co_return std::move(stream);
  }

  // The URL that served it, else what went wrong.
  Task<std::string> turn(std::string conversation, base::Duration time = seconds(20)) {
    const auto deadline = world.executor.clock().now() + time;
    Started stream(base::error(base::ErrorKind::kInternal, "not begun"));
    if (pool->driven_by() == Path::kTokens) {
      stream = co_await by_ids(std::move(conversation), deadline);
    } else {
      stream = co_await by_messages(std::move(conversation), deadline);
    }
    if (!stream.ok()) co_return stream.error().message;
    for (;;) {
      auto chunk = co_await (*stream)->next();
      if (!chunk.ok()) co_return chunk.error().message;
      if (!*chunk) co_return (*stream)->end().engine_url;
    }
  }
  Task<void> wait(base::Duration time) { co_await base::sleep_for(world.executor, time); }
  [[nodiscard]] State state() const { return pool->replicas()[0].state; }

  [[nodiscard]] bool run(const std::function<Task<void>()>& body) { return world.run(play(body)); }
  Task<void> play(const std::function<Task<void>()>& body) {
    const auto probe = co_await pool->probe(world.executor.clock().now() + seconds(5));
    EXPECT_TRUE(probe.ok());
    co_await body();
    co_await pool->stop();
    for (const auto& engine : engines) co_await engine->stop();
  }

  base::sim::SimWorld world{5};
  std::vector<std::string> urls;
  std::vector<std::unique_ptr<sim::SimEngine>> engines;
  std::unique_ptr<Pool> pool;
};

class PoolHanging : public ::testing::TestWithParam<Driven> {};

TEST_P(PoolHanging, one_silent_turn_leaves_a_replica_out_until_it_made_a_token) {
  Scene scene(GetParam());
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    const auto good = co_await scene.turn("a");
    EXPECT_EQ(good, scene.urls[0]);
    scene.engines[0]->set_hanging(true);
    const auto timed_out = co_await scene.turn("a");
    EXPECT_NE(timed_out, scene.urls[0]);
    EXPECT_EQ(scene.state(), State::kCooling) << timed_out;
    // Its GETs are good all the time.
    for (int i = 0; i < 30; ++i) {
      const auto moved = co_await scene.turn("a");
      EXPECT_EQ(moved, scene.urls[1]);
      const auto placed = co_await scene.turn("new " + std::to_string(i));
      EXPECT_EQ(placed, scene.urls[1]);
      co_await scene.wait(seconds(10));
    }
    EXPECT_EQ(scene.state(), State::kCooling);
    scene.engines[0]->set_hanging(false);
    co_await scene.wait(seconds(45));
    EXPECT_EQ(scene.state(), State::kServing);
  }));
}

TEST_P(PoolHanging, a_request_that_finds_no_other_is_not_given_to_one_that_hangs) {
  Scene scene(GetParam());
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    scene.engines[0]->set_hanging(true);
    (void)co_await scene.turn("a");
    EXPECT_TRUE(scene.pool->set_draining(scene.urls[1], Pool::Draining::kYes).ok());
    const auto before = scene.world.executor.clock().now();
    const auto outcome = co_await scene.turn("a", minutes(10));
    EXPECT_LE(scene.world.executor.clock().now() - before, seconds(6)) << outcome;
    EXPECT_TRUE(outcome.starts_with("no replica can take the request: ")) << outcome;
    scene.engines[0]->set_hanging(false);
    const auto good = co_await scene.turn("a");
    EXPECT_EQ(good, scene.urls[0]) << "asked for a token at once";
  }));
}

TEST_P(PoolHanging, checks_find_one_that_no_turn_went_to) {
  Scene scene(GetParam());
  ASSERT_TRUE(scene.run([&]() -> Task<void> {
    scene.engines[0]->set_hanging(true);
    co_await scene.wait(minutes(2));
    // Nothing is sampled, for a check, at a server that may be somebody's to pay.
    const bool may_cost = GetParam().kind->recognise == nullptr;
    EXPECT_EQ(scene.state(), may_cost ? State::kServing : State::kCooling);
    if (may_cost) {
      EXPECT_EQ(scene.engines[1]->stats().requests, 0U);
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(Modes, PoolHanging, ::testing::ValuesIn(engine::testing::all_driven()),
                         [](const auto& driven) { return driven.param.test_name(); });

}  // namespace
}  // namespace verbatim::engine::pool
