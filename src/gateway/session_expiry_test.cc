#include "gateway/session_expiry.h"

#include <gtest/gtest.h>

#include "gateway/testing/chat_server.h"

namespace verbatim::gateway {
namespace {

using testing::Answer;
using testing::FakeEngine;
using testing::HttpCaller;
using testing::Scene;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

constexpr base::Duration kTtl = std::chrono::minutes(10);

base::Task<void> sleep(base::Executor& executor, base::Duration time) {
  co_await base::sleep_for(executor, time);
}

// Sessions that expire ten minutes behind their last turn.
struct Expiring {
  Expiring()
      : runner(scene.world.runtime, *scene.model, scene.engine, scene.store, nullptr, Scene::kKey,
               options()),
        expiry(scene.world.executor, scene.store, in_use, nullptr, kTtl) {
    create(kUsed);
  }

  static constexpr const char* kUsed = "used";

  RunnerOptions options() {
    RunnerOptions made;
    made.turn_timeout = std::chrono::hours(10);
    made.in_use = &in_use;
    return made;
  }
  void create(const std::string& id) {
    std::optional<base::Status> made;
    run(take(scene.store.create_session({id, executor().clock().wall_ms()}), made));
    ASSERT_TRUE(made->ok());
  }
  // A turn that ends well or not, behind `silence`; not waited for.
  void begin_turn(base::Duration silence, bool fails = false) {
    auto script = FakeEngine::says(encoded("a<|im_end|>"));
    script.steps.front().after = silence;
    if (fails) script.steps.front().error = base::error(base::ErrorKind::kEngine, "it broke");
    scene.engine.scripts.push_back(std::move(script));
    auto request = Scene::request({user("1")});
    request.session_id = kUsed;
    base::spawn(turn(std::move(request)));
  }
  base::Task<void> turn(TurnRequest request) {
    (void)co_await runner.run(request, scene.watcher, scene.cancel);
  }
  // Runs what is due within `time`, with the sweeps of it.
  void pass(base::Duration time) { run(sweep_for(time)); }
  // To the end of the task, and no further.
  void run(base::Task<void> task) { ASSERT_TRUE(scene.world.run(std::move(task))); }
  base::Task<void> sweep_for(base::Duration time) {
    for (const auto end = executor().clock().now() + time; executor().clock().now() < end;) {
      co_await base::sleep_for(executor(), std::chrono::seconds(30));
      co_await expiry.sweep(stop);
    }
  }
  bool there(const std::string& id) {
    std::optional<base::Result<std::optional<store::SessionInfo>>> found;
    run(take(scene.store.session(id), found));
    return (**found).has_value();
  }
  base::sim::SimExecutor& executor() { return scene.world.executor; }
  template <class T>
  static base::Task<void> take(base::Task<T> task, std::optional<T>& into) {
    into.emplace(co_await std::move(task));
  }

  Scene scene;
  SessionsInUse in_use;
  TurnRunner runner;
  SessionExpiry expiry;
  base::CancelSignal stop;
};

TEST(SessionExpiry, a_session_that_is_not_used_goes_behind_its_time_and_not_before) {
  Expiring e;
  e.create("idle");
  e.pass(kTtl - std::chrono::minutes(1));
  EXPECT_TRUE(e.there("idle")) << "reading it does not keep it";
  e.pass(std::chrono::minutes(2));
  EXPECT_FALSE(e.there("idle"));
}

TEST(SessionExpiry, a_turn_begins_the_time_anew) {
  Expiring e;
  e.create("idle");
  e.pass(std::chrono::minutes(8));
  e.begin_turn(base::Duration(0));
  e.pass(std::chrono::minutes(8));
  EXPECT_TRUE(e.there(Expiring::kUsed));
  EXPECT_FALSE(e.there("idle"));
  e.pass(std::chrono::minutes(3));
  EXPECT_FALSE(e.there(Expiring::kUsed));
  EXPECT_EQ(e.in_use.remembered(), 0U);
}

TEST(SessionExpiry, a_session_for_which_a_model_works_is_not_idle_however_long_that_takes) {
  for (const bool fails : {false, true}) {
    Expiring e;
    e.begin_turn(std::chrono::hours(3), fails);
    e.pass(std::chrono::hours(3) + std::chrono::minutes(9));
    EXPECT_TRUE(e.there(Expiring::kUsed)) << "its time begins behind the turn, failed or not";
    e.pass(std::chrono::minutes(3));
    EXPECT_FALSE(e.there(Expiring::kUsed));
    EXPECT_EQ(e.in_use.remembered(), 0U);
  }
}

TEST(SessionExpiry, ten_thousand_abandoned_sessions_go_and_the_one_in_use_stays) {
  Expiring e;
  for (int i = 0; i < 10'000; ++i) e.create("abandoned " + std::to_string(i));
  e.begin_turn(std::chrono::hours(1));
  e.pass(std::chrono::minutes(11));
  // With the one that the scene made long ago.
  EXPECT_EQ(e.expiry.expired(), 10'001U);
  EXPECT_TRUE(e.there(Expiring::kUsed));
  e.executor().run_until_idle();  // to the end of the turn
}

TEST(SessionExpiry, a_turn_that_is_committed_meanwhile_keeps_its_session) {
  Expiring e;
  e.pass(std::chrono::minutes(9));
  const auto before = e.executor().clock().wall_ms();
  e.begin_turn(base::Duration(0));
  e.executor().run_until_idle();
  std::optional<base::Result<bool>> expired;
  e.run(Expiring::take(e.scene.store.expire_session(Expiring::kUsed, before), expired));
  EXPECT_FALSE(**expired);
  EXPECT_TRUE(e.there(Expiring::kUsed));
}

// A gateway whose sessions are all idle when a sweep begins that takes a second for each of them.
struct Moment {
  Moment() : expiry(executor(), server.scene.store, server.scene.in_use, nullptr, kTtl) {}

  base::sim::SimExecutor& executor() { return server.scene.world.executor; }
  // A conversation that goes on with a request `later` than the sweep begins; its answer.
  Answer ask(const std::string& path, base::Duration later) {
    Answer answer;
    server.run([&](HttpCaller& c) -> base::Task<void> {
      const auto first = co_await c.post(path, kFirst);
      EXPECT_EQ(first.status, 200) << first.body;
      co_await base::sleep_for(executor(), kTtl + std::chrono::minutes(1));
      base::spawn(expiry.sweep(stop));
      co_await base::sleep_for(executor(), later);
      answer = co_await c.post(path, kNext);
      co_await base::sleep_for(executor(), std::chrono::seconds(5));
    });
    return answer;
  }
  // Sessions of the turns that were sampled.
  [[nodiscard]] std::vector<std::string> sampled() const {
    std::vector<std::string> sessions;
    for (const auto& asked : server.scene.engine.asked) sessions.push_back(asked.routing_key);
    return sessions;
  }

  static constexpr const char* kFirst = R"({"messages":[{"role":"user","content":"1"}]})";
  static constexpr const char* kNext =
      R"({"messages":[{"role":"user","content":"1"},{"role":"assistant","content":"ok"},)"
      R"({"role":"user","content":"2"}]})";
  testing::ChatServer server;
  SessionExpiry expiry;
  base::CancelSignal stop;
};

TEST(SessionExpiry, a_request_finds_its_session_expired_or_keeps_it_whenever_it_comes) {
  for (int ms = 0; ms <= 2000; ms += 100) {
    Moment m;
    m.server.scene.store.expire_takes = std::chrono::seconds(1);
    const auto answer = m.ask("/s1", std::chrono::milliseconds(ms));
    EXPECT_EQ(answer.status, 404) << "at " << ms << " ms: " << answer.body;
    EXPECT_EQ(m.sampled().size(), 1U) << "sampled in vain at " << ms << " ms";
  }
}

TEST(SessionExpiry, a_request_goes_on_where_its_session_could_not_be_deleted) {
  Moment m;
  m.server.scene.store.expire_takes = std::chrono::seconds(1);
  m.server.scene.store.expire_fails = base::error(base::ErrorKind::kUnavailable, "the disk");
  EXPECT_EQ(m.ask("/s1", std::chrono::milliseconds(500)).status, 200);
}

TEST(SessionExpiry, a_conversation_that_no_session_was_named_for_begins_anew_when_it_expires) {
  // The sweep is over before the request comes, while it is under way, or while it is looked up.
  for (const int look_up_ms : {0, 3000}) {
    for (int ms = 0; ms <= 2000; ms += 100) {
      Moment m;
      m.server.scene.store.expire_takes = std::chrono::seconds(1);
      m.server.scene.store.takes_turns_takes = std::chrono::milliseconds(look_up_ms);
      const auto answer = m.ask("/", std::chrono::milliseconds(ms));
      EXPECT_EQ(answer.status, 200) << "at " << ms << " ms: " << answer.body;
      ASSERT_EQ(m.sampled().size(), 2U);
      EXPECT_NE(m.sampled()[0], m.sampled()[1]);
    }
  }
}

TEST(SessionExpiry, a_sweep_ends_when_it_is_stopped) {
  Expiring e;
  for (int i = 0; i < 1000; ++i) e.create("idle " + std::to_string(i));
  e.stop.fire("shutting down");
  e.pass(kTtl + std::chrono::minutes(1));
  EXPECT_EQ(e.expiry.expired(), 0U);
}

TEST(SessionExpiry, sweeps_until_it_is_stopped) {
  Expiring e;
  e.create("idle");
  base::CancelSignal stop;
  bool over = false;
  base::spawn(
      [](SessionExpiry& expiry, base::CancelSignal& signal, bool& done) -> base::Task<void> {
        co_await expiry.run(signal);
        done = true;
      }(e.expiry, stop, over));
  e.run(sleep(e.executor(), kTtl + std::chrono::minutes(2)));
  EXPECT_FALSE(e.there("idle"));
  stop.fire("enough");
  e.executor().run_until_idle();
  EXPECT_TRUE(over);
}

}  // namespace
}  // namespace verbatim::gateway
