#include "gateway/turn_endpoint.h"

#include <gtest/gtest.h>

#include "gateway/testing/chat_server.h"
#include "protocol/chat_reader.h"

namespace verbatim::gateway {
namespace {

using base::ErrorKind;
using base::Task;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Answer;
using testing::ChatServer;
using testing::EngineScript;
using testing::EngineStep;
using testing::FakeEngine;
using testing::HttpCaller;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

const std::string kWhole = R"({"messages":[{"role":"user","content":"hello"}]})";
const std::string kStream = R"({"stream":true,"messages":[{"role":"user","content":"hello"}]})";

EngineStep step(std::string_view text, base::Duration after = base::Duration(0)) {
  EngineStep step;
  step.ids = encoded(text);
  step.after = after;
  return step;
}

EngineScript script(std::vector<EngineStep> steps) {
  EngineScript script;
  script.steps = std::move(steps);
  return script;
}

EngineStep failing(base::Duration after, base::Error error) {
  EngineStep step;
  step.after = after;
  step.error = std::move(error);
  return step;
}

// An engine's own refusal with `body`.
base::Error refusal(int status, std::string body) {
  auto error =
      base::error(ErrorKind::kEngine, "the engine answered with status " + std::to_string(status));
  error.upstream = std::make_shared<const base::UpstreamAnswer>(base::UpstreamAnswer{
      status,
      {{"Content-Type", "text/html"}, {"Retry-After", "7"}, {"X-Request-Id", "up-1"}},
      std::move(body)});
  return error;
}

Answer refused_with(const std::string& request, base::Error error) {
  ChatServer server;
  EngineScript refusing;
  refusing.refusal = std::move(error);
  server.scene.engine.scripts.push_back(refusing);
  const std::string before = server.scene.store.dump();
  auto answer = server.post(request);
  EXPECT_EQ(server.scene.store.dump(), before);
  return answer;
}

TEST(TurnEndpoint, a_whole_answer_has_message_finish_and_usage) {
  ChatServer server;
  server.scene.engine.scripts.push_back(
      FakeEngine::says(encoded("<think>\nso\n</think>\n\nfine<|im_end|>")));
  const auto answer = server.post(kWhole);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-type"), "application/json");
  EXPECT_EQ(answer.text("object"), "chat.completion");
  EXPECT_TRUE(answer.text("id").starts_with("chatcmpl-"));
  EXPECT_EQ(answer.text("model"), "toy");
  EXPECT_EQ(answer.text("choices", 0, "message", "content"), "fine");
  EXPECT_EQ(answer.text("choices", 0, "message", "reasoning_content"), "so");
  EXPECT_EQ(answer.text("choices", 0, "finish_reason"), "stop");
  EXPECT_EQ(answer.text("usage", "prompt_tokens"),
            std::to_string(server.scene.engine.asked[0].prompt.size()));
  EXPECT_EQ(answer.text("usage", "completion_tokens"),
            std::to_string(encoded("<think>\nso\n</think>\n\nfine<|im_end|>").size()));
}

TEST(TurnEndpoint, a_request_id_is_the_clients_or_ours_and_is_recorded) {
  ChatServer server;
  server.run([&](HttpCaller& c) -> Task<void> {
    const auto ours = co_await c.post("/s1", kWhole);
    EXPECT_TRUE(ours.header("x-request-id").starts_with("req_"));
    c.headers.add("X-Request-Id", "client-9").add("X-Thread-Id", "thread-3");
    const auto theirs = co_await c.post("/s1", kWhole);
    EXPECT_EQ(theirs.header("x-request-id"), "client-9");
    const auto turns = (co_await server.scene.store.turns("s1")).value();
    EXPECT_EQ(turns[0]->request_id, ours.header("x-request-id"));
    EXPECT_EQ(turns[0]->completion_id, ours.text("id"));
    EXPECT_EQ(turns[1]->request_id, "client-9");
    EXPECT_EQ(turns[1]->thread_id, "thread-3");
  });
}

TEST(TurnEndpoint, the_engine_sees_the_clients_trace_and_never_its_credentials) {
  ChatServer server;
  server.run([&](HttpCaller& c) -> Task<void> {
    c.headers.add("traceparent", "00-ab-cd-01")
        .add("baggage", "k=v")
        .add("x-request-id", "client-9");
    c.headers.add("Authorization", "Bearer secret").add("x-api-key", "secret");
    (void)co_await c.post("/s1", kWhole);
  });
  ASSERT_EQ(server.scene.engine.asked.size(), 1U);
  std::vector<std::string> lines;
  for (const auto field : server.scene.engine.asked[0].headers)
    lines.push_back(std::string(field.name) + ": " + std::string(field.value));
  EXPECT_EQ(lines, (std::vector<std::string>{"traceparent: 00-ab-cd-01", "baggage: k=v",
                                             "x-request-id: client-9"}));
}

TEST(TurnEndpoint, an_id_in_a_header_that_records_can_not_hold_is_refused) {
  for (const std::string name : {"x-request-id", "x-thread-id"}) {
    for (const std::string& value :
         {std::string("\xFF\x80"), std::string("\xED\xA0\x80"), std::string(513, 'i')}) {
      ChatServer server;
      const std::string before = server.scene.store.dump();
      server.run([&](HttpCaller& c) -> Task<void> {
        c.headers.add(name, value);
        const auto answer = co_await c.post("/s1", kWhole);
        EXPECT_EQ(answer.status, 400);
        EXPECT_EQ(answer.text("error", "param"), name);
      });
      EXPECT_EQ(server.scene.store.dump(), before);
      EXPECT_TRUE(server.scene.engine.asked.empty());
    }
  }
  ChatServer server;
  server.run([&](HttpCaller& c) -> Task<void> {
    c.headers.add("x-request-id", std::string(512, 'i')).add("x-thread-id", "\xC3\xA9");
    EXPECT_EQ((co_await c.post("/s1", kWhole)).status, 200);
  });
}

TEST(TurnEndpoint, an_engines_refusal_keeps_no_field_about_its_own_body) {
  for (const std::string body : {R"({"error":{"message":"no"}})", "\x1f\x8b packed"}) {
    auto error = base::error(ErrorKind::kEngine, "the engine answered with status 429");
    error.upstream = std::make_shared<const base::UpstreamAnswer>(base::UpstreamAnswer{
        429, {{"content-encoding", "gzip"}, {"ETag", "\"a\""}, {"Retry-After", "7"}}, body});
    const auto answer = refused_with(kWhole, error);
    EXPECT_EQ(answer.status, 429);
    EXPECT_EQ(answer.header("retry-after"), "7");
    EXPECT_EQ(answer.header("content-encoding"), "");
    EXPECT_EQ(answer.header("etag"), "");
  }
}

TEST(TurnEndpoint, the_model_is_named_as_the_client_named_it) {
  ChatServer server;
  EXPECT_EQ(
      server.post(R"({"model":"mine","messages":[{"role":"user","content":"q"}]})").text("model"),
      "mine");
}

TEST(TurnEndpoint, a_stream_is_role_deltas_finish_usage_and_done) {
  ChatServer server;
  server.scene.engine.scripts.push_back(script(
      {step("<think>\nso\n</think>\n\n"), step("fine"),
       step("<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call><|im_end|>")}));
  const auto answer = server.post(R"({"stream":true,"stream_options":{"include_usage":true},)"
                                  R"("messages":[{"role":"user","content":"hello"}]})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-type"), "text/event-stream");
  EXPECT_EQ(answer.header("cache-control"), "no-cache");
  EXPECT_FALSE(answer.cut);
  std::string order;
  for (const auto& event : answer.events()) {
    const auto at = [&](std::vector<std::string> path) { return Answer::text_at(event, path); };
    const std::string delta = at({"choices", "0", "delta"});
    if (event == "[DONE]") {
      order += "D";
    } else if (!at({"usage", "total_tokens"}).empty()) {
      order += "U";
    } else if (at({"choices", "0", "finish_reason"}) != "null") {
      order += "F";
    } else if (delta.find("\"role\"") != std::string::npos) {
      order += "R";
    } else if (delta.find("\"reasoning_content\"") != std::string::npos) {
      order += "r";
    } else if (delta.find("\"content\"") != std::string::npos) {
      order += "c";
    } else if (delta.find("\"tool_calls\"") != std::string::npos) {
      order += "t";
    }
  }
  EXPECT_TRUE(order.starts_with("Rr")) << order;
  EXPECT_TRUE(order.ends_with("FUD")) << order;
  EXPECT_LT(order.find('c'), order.find('t')) << order;
  EXPECT_EQ(std::count(order.begin(), order.end(), 'R'), 1);
}

TEST(TurnEndpoint, a_stream_folds_to_the_whole_answer) {
  const std::string said =
      "<think>\nso\n</think>\n\nfine<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1}}\n"
      "</tool_call><|im_end|>";
  ChatServer whole;
  whole.scene.engine.scripts.push_back(FakeEngine::says(encoded(said)));
  auto expected = protocol::read_chat_answer(whole.post(kWhole).body).value();

  ChatServer streamed;
  EngineScript pieces;
  for (const auto id : encoded(said)) {
    EngineStep one;
    one.ids = {id};
    pieces.steps.push_back(one);
  }
  streamed.scene.engine.scripts.push_back(pieces);
  const auto answer = streamed.post(kStream);
  protocol::ChatStreamReader reader;
  message::Events events;
  for (const auto& event : answer.events()) EXPECT_TRUE(reader.feed(event, events).ok());
  EXPECT_TRUE(reader.done());
  auto got = reader.result().turn;
  ASSERT_EQ(got.calls.size(), 1U);
  EXPECT_TRUE(got.calls[0].native_id.starts_with("call_"));
  got.calls[0].native_id = expected.turn.calls.at(0).native_id;
  EXPECT_EQ(got, expected.turn);
  EXPECT_EQ(reader.result().finish_reason, expected.finish_reason);
}

TEST(TurnEndpoint, logprobs_are_shown_where_asked_for_and_one_per_token) {
  for (const bool stream : {false, true}) {
    ChatServer server;
    auto fine = step("fine<|im_end|>");
    fine.top_logprobs.assign(fine.ids.size(), {{encoded("a")[0], -0.75}});
    server.scene.engine.scripts.push_back(script({fine}));
    const auto answer = server.post(std::string(R"({"logprobs":true,"top_logprobs":1,"stream":)") +
                                    (stream ? "true" : "false") +
                                    R"(,"messages":[{"role":"user","content":"q"}]})");
    ASSERT_EQ(answer.status, 200) << answer.body;
    std::size_t seen = 0;
    for (std::size_t at = 0; (at = answer.body.find("\"logprob\":-0.5", at)) != std::string::npos;
         ++at)
      ++seen;
    EXPECT_EQ(seen, fine.ids.size());
    EXPECT_NE(answer.body.find("\"logprob\":-0.75"), std::string::npos);
  }
}

TEST(TurnEndpoint, tokens_reach_the_client_while_the_engine_works) {
  ChatServer server;
  server.scene.engine.scripts.push_back(
      script({step("one", seconds(1)), step(" two", seconds(2)), step("<|im_end|>", seconds(3))}));
  const auto start = server.now();
  const auto answer = server.post(kStream);
  ASSERT_GE(answer.pieces.size(), 3U);
  EXPECT_NE(answer.pieces[0].bytes.find("\"one\""), std::string::npos);
  EXPECT_LT(answer.pieces[0].at, start + milliseconds(1100));
  EXPECT_NE(answer.pieces[1].bytes.find("\" two\""), std::string::npos);
  EXPECT_LT(answer.pieces[1].at, start + milliseconds(3100));
}

TEST(TurnEndpoint, the_end_of_a_stream_waits_for_the_commit) {
  ChatServer server;
  server.scene.store.commit_takes = seconds(4);
  const auto start = server.now();
  const auto answer = server.post(kStream);
  ASSERT_GE(answer.pieces.size(), 2U);
  for (const auto& piece : answer.pieces) {
    const bool ends = piece.bytes.find("\"finish_reason\":\"stop\"") != std::string::npos ||
                      piece.bytes.find("[DONE]") != std::string::npos;
    EXPECT_EQ(ends, piece.at >= start + seconds(4)) << piece.bytes;
  }
}

TEST(TurnEndpoint, what_is_wrong_with_the_request_is_told_in_order) {
  ChatServer server;
  server.run([&](HttpCaller& c) -> Task<void> {
    const auto malformed = co_await c.post("/unknown", "{");
    EXPECT_EQ(malformed.status, 400) << "before the session is looked up";
    const auto unknown = co_await c.post("/unknown", kWhole);
    EXPECT_EQ(unknown.status, 404);
    EXPECT_NE(unknown.text("error", "message").find("session_id=unknown"), std::string::npos);
    for (const auto* stream : {"false", "true"}) {
      const auto refused =
          co_await c.post("/s1", std::string(R"({"stream":)") + stream +
                                     R"(,"messages":[{"role":"assistant","content":"hi"}]})");
      EXPECT_EQ(refused.status, 400);
      EXPECT_EQ(refused.text("error", "param"), "messages");
      EXPECT_EQ(refused.text("error", "type"), "invalid_request_error");
    }
    EXPECT_TRUE(server.scene.engine.asked.empty());
    const auto fine = co_await c.post("/s1", kWhole);
    EXPECT_EQ(fine.status, 200) << "the connection stays usable";
  });
}

TEST(TurnEndpoint, an_engines_error_keeps_status_headers_and_openai_body) {
  const std::string body = R"({"error": {"message":"slow down","extra":1}})";
  for (const auto& request : {kWhole, kStream}) {
    const auto answer = refused_with(request, refusal(429, body));
    EXPECT_EQ(answer.status, 429);
    EXPECT_EQ(answer.body, body) << "byte for byte";
    EXPECT_EQ(answer.header("retry-after"), "7");
    EXPECT_EQ(answer.header("x-engine-request-id"), "up-1");
    EXPECT_EQ(answer.header("content-type"), "application/json");
  }
}

TEST(TurnEndpoint, an_engines_error_of_another_shape_is_wrapped) {
  for (const char* body :
       {"<html>Bad gateway</html>", R"({"detail":"flat"})", R"({"error":"flat"})",
        R"({"error":{"message":5}})", "[1]", "", "{\"error\":"}) {
    const auto answer = refused_with(kWhole, refusal(503, body));
    EXPECT_EQ(answer.status, 503) << body;
    EXPECT_EQ(answer.header("retry-after"), "7");
    EXPECT_EQ(answer.text("error", "message"), "the engine answered with status 503") << body;
    EXPECT_EQ(answer.text("error", "type"), "upstream_error");
  }
}

TEST(TurnEndpoint, errors_of_each_kind_have_their_status) {
  const std::vector<std::pair<ErrorKind, int>> rows{
      {ErrorKind::kInvalidRequest, 400}, {ErrorKind::kUnsupported, 400},
      {ErrorKind::kUnauthorized, 401},   {ErrorKind::kNotFound, 404},
      {ErrorKind::kConflict, 409},       {ErrorKind::kTooLarge, 413},
      {ErrorKind::kEngine, 502},         {ErrorKind::kUnavailable, 503},
      {ErrorKind::kTimeout, 504},        {ErrorKind::kInternal, 500}};
  for (const auto& [kind, status] : rows)
    EXPECT_EQ(refused_with(kWhole, base::error(kind, "no")).status, status);
}

TEST(TurnEndpoint, an_error_after_the_first_byte_is_an_event_and_never_a_finish) {
  ChatServer server;
  server.scene.engine.scripts.push_back(
      script({step("fi"), failing(seconds(0), base::error(ErrorKind::kEngine, "counts differ"))}));
  const std::string before = server.scene.store.dump();
  const auto answer = server.post(kStream);
  EXPECT_EQ(answer.status, 200);
  EXPECT_FALSE(answer.cut) << "never a bare close";
  const auto events = answer.events();
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events.back(), "[DONE]");
  EXPECT_EQ(Answer::text_at(events[events.size() - 2], {"error", "message"}), "counts differ");
  EXPECT_EQ(answer.body.find("\"finish_reason\":\"stop\""), std::string::npos);
  EXPECT_EQ(server.scene.store.dump(), before);
}

TEST(TurnEndpoint, a_store_that_cannot_commit_is_told_as_503_or_in_band) {
  for (const auto& request : {kWhole, kStream}) {
    ChatServer server;
    server.scene.store.commit_fails = base::error(ErrorKind::kUnavailable, "disk full");
    const auto answer = server.post(request);
    if (request == kWhole) {
      EXPECT_EQ(answer.status, 503);
    } else {
      EXPECT_EQ(answer.status, 200);
      EXPECT_NE(answer.body.find("disk full"), std::string::npos);
      EXPECT_EQ(answer.body.find("\"finish_reason\":\"stop\""), std::string::npos);
    }
  }
}

// The first turn of a conversation asks the store for nothing else.
TEST(TurnEndpoint, a_store_that_is_known_to_take_no_turns_costs_no_sampling) {
  for (const char* path : {"/", "/s1"}) {
    ChatServer server;
    server.scene.store.takes_none = base::error(ErrorKind::kUnavailable, "the store can't write");
    server.run([&](HttpCaller& c) -> Task<void> {
      for (const auto& request : {kWhole, kStream}) {
        const auto answer = co_await c.post(path, request);
        EXPECT_EQ(answer.status, 503) << path;
        EXPECT_NE(answer.body.find("the store can't write"), std::string::npos);
      }
    });
    EXPECT_TRUE(server.scene.engine.asked.empty()) << path;
  }
}

TEST(TurnEndpoint, a_store_that_cannot_look_up_the_session_is_503) {
  ChatServer server;
  server.scene.store.session_fails = base::error(ErrorKind::kUnavailable, "disk gone");
  EXPECT_EQ(server.post(kWhole).status, 503);
}

TEST(TurnEndpoint, stateless_chat_needs_no_session_and_finds_its_history) {
  ChatServer server;
  server.run([&](HttpCaller& c) -> Task<void> {
    const auto first = co_await c.post("/", kWhole);
    EXPECT_EQ(first.status, 200);
    const auto second = co_await c.post(
        "/", R"({"messages":[{"role":"user","content":"hello"},)"
             R"({"role":"assistant","content":"ok"},{"role":"user","content":"go on"}]})");
    EXPECT_EQ(second.status, 200);
    const auto& asked = server.scene.engine.asked;
    EXPECT_EQ(asked[0].routing_key, asked[1].routing_key);
    EXPECT_TRUE(
        std::equal(asked[0].prompt.begin(), asked[0].prompt.end(), asked[1].prompt.begin()));
  });
}

TEST(TurnEndpoint, a_client_that_goes_away_takes_its_turn_along) {
  for (const auto& request : {kWhole, kStream}) {
    for (const int when : {1, 3, 25}) {
      ChatServer server;
      server.scene.engine.scripts.push_back(
          script({step("fi", seconds(2)), step("ne", seconds(40)), step("<|im_end|>")}));
      const std::string before = server.scene.store.dump();
      base::CancelSignal hang_up;
      base::Timer later;
      server.run([&](HttpCaller& c) -> Task<void> {
        later.arm(server.scene.world.executor.timers(), server.now() + seconds(when),
                  [&] { hang_up.fire("gone"); });
        c.hang_up = &hang_up;
        (void)co_await c.post("/s1", request);
      });
      EXPECT_EQ(server.scene.engine.aborts, 1) << request << " " << when;
      EXPECT_EQ(server.scene.store.dump(), before);
      EXPECT_EQ(server.scene.store.commits, 0);
    }
  }
}

TEST(TurnEndpoint, a_deleted_session_ends_its_running_turns) {
  for (const auto& request : {kWhole, kStream}) {
    for (const bool begun : {false, true}) {
      ChatServer server;
      auto slow = begun ? script({step("fi"), step("ne", seconds(30))}) : EngineScript();
      slow.hang = !begun;
      server.scene.engine.scripts.push_back(slow);
      const auto start = server.now();
      base::Timer later;
      later.arm(server.scene.world.executor.timers(), start + seconds(2), [&] {
        base::spawn([](store::Store& store) -> Task<void> {
          (void)co_await store.delete_session("s1");
        }(server.scene.store));
        server.running.cancel("s1");
        server.running.cancel("another");
      });
      Answer answer;
      server.run([&](HttpCaller& c) -> Task<void> {
        answer = co_await c.post("/s1", request);
        EXPECT_LT(server.now(), start + seconds(3)) << "at once";
      });
      EXPECT_EQ(server.scene.engine.aborts, 1);
      EXPECT_EQ(answer.status, request == kStream && begun ? 200 : 404) << answer.body;
      EXPECT_NE(answer.body.find("session deleted while the turn was running: session_id=s1"),
                std::string::npos)
          << answer.body;
      EXPECT_EQ(server.scene.store.dump(), "");
    }
  }
}

}  // namespace
}  // namespace verbatim::gateway
