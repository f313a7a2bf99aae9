#include "engine/messages/engine.h"

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "engine/kinds.h"
#include "engine/testing/proofs.h"
#include "message/fold.h"
#include "sim/sim_engine.h"
#include "sim/testing/toy_tokenizer.h"

namespace verbatim::engine::messages {
namespace {

using base::ErrorKind;
using base::Task;
using sim::Fault;

using engine::testing::Driven;
using protocol::Wire;

std::vector<Driven> ways() {
  return engine::testing::all_driven(Path::kMessages);
}

sim::SimOptions server_of(const Driven& driven) {
  sim::SimOptions options;
  options.face = driven.face();
  options.tokenizer = sim::testing::toy_tokenizer();
  options.behaviour = sim::Behaviour::kFixedText;
  return options;
}

// One conversation with a simulated server.
struct Talk {
  explicit Talk(const Driven& with) : driven(with), options(server_of(with)) {}

  base::sim::SimWorld world{4};
  const Driven driven;
  sim::SimOptions options;
  bool stream = true;
  base::Duration leaves_after{0};  // 0: stays to the end
  std::vector<protocol::RawMember> parameters;
  std::optional<std::uint64_t> max_tokens;
  std::uint64_t aborted = 0;

  message::Folded turn;
  std::optional<TokenEnd> end;
  std::optional<base::Error> error;

  void run() { EXPECT_TRUE(world.run(hold())); }

 private:
  [[nodiscard]] protocol::Conversation conversation() const {
    protocol::Conversation asked;
    asked.model = options.model;
    asked.messages = {{.role = message::Role::kUser, .text = "hello"}};
    asked.parameters = parameters;
    asked.sampling.max_tokens = max_tokens;
    asked.stream = stream;
    return asked;
  }

  Task<void> hold() {
    sim::SimEngine server(world.runtime, options);
    Choice choice;
    choice.kind = driven.kind->name;
    choice.mode = driven.mode->name;
    choice.url.endpoint = {"engine", *server.start("engine", 0), false};
    choice.idle_timeout = std::chrono::seconds(3);
    auto engine = std::move(make_engine(world.runtime, choice).value());
    EXPECT_EQ(engine->driven_by(), Path::kMessages);
    base::CancelSignal cancel;
    base::Timer leaving;
    if (leaves_after.count() != 0)
      leaving.arm(world.executor.timers(), world.executor.clock().now() + leaves_after,
                  [&cancel] { cancel.fire("gone"); });
    const auto said = conversation();
    MessageRequest asked;
    asked.request_id = "r1";
    asked.conversation = &said;
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
  for (const auto& way : ways()) {
    for (const bool stream : {true, false}) {
      SCOPED_TRACE(way.name() + (stream ? " streaming" : " whole"));
      Talk talk(way);
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
  for (const auto& way : ways()) {
    SCOPED_TRACE(way.name());
    Talk talk(way);
    talk.parameters = {{"max_tokens", "3"}};
    talk.max_tokens = 3;
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
bool has_no_place(Fault fault, const Driven& way, bool stream) {
  if (fault == Fault::kWrongIndex) return way.mode->wire != Wire::kChat;
  return !stream && needs_events(fault);
}

TEST(MessageEngine, what_goes_wrong_is_an_error_and_never_half_an_answer) {
  for (const auto& way : ways()) {
    for (std::size_t i = 0; i < 2 * sim::kFaults; ++i) {
      const auto fault = static_cast<Fault>(i / 2);
      const bool stream = i % 2 == 0;
      if (!way.can_have(fault)) continue;
      SCOPED_TRACE(way.name() + " " + std::string(name(fault)) +
                   (stream ? " streaming" : " whole"));
      Talk talk(way);
      talk.stream = stream;
      talk.options.faults.set(fault, 1000);
      talk.run();
      const Verdict* verdict = verdict_of(fault);
      if (verdict == nullptr || has_no_place(fault, way, stream)) {
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
  for (const auto& way : ways()) {
    for (const bool stream : {true, false}) {
      SCOPED_TRACE(way.name() + (stream ? " streaming" : " whole"));
      Talk talk(way);
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

// A server that has to be asked for a token, and whether anybody may have to pay for it.
struct Asked {
  explicit Asked(const Driven& with) : driven(with), options(server_of(with)) {}
  base::sim::SimWorld world{4};
  const Driven driven;
  sim::SimOptions options;
  base::Status ready, samples;
  std::uint64_t requests_for_ready = 0;

  void run() { EXPECT_TRUE(world.run(ask())); }

 private:
  Task<void> ask() {
    sim::SimEngine server(world.runtime, options);
    Choice choice;
    choice.kind = driven.kind->name;
    choice.mode = driven.mode->name;
    choice.url.endpoint = {"engine", *server.start("engine", 0), false};
    auto engine = std::move(make_engine(world.runtime, choice).value());
    const auto deadline = world.executor.clock().now() + std::chrono::seconds(5);
    ready = co_await engine->ready(deadline);
    requests_for_ready = server.stats().requests;
    samples = co_await engine->samples(deadline);
    co_await engine->stop();
    co_await server.stop();
  }
};

TEST(MessageEngine, ready_is_a_token_where_nobody_pays_for_it_and_samples_is_one_everywhere) {
  for (const auto& way : ways()) {
    SCOPED_TRACE(way.name());
    const bool may_cost = way.kind->recognise == nullptr;
    Asked good(way);
    good.run();
    EXPECT_TRUE(good.ready.ok() && good.samples.ok());
    EXPECT_EQ(good.requests_for_ready, may_cost ? 0U : 1U);
    Asked asleep(way);
    asleep.options.hangs = true;
    asleep.run();
    EXPECT_EQ(asleep.ready.ok(), may_cost);
    EXPECT_FALSE(asleep.samples.ok());
  }
}

}  // namespace
}  // namespace verbatim::engine::messages
