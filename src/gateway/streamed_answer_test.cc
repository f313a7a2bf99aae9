// Signs of life in silent streams, in virtual time.
#include "gateway/streamed_answer.h"

#include <gtest/gtest.h>

#include "gateway/testing/chat_server.h"

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
using testing::HttpCaller;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

const std::string kWhole = R"({"messages":[{"role":"user","content":"hello"}]})";
const std::string kStream = R"({"stream":true,"messages":[{"role":"user","content":"hello"}]})";
const std::string kPing = ": keep-alive\n\n";

EngineStep step(std::string_view text, base::Duration after) {
  EngineStep step;
  step.ids = encoded(text);
  step.after = after;
  return step;
}

EngineStep failing(base::Duration after, base::Error error) {
  EngineStep step;
  step.after = after;
  step.error = std::move(error);
  return step;
}

// What a stream brought and when, in seconds since the request: "." for a comment alone, "x" for
// events.
std::string timeline(const Answer& answer, base::MonoTime start) {
  std::string line;
  for (const auto& piece : answer.pieces) {
    const auto ms = std::chrono::duration_cast<milliseconds>(piece.at - start).count();
    if (!line.empty()) line += ' ';
    line += std::to_string((ms + 50) / 1000) + (piece.bytes == kPing ? "." : "x");
  }
  return line;
}

struct Got {
  Answer answer;
  std::string timeline;
};

Got stream(ChatServer& server, EngineScript script, const std::string& request = kStream) {
  server.scene.engine.scripts.push_back(std::move(script));
  const auto start = server.now();
  Got got;
  got.answer = server.post(request);
  got.timeline = timeline(got.answer, start);
  return got;
}

EngineScript first_after(base::Duration time, std::vector<EngineStep> steps) {
  EngineScript script;
  script.first_after = time;
  script.steps = std::move(steps);
  return script;
}

TEST(KeepAlive, a_silent_engine_is_covered_by_a_comment_every_ten_seconds) {
  ChatServer server;
  const auto got = stream(server, first_after(seconds(35), {step("fine<|im_end|>", seconds(0))}));
  EXPECT_EQ(got.answer.status, 200);
  EXPECT_EQ(got.timeline, "10. 20. 30. 35x 35x");
  EXPECT_EQ(got.answer.header("content-type"), "text/event-stream");
  const auto events = got.answer.events();
  EXPECT_EQ(Answer::text_at(events.at(0), {"choices", "0", "delta", "role"}), "assistant");
  EXPECT_EQ(events.back(), "[DONE]");
}

TEST(KeepAlive, silence_within_a_stream_is_covered_too) {
  ChatServer server;
  const auto got =
      stream(server, first_after(seconds(0), {step("one", seconds(1)), step(" two", seconds(25)),
                                              step("<|im_end|>", seconds(3))}));
  EXPECT_EQ(got.timeline, "1x 11. 21. 26x 29x");
}

TEST(KeepAlive, an_engine_that_keeps_talking_needs_no_comment) {
  ChatServer server;
  const auto got =
      stream(server, first_after(seconds(9), {step("one", seconds(0)), step(" two", seconds(9)),
                                              step("<|im_end|>", seconds(9))}));
  EXPECT_EQ(got.timeline, "9x 18x 27x");
  EXPECT_EQ(got.answer.body.find(kPing), std::string::npos);
}

TEST(KeepAlive, a_slow_commit_is_covered) {
  ChatServer server;
  server.scene.store.commit_takes = seconds(25);
  const auto got = stream(server, first_after(seconds(0), {step("fine<|im_end|>", seconds(0))}));
  EXPECT_EQ(got.timeline, "0x 10. 20. 25x");
}

TEST(KeepAlive, an_engine_error_within_ten_seconds_keeps_its_status) {
  ChatServer server;
  EngineScript refusing = first_after(milliseconds(9900), {});
  refusing.refusal = base::error(ErrorKind::kEngine, "overloaded");
  const auto got = stream(server, refusing);
  EXPECT_EQ(got.answer.status, 502);
  EXPECT_EQ(got.answer.body.find(kPing), std::string::npos);
}

TEST(KeepAlive, an_engine_error_behind_the_first_comment_is_in_band) {
  ChatServer server;
  EngineScript refusing = first_after(seconds(12), {});
  refusing.refusal = base::error(ErrorKind::kEngine, "overloaded");
  const std::string before = server.scene.store.dump();
  const auto got = stream(server, refusing);
  EXPECT_EQ(got.answer.status, 200);
  EXPECT_EQ(got.timeline, "10. 12x");
  const auto events = got.answer.events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(Answer::text_at(events[0], {"error", "message"}), "overloaded");
  EXPECT_EQ(events[1], "[DONE]");
  EXPECT_EQ(server.scene.store.dump(), before);
}

TEST(KeepAlive, an_error_within_the_stream_stays_in_band_behind_comments) {
  ChatServer server;
  const auto got = stream(
      server,
      first_after(seconds(0), {step("one", seconds(0)),
                               failing(seconds(15), base::error(ErrorKind::kEngine, "gone"))}));
  EXPECT_EQ(got.timeline, "0x 10. 15x");
  EXPECT_TRUE(got.answer.body.ends_with("data: [DONE]\n\n"));
}

TEST(KeepAlive, a_refused_request_keeps_its_status) {
  ChatServer server;
  const auto answer =
      server.post(R"({"stream":true,"messages":[{"role":"assistant","content":"hi"}]})");
  EXPECT_EQ(answer.status, 400);
}

TEST(KeepAlive, a_whole_answer_gets_no_comments) {
  ChatServer server;
  const auto got =
      stream(server, first_after(seconds(35), {step("fine<|im_end|>", seconds(0))}), kWhole);
  EXPECT_EQ(got.answer.status, 200);
  EXPECT_EQ(got.timeline, "35x");
  EXPECT_EQ(got.answer.text("choices", 0, "message", "content"), "fine");
}

TEST(KeepAlive, no_timer_is_left_behind_an_answer) {
  ChatServer server;
  (void)stream(server, first_after(seconds(15), {step("fine<|im_end|>", seconds(0))}));
  const auto after = server.now();
  server.scene.world.executor.run_until_idle();
  EXPECT_EQ(server.now(), after);
}

// Comments and chunks that fall due at the same moment, over many schedules: each stays whole.
TEST(KeepAlive, comments_and_chunks_never_overlap) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ChatServer server("chatml", seed);
    server.scene.world.network.options().fragment = 300;
    server.scene.world.network.options().max_latency = milliseconds(seed % 3);
    server.scene.world.network.options().buffer = 8;  // even a comment takes several rounds
    std::vector<EngineStep> steps;
    for (int i = 0; i < 4; ++i) steps.push_back(step("one", seconds(10)));
    steps.push_back(step("<|im_end|>", seconds(10)));
    const auto got = stream(server, first_after(seconds(10), std::move(steps)));
    ASSERT_EQ(got.answer.status, 200);
    EXPECT_FALSE(got.answer.cut);
    std::string text;
    for (const auto& event : got.answer.events()) {
      EXPECT_TRUE(event == "[DONE]" || json::Document::parse(event).ok()) << event;
      text += Answer::text_at(event, {"choices", "0", "delta", "content"});
    }
    EXPECT_EQ(text, "oneoneoneone");
    EXPECT_NE(got.answer.body.find(kPing, got.answer.body.find("data: ")), std::string::npos)
        << "a comment fell due with a chunk";
    // Without its data lines and comments nothing of the body is left.
    for (std::size_t at = 0; at < got.answer.body.size();) {
      const auto end = got.answer.body.find("\n\n", at);
      ASSERT_NE(end, std::string::npos);
      const auto frame = got.answer.body.substr(at, end - at);
      EXPECT_TRUE(frame == ": keep-alive" || frame.starts_with("data: ")) << frame;
      at = end + 2;
    }
  }
}

TEST(KeepAlive, a_client_that_goes_away_during_comments_takes_its_turn_along) {
  ChatServer server;
  EngineScript silent;
  silent.hang = true;
  server.scene.engine.scripts.push_back(silent);
  base::CancelSignal hang_up;
  base::Timer later;
  server.run([&](HttpCaller& c) -> Task<void> {
    later.arm(server.scene.world.executor.timers(), server.now() + seconds(25),
              [&] { hang_up.fire("gone"); });
    c.hang_up = &hang_up;
    const auto answer = co_await c.post("/s1", kStream);
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.cut);
  });
  EXPECT_EQ(server.scene.engine.aborts, 1);
  EXPECT_EQ(server.scene.store.commits, 0);
}

}  // namespace
}  // namespace verbatim::gateway
