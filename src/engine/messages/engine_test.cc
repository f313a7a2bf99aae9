#include "engine/messages/engine.h"

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "engine/kinds.h"
#include "message/fold.h"
#include "sim/sim_engine.h"
#include "sim/testing/toy_tokenizer.h"

namespace verbatim::engine::messages {
namespace {

using base::ErrorKind;
using base::Task;
using sim::Fault;

// The modes of the message path at a server of the public protocols.
std::vector<std::string> modes() {
  std::vector<std::string> names;
  for (const auto& mode : find_kind("openai")->modes) {
    if (mode.path == Path::kMessages) names.emplace_back(mode.name);
  }
  return names;
}

// One conversation with a simulated server.
struct Talk {
  explicit Talk(std::string with) : mode(std::move(with)) {
    options.face = sim::FaceKind::kOpenai;
    options.tokenizer = sim::testing::toy_tokenizer();
    options.behaviour = sim::Behaviour::kFixedText;
  }

  base::sim::SimWorld world{4};
  std::string mode;
  sim::SimOptions options;
  bool stream = true;
  base::Duration leaves_after{0};  // 0: stays to the end
  std::vector<protocol::RawMember> parameters;
  std::uint64_t aborted = 0;

  message::Folded turn;
  std::optional<TokenEnd> end;
  std::optional<base::Error> error;

  void run() { EXPECT_TRUE(world.run(hold())); }

 private:
  [[nodiscard]] MessageRequest request() const {
    MessageRequest request;
    request.request_id = "r1";
    request.conversation.model = options.model;
    request.conversation.messages = {{.role = message::Role::kUser, .text = "hello"}};
    request.conversation.parameters = parameters;
    request.conversation.stream = stream;
    return request;
  }

  Task<void> hold() {
    sim::SimEngine server(world.runtime, options);
    Choice choice;
    choice.kind = "openai";
    choice.mode = mode;
    choice.url.endpoint = {"engine", *server.start("engine", 0), false};
    choice.idle_timeout = std::chrono::seconds(3);
    auto engine = std::move(make_engine(world.runtime, choice).value());
    EXPECT_EQ(engine->driven_by(), Path::kMessages);
    base::CancelSignal cancel;
    base::Timer leaving;
    if (leaves_after.count() != 0)
      leaving.arm(world.executor.timers(), world.executor.clock().now() + leaves_after,
                  [&cancel] { cancel.fire("gone"); });
    auto asked = request();
    asked.cancel = &cancel;
    auto made = co_await engine->complete(std::move(asked));
    if (made.ok()) {
      co_await read(**made);
      made->reset();
    } else {
      error = made.error();
    }
    co_await engine->stop();
    co_await server.stop();
    aborted = server.stats().aborted_by_close;
  }

  Task<void> read(TokenStream& answer) {
    for (;;) {
      auto chunk = co_await answer.next();
      if (!chunk.ok()) {
        error = chunk.error();
        co_return;
      }
      if (!*chunk) break;
      EXPECT_TRUE((*chunk)->ids.empty());
      for (const auto& event : (*chunk)->events) turn.add(event);
    }
    end = answer.end();
  }
};

TEST(MessageEngine, gives_the_events_the_usage_and_the_finish_over_each_protocol) {
  for (const auto& mode : modes()) {
    for (const bool stream : {true, false}) {
      SCOPED_TRACE(mode + (stream ? " streaming" : " whole"));
      Talk talk(mode);
      talk.stream = stream;
      talk.run();
      ASSERT_FALSE(talk.error) << talk.error->message;
      EXPECT_EQ(talk.turn.text, "All is well.");
      EXPECT_EQ(talk.end->finish.kind, EngineFinish::Kind::kStop);
      ASSERT_TRUE(talk.end->usage);
      EXPECT_GT(talk.end->usage->prompt_tokens, 0U);
      EXPECT_GT(talk.end->usage->completion_tokens, 0U);
      EXPECT_EQ(talk.end->engine_url.substr(0, 13), "http://engine");
      EXPECT_EQ(talk.aborted, 0U);
    }
  }
}

TEST(MessageEngine, a_limit_of_tokens_is_a_length) {
  for (const auto& mode : modes()) {
    SCOPED_TRACE(mode);
    Talk talk(mode);
    talk.parameters = {{mode == "responses" ? "max_output_tokens" : "max_tokens", "3"}};
    if (mode == "messages") continue;  // its max_tokens comes of the sampling, see api tests
    talk.run();
    ASSERT_FALSE(talk.error) << talk.error->message;
    EXPECT_EQ(talk.end->finish.kind, EngineFinish::Kind::kLength);
  }
}

// What a fault of the server comes to. No row: the answer is still good.
struct Verdict {
  Fault fault;
  ErrorKind kind;
  int status;  // of the error that is passed on; 0: none is
};
constexpr Verdict kVerdicts[] = {
    {Fault::kNullFinish, ErrorKind::kEngine, 0}, {Fault::kUnknownFinish, ErrorKind::kEngine, 0},
    {Fault::kWrongIndex, ErrorKind::kEngine, 0}, {Fault::kAbort, ErrorKind::kEngine, -1},
    {Fault::kErrorBody, ErrorKind::kEngine, -1}, {Fault::kHtmlBody, ErrorKind::kEngine, 0},
    {Fault::kCutStream, ErrorKind::kEngine, 0},  {Fault::kNoDone, ErrorKind::kEngine, 0},
    {Fault::kStall, ErrorKind::kTimeout, 0},     {Fault::kErrorEvent, ErrorKind::kEngine, -1},
    {Fault::kHttp400, ErrorKind::kEngine, 400},  {Fault::kHttp429, ErrorKind::kEngine, 429},
    {Fault::kHttp500, ErrorKind::kEngine, 500},  {Fault::kHttp503, ErrorKind::kEngine, 503},
    {Fault::kHttp404, ErrorKind::kEngine, 404},  {Fault::kHttp413, ErrorKind::kEngine, 413},
    {Fault::kHttp529, ErrorKind::kEngine, 529},  {Fault::kBareErrorEvent, ErrorKind::kEngine, 0},
    {Fault::kClosed, ErrorKind::kEngine, 0}};

const Verdict* verdict_of(Fault fault) {
  for (const auto& verdict : kVerdicts) {
    if (verdict.fault == fault) return &verdict;
  }
  return nullptr;
}

// The faults that a protocol, or an answer that is not streamed, has no place for.
bool has_no_place(Fault fault, const std::string& mode, bool stream) {
  if (fault == Fault::kWrongIndex) return mode != "chat";
  return !stream && needs_events(fault);
}

TEST(MessageEngine, what_goes_wrong_is_an_error_and_never_half_an_answer) {
  for (const auto& mode : modes()) {
    for (std::size_t i = 0; i < 2 * sim::kFaults; ++i) {
      const auto fault = static_cast<Fault>(i / 2);
      const bool stream = i % 2 == 0;
      if (!applies(fault, sim::FaceKind::kOpenai)) continue;
      SCOPED_TRACE(mode + " " + std::string(name(fault)) + (stream ? " streaming" : " whole"));
      Talk talk(mode);
      talk.stream = stream;
      talk.options.faults.set(fault, 1000);
      talk.run();
      const Verdict* verdict = verdict_of(fault);
      if (verdict == nullptr || has_no_place(fault, mode, stream)) {
        ASSERT_FALSE(talk.error) << talk.error->message;
        EXPECT_EQ(talk.turn.text, "All is well.");
        continue;
      }
      EXPECT_FALSE(talk.end);
      ASSERT_TRUE(talk.error);
      EXPECT_EQ(talk.error->kind, verdict->kind) << talk.error->message;
      const int status = talk.error->upstream ? talk.error->upstream->status : 0;
      if (verdict->status >= 0) {
        EXPECT_EQ(status, verdict->status) << talk.error->message;
      }
    }
  }
}

TEST(MessageEngine, a_client_that_goes_closes_the_connection) {
  for (const auto& mode : modes()) {
    for (const bool stream : {true, false}) {
      SCOPED_TRACE(mode + (stream ? " streaming" : " whole"));
      Talk talk(mode);
      talk.stream = stream;
      talk.options.token_delay = std::chrono::milliseconds(100);
      talk.leaves_after = std::chrono::milliseconds(350);
      talk.run();
      ASSERT_TRUE(talk.error);
      EXPECT_EQ(talk.error->kind, ErrorKind::kCancelled) << talk.error->message;
      EXPECT_EQ(talk.aborted, 1U);
    }
  }
}

TEST(MessageEngine, logprobs_are_refused_by_name) {
  base::sim::SimWorld world{1};
  Choice choice;
  choice.kind = "vllm";
  choice.mode = "chat-text";
  choice.url = net::parse_url("http://engine:1").value();
  const auto engine = std::move(make_engine(world.runtime, choice).value());
  protocol::Conversation asked;
  EXPECT_TRUE(engine->check_messages(asked).ok());
  asked.sampling.logprobs = true;
  const auto status = engine->check_messages(asked);
  EXPECT_EQ(status.error().field, "logprobs");
  EXPECT_EQ(status.error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace verbatim::engine::messages
