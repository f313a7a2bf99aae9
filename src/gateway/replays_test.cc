// Answers that are asked for once more: who joins, who gets what ended, and who is sampled anew.
#include "gateway/replays.h"

#include <gtest/gtest.h>

#include "base/gather.h"
#include "base/timer.h"
#include "gateway/testing/chat_server.h"

namespace verbatim::gateway {
namespace {

using base::Task;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Answer;
using testing::ChatServer;
using testing::EngineScript;
using testing::EngineStep;
using testing::HttpCaller;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

const std::string kWhole = R"({"messages":[{"role":"user","content":"hello"}]})";
const std::string kStream = R"({"stream":true,"messages":[{"role":"user","content":"hello"}]})";

EngineStep step(std::string_view text, base::Duration after = {}) {
  EngineStep step;
  step.ids = encoded(text);
  step.after = after;
  return step;
}

EngineScript slow(std::string_view rest = "ne<|im_end|>") {
  EngineScript script;
  script.steps = {step("fi"), step(rest, seconds(5))};
  return script;
}

std::string text_of(const Answer& answer) {
  if (answer.body.find("data:") == std::string::npos)
    return answer.text("choices", 0, "message", "content");
  std::string text;
  for (const auto& event : answer.events())
    text += Answer::text_at(event, {"choices", "0", "delta", "content"});
  return text;
}

// A request of its own connection: begins `at`, hangs up at `until`.
struct Request {
  std::string body;
  base::Duration at{0};
  base::Duration until{0};  // 0: stays
  std::string key;          // Idempotency-Key
  std::string count;        // x-stainless-retry-count
  std::string path = "/s1";
  Answer answer;
};

Task<void> send(ChatServer& server, std::uint16_t port, Request& request) {
  auto& executor = server.scene.world.executor;
  co_await base::sleep_for(executor, request.at);
  HttpCaller caller(server.scene.world.runtime, port);
  base::CancelSignal hang_up;
  base::Timer timer;
  if (request.until.count() != 0) {
    caller.hang_up = &hang_up;
    timer.arm(executor.timers(), server.now() + (request.until - request.at),
              [&] { hang_up.fire("the test hangs up"); });
  }
  if (!request.key.empty()) caller.headers.add("Idempotency-Key", request.key);
  if (!request.count.empty()) caller.headers.add("x-stainless-retry-count", request.count);
  request.answer = co_await caller.post(request.path, request.body);
  co_await caller.stop();
}

// Runs the requests beside each other; the engine's scripts are asked in order.
void play(ChatServer& server, std::vector<Request>& requests) {
  server.run([&](HttpCaller& c) -> Task<void> {
    std::vector<Task<void>> all;
    for (auto& request : requests) all.push_back(send(server, c.port(), request));
    co_await base::gather(std::move(all));
  });
}

std::size_t turns(ChatServer& server) {
  std::size_t count = 0;
  server.scene.run([](store::Store& store, std::size_t& out) -> Task<void> {
    out = (co_await store.turns("s1")).value().size();
  }(server.scene.store, count));
  return count;
}

TEST(Replays, a_repeat_joins_the_turn_that_runs_and_gets_all_of_it) {
  for (const auto& body : {kWhole, kStream}) {
    for (const bool by_key : {true, false}) {
      ChatServer server;
      server.scene.engine.scripts.push_back(slow());
      std::vector<Request> requests(2);
      for (auto& each : requests) each.body = body;
      requests[0].until = milliseconds(500);
      requests[1].at = milliseconds(1500);
      if (by_key) {
        requests[0].key = requests[1].key = "k1";
      } else {
        requests[0].count = "0";
        requests[1].count = "1";
      }
      play(server, requests);
      EXPECT_EQ(requests[1].answer.status, 200) << requests[1].answer.body;
      EXPECT_EQ(text_of(requests[1].answer), "fine");
      EXPECT_EQ(server.scene.engine.asked.size(), 1U) << "sampled once";
      EXPECT_EQ(server.scene.engine.aborts, 0);
      EXPECT_EQ(turns(server), 1U);
    }
  }
}

TEST(Replays, both_get_the_same_answer_where_both_wait) {
  ChatServer server;
  server.scene.engine.scripts.push_back(slow());
  std::vector<Request> requests(2);
  for (auto& each : requests) {
    each.body = kStream;
    each.key = "k1";
  }
  requests[1].at = seconds(1);
  play(server, requests);
  EXPECT_EQ(requests[0].answer.body, requests[1].answer.body);
  EXPECT_EQ(text_of(requests[0].answer), "fine");
  EXPECT_EQ(turns(server), 1U);
}

TEST(Replays, who_waits_for_the_turn_of_another_request_waits_as_long_as_for_its_own) {
  for (const auto& body : {kWhole, kStream}) {
    ChatServer server;
    server.scene.store.commit_takes = seconds(2000);  // no deadline ends it
    std::vector<Request> requests(2);
    for (auto& each : requests) {
      each.body = body;
      each.key = "k1";
    }
    requests[1].at = seconds(1);
    const auto begun = server.now();
    base::MonoTime told;
    server.run([&](HttpCaller& c) -> Task<void> {
      std::vector<Task<void>> all;
      all.push_back(send(server, c.port(), requests[0]));
      all.push_back([](ChatServer& s, std::uint16_t port, Request& request,
                       base::MonoTime& at) -> Task<void> {
        co_await send(s, port, request);
        at = s.now();
      }(server, c.port(), requests[1], told));
      co_await base::gather(std::move(all));
    });
    const auto& late = requests[1].answer;
    EXPECT_NE(late.body.find("did not end within 600 s"), std::string::npos) << late.body;
    EXPECT_EQ(late.body.find("\"finish_reason\":\"stop\""), std::string::npos);
    EXPECT_EQ(late.status, body == kWhole ? 504 : 200);
    EXPECT_LT(told - begun, seconds(700));
    EXPECT_EQ(text_of(requests[0].answer), "ok") << "the turn itself stands";
  }
}

TEST(Replays, equal_bodies_alone_are_new_samples) {
  struct Row {
    const char* first;
    const char* second;
  };
  for (const auto& row : {Row{"", ""}, Row{"0", "0"}, Row{"", "1"}}) {
    ChatServer server;
    for (int i = 0; i < 2; ++i) server.scene.engine.scripts.push_back(slow());
    std::vector<Request> requests(2);
    for (auto& each : requests) each.body = kWhole;
    requests[0].count = row.first;
    requests[1].count = row.second;
    requests[1].at = seconds(1);
    play(server, requests);
    EXPECT_EQ(turns(server), 2U) << row.first << "," << row.second;
  }
}

TEST(Replays, only_a_plain_count_above_0_says_that_a_request_is_a_repeat) {
  for (const char* count : {"abc", "-1", "00", "01", "+1", "1.0", "1e1", "0x1", "1 1", "0"}) {
    ChatServer server;
    for (int i = 0; i < 2; ++i) server.scene.engine.scripts.push_back(slow());
    std::vector<Request> requests(2);
    for (auto& each : requests) each.body = kWhole;
    requests[0].count = "0";
    requests[0].until = milliseconds(500);
    requests[1].count = count;
    requests[1].at = seconds(1);
    play(server, requests);
    EXPECT_EQ(server.scene.engine.asked.size(), 2U) << count;
    EXPECT_EQ(requests[1].answer.status, 200) << count;
  }
}

// A group of equal requests whose clients all gave up: each gets a turn of its own back.
TEST(Replays, each_of_several_equal_requests_gets_its_own_turn_again) {
  ChatServer server;
  for (int i = 0; i < 2; ++i) server.scene.engine.scripts.push_back(slow());
  std::vector<Request> requests(4);
  for (auto& each : requests) {
    each.body = kWhole;
    each.count = "0";
  }
  for (const std::size_t first : {0U, 1U}) {
    requests[first].until = milliseconds(500);
    requests[first + 2].at = milliseconds(1500);
    requests[first + 2].count = "1";
  }
  play(server, requests);
  EXPECT_EQ(server.scene.engine.asked.size(), 2U);
  EXPECT_EQ(turns(server), 2U);
  EXPECT_EQ(text_of(requests[2].answer), "fine");
  EXPECT_NE(requests[2].answer.text("id"), requests[3].answer.text("id")) << "not one for both";
}

// One whose client still waits is not another's, whoever repeats.
TEST(Replays, a_repeat_does_not_take_what_another_client_reads) {
  ChatServer server;
  for (int i = 0; i < 2; ++i) server.scene.engine.scripts.push_back(slow());
  std::vector<Request> requests(2);
  for (auto& each : requests) each.body = kWhole;
  requests[0].count = "0";
  requests[1].count = "1";
  requests[1].at = seconds(1);
  play(server, requests);
  EXPECT_EQ(turns(server), 2U);
  EXPECT_NE(requests[0].answer.text("id"), requests[1].answer.text("id"));
}

TEST(Replays, nobody_asks_again_so_the_engine_is_told_to_stop_after_the_grace) {
  for (const bool keyed : {true, false}) {
    ChatServer server;
    EngineScript endless;
    endless.steps = {step("fi"), step("ne<|im_end|>", seconds(60))};
    server.scene.engine.scripts.push_back(endless);
    const std::string before = server.scene.store.dump();
    std::vector<Request> requests(1);
    requests[0].body = kStream;
    requests[0].until = milliseconds(500);
    if (keyed) requests[0].count = "0";
    const auto start = server.now();
    play(server, requests);
    EXPECT_EQ(server.scene.engine.aborts, 1);
    EXPECT_EQ(server.scene.store.dump(), before);
    EXPECT_LT(server.now(), start + seconds(20));
    EXPECT_EQ(server.replays.size(), 0U) << "what failed is not kept";
  }
}

TEST(Replays, an_answer_that_did_not_arrive_is_given_again_and_one_that_did_only_by_its_key) {
  for (const bool by_key : {true, false}) {
    for (const bool arrived : {true, false}) {
      ChatServer server;
      for (int i = 0; i < 2; ++i) server.scene.engine.scripts.push_back(slow());
      std::vector<Request> requests(2);
      for (auto& each : requests) each.body = kStream;
      if (by_key) {
        requests[0].key = requests[1].key = "k1";
      } else {
        requests[0].count = "0";
        requests[1].count = "2";
      }
      // Gone 1 s before the end: within the grace the turn ends and is recorded.
      if (!arrived) requests[0].until = seconds(4);
      requests[1].at = seconds(30);
      play(server, requests);
      EXPECT_EQ(text_of(requests[1].answer), "fine");
      const bool sampled_anew = arrived && !by_key;
      EXPECT_EQ(turns(server), sampled_anew ? 2U : 1U) << by_key << arrived;
      EXPECT_EQ(requests[1].answer.header("content-type"), "text/event-stream");
    }
  }
}

// The grace ends while the store works: the turn stands, so there is an answer to give.
TEST(Replays, an_answer_whose_commit_outlasts_the_grace_is_given_again) {
  for (const bool by_key : {true, false}) {
    ChatServer server;
    server.scene.store.commit_takes = seconds(10);
    std::vector<Request> requests(2);
    for (auto& each : requests) each.body = kWhole;
    if (by_key) {
      requests[0].key = requests[1].key = "k1";
    } else {
      requests[0].count = "0";
      requests[1].count = "1";
    }
    requests[0].until = seconds(1);
    requests[1].at = seconds(30);
    play(server, requests);
    EXPECT_EQ(text_of(requests[1].answer), "ok");
    EXPECT_EQ(server.scene.engine.asked.size(), 1U) << "sampled once";
    EXPECT_EQ(turns(server), 1U);
  }
}

TEST(Replays, a_key_that_comes_with_another_body_is_a_conflict) {
  ChatServer server;
  server.scene.engine.scripts.push_back(slow());
  std::vector<Request> requests(3);
  for (auto& each : requests) {
    each.body = kWhole;
    each.key = "k1";
  }
  requests[1].at = seconds(1);
  requests[1].body = kStream;
  requests[2].at = seconds(1);
  requests[2].key = "bad key";
  play(server, requests);
  EXPECT_EQ(requests[0].answer.status, 200);
  EXPECT_EQ(requests[1].answer.status, 409) << requests[1].answer.body;
  EXPECT_EQ(requests[2].answer.status, 400);
  EXPECT_EQ(requests[2].answer.text("error", "param"), "idempotency-key");
}

TEST(Replays, a_failed_turn_fails_all_that_wait_and_is_sampled_anew_after_that) {
  ChatServer server;
  EngineScript failing;
  failing.steps = {step("fi"), EngineStep{}};
  failing.steps[1].after = seconds(3);
  failing.steps[1].error = base::error(base::ErrorKind::kEngine, "broke");
  server.scene.engine.scripts.push_back(failing);
  server.scene.engine.scripts.push_back(slow());
  std::vector<Request> requests(3);
  for (auto& each : requests) {
    each.body = kWhole;
    each.key = "k1";
  }
  requests[1].at = seconds(1);
  requests[2].at = seconds(10);
  play(server, requests);
  EXPECT_EQ(requests[0].answer.status, 502);
  EXPECT_EQ(requests[1].answer.status, 502);
  EXPECT_EQ(requests[2].answer.status, 200) << requests[2].answer.body;
  EXPECT_EQ(turns(server), 1U);
}

TEST(Replays, a_deleted_session_ends_it_for_all_and_gives_nothing_again) {
  ChatServer server;
  server.scene.engine.scripts.push_back(slow());
  std::vector<Request> requests(3);
  for (auto& each : requests) {
    each.body = kWhole;
    each.key = "k1";
  }
  requests[1].at = seconds(1);
  requests[2].at = seconds(10);
  base::Timer later;
  later.arm(server.scene.world.executor.timers(), server.now() + seconds(2), [&] {
    base::spawn([](store::Store& store) -> Task<void> {
      (void)co_await store.delete_session("s1");
    }(server.scene.store));
    server.running.cancel("s1");
  });
  play(server, requests);
  for (const auto& request : requests) EXPECT_EQ(request.answer.status, 404) << request.answer.body;
  EXPECT_EQ(server.scene.engine.aborts, 1);
}

TEST(Replays, what_ended_is_kept_within_limits_and_for_some_time) {
  Replays replays({.answers = 2, .bytes = 1000, .keeps = seconds(10)});
  const auto log = [] {
    auto made = std::make_shared<TurnLog>(protocol::ChatHead{}, [] {});
    made->append({});
    made->finish(Turns{});
    return made;
  };
  RetryKey key;
  key.by_key = key.repeats = true;
  const auto add = [&](const char* name, base::MonoTime now) {
    key.name = name;
    const auto own = log();
    EXPECT_EQ(replays.claim(key, own, now).value(), own) << name;
    replays.ended(key, own, Replays::Delivery::kWhole, now);
  };
  const auto is_kept = [&](const char* name, base::MonoTime now) {
    key.name = name;
    const auto own = log();
    const auto claimed = replays.claim(key, own, now).value();
    if (claimed == own) replays.ended(key, own, Replays::Delivery::kFailed, now);
    return claimed != own;
  };
  const base::MonoTime start{1000};
  add("a", start);
  add("b", start);
  add("c", start);
  EXPECT_FALSE(is_kept("a", start)) << "the oldest went";
  EXPECT_TRUE(is_kept("c", start));
  EXPECT_FALSE(is_kept("c", start + seconds(11)));
  EXPECT_EQ(replays.size(), 0U);
}

}  // namespace
}  // namespace verbatim::gateway
