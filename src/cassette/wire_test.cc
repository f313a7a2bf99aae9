// What is recorded in front of a server is what a replay serves, on simulated networks.
#include <string>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "cassette/recording_proxy.h"
#include "cassette/replay_server.h"
#include "cassette/testing/samples.h"
#include "net/http_client.h"

namespace verbatim::cassette {
namespace {

using base::Task;
using base::sim::SimWorld;

const char* const kEvents[] = {"event: response.created\ndata: {\"type\":\"response.created\"}\n\n",
                               ": ping\n\n", "data: {\"type\":\"response.completed\"}\n\n",
                               "data: [DONE]\n\n"};

// An engine that answers by the path.
Task<void> engine(const net::Request& request, net::Responder& responder, base::CancelSignal&) {
  if (request.path == "/v1/stream") {
    if (!responder.begin_stream(200, "text/event-stream").ok()) co_return;
    for (const std::string_view event : kEvents) (void)co_await responder.write(event);
    (void)co_await responder.end();
  } else if (request.path == "/v1/cut") {
    if (!responder.begin_stream(200, "Text/Event-Stream; charset=utf-8").ok()) co_return;
    (void)co_await responder.write(kEvents[0]);
    (void)co_await responder.write("data: {\"ty");
    responder.fail();
  } else if (request.path == "/v1/error") {
    (void)co_await responder.send(503, "text/plain", "busy \xE2\x98\x95");
  } else {
    (void)co_await responder.send(200, "application/json", R"({"n": 1.50, "t": "é"})");
  }
}

struct Got {
  int status = 0;
  std::string type;
  std::string body;
  bool cut = false;
};

Task<Got> ask(SimWorld& world, std::uint16_t port, std::string method, std::string target,
              std::string body) {
  net::HttpClient client(world.runtime);
  net::ClientRequest request;
  request.endpoint = {"127.0.0.1", port, false};
  request.method = method;
  request.target = target;
  request.headers.add("authorization", "Bearer sk-secret").add("content-type", "application/json");
  request.body = {body};
  Got got;
  {
    auto answer = co_await client.request(request, base::kNever);
    if (answer.ok()) {
      got.status = answer->status();
      got.type = std::string(answer->headers().find("content-type"));
      while (!answer->ended()) {
        const auto piece = co_await answer->read();
        got.cut = !piece.ok();
        if (got.cut) break;
        got.body += *piece;
      }
    }
  }
  co_await client.stop();
  co_return got;
}

struct Question {
  const char* method;
  const char* target;
  const char* body;
};
constexpr Question kQuestions[] = {{"POST", "/v1/json?a=1&api_key=sk-secret", R"({"input":"x"})"},
                                   {"POST", "/v1/stream", R"({"input":"y","stream":true})"},
                                   {"POST", "/v1/error", "{}"},
                                   {"POST", "/v1/cut", R"({"stream":true})"}};

struct Wire : ::testing::TestWithParam<std::uint64_t> {
  Wire() : world(GetParam()) { world.network.options().fragment = GetParam() % 2 == 0 ? 0 : 300; }

  RecordingProxy::Options options(std::uint16_t engine_port, Recording::Options recording = {}) {
    RecordingProxy::Options out;
    out.engine.endpoint = {"127.0.0.1", engine_port, false};
    out.recording = std::move(recording);
    out.keep = [this](const std::string& text) {
      file = text;
      return base::Status();
    };
    out.problem = [this](const std::string& what) { problems += what + "\n"; };
    return out;
  }

  Task<void> record(std::vector<Got>& answers) {
    net::HttpServer server(world.runtime, engine);
    RecordingProxy proxy(world.runtime, options(*server.start("127.0.0.1", 0)));
    const auto port = proxy.start("127.0.0.1", 0);
    for (const auto& each : kQuestions) {
      answers.push_back(co_await ask(world, *port, each.method, each.target, each.body));
      files.push_back(file);
    }
    (void)co_await ask(world, *port, "GET", "/v1/models", "");
    co_await proxy.stop();
    co_await server.stop();
  }

  Task<void> replay(Cassette cassette, std::vector<Got>& answers) {
    auto tape = Tape::make({cassette.turns, {}, {}});
    ReplayServer server(world.runtime, std::move(*tape), {});
    const auto port = server.start("127.0.0.1", 0);
    for (const auto& each : kQuestions)
      answers.push_back(co_await ask(world, *port, each.method, each.target, each.body));
    EXPECT_TRUE(server.tape().report().empty());
    const auto more = co_await ask(world, *port, "POST", "/v1/json", R"({"input":"x"})");
    EXPECT_EQ(more.status, 409);
    EXPECT_NE(more.body.find("cassette_mismatch"), std::string::npos);
    EXPECT_EQ(server.tape().report().size(), 1U);
    co_await server.stop();
  }

  SimWorld world;
  std::string file;
  std::vector<std::string> files;
  std::string problems;
};

TEST_P(Wire, a_replay_answers_as_the_recorded_engine_did) {
  std::vector<Got> recorded;
  ASSERT_TRUE(world.run(record(recorded)));
  EXPECT_EQ(problems, "");
  ASSERT_EQ(recorded.size(), 4U);
  EXPECT_EQ(recorded[0].body, R"({"n": 1.50, "t": "é"})");
  EXPECT_EQ(recorded[1].body, std::string(kEvents[0]) + kEvents[1] + kEvents[2] + kEvents[3]);
  EXPECT_EQ(recorded[2].status, 503);
  EXPECT_TRUE(recorded[3].cut);
  EXPECT_EQ(file.find("sk-secret"), std::string::npos) << file;
  // Who has an answer whole finds it in the file.
  for (std::size_t i = 0; i < files.size(); ++i)
    EXPECT_EQ(read_cassette(files[i]).cassette.turns.size(), i + 1);
  const auto read = read_cassette(file);
  ASSERT_TRUE(read.problems.empty()) << read.problems[0].message;

  std::vector<Got> replayed;
  ASSERT_TRUE(world.run(replay(read.cassette, replayed)));
  ASSERT_EQ(replayed.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(replayed[i].status, recorded[i].status);
    EXPECT_EQ(replayed[i].type, recorded[i].type);
    EXPECT_EQ(replayed[i].cut, recorded[i].cut);
    EXPECT_EQ(replayed[i].body, i == 0 ? R"({"n":1.50,"t":"é"})" : recorded[i].body);
  }
  world.executor.run_until_idle();
}

TEST_P(Wire, what_cant_be_recorded_is_passed_on_and_told) {
  const auto run = [](Wire& test) -> Task<void> {
    net::HttpServer server(test.world.runtime, engine);
    RecordingProxy proxy(test.world.runtime, test.options(*server.start("127.0.0.1", 0)));
    const auto port = proxy.start("127.0.0.1", 0);
    const auto got = co_await ask(test.world, *port, "POST", "/v1/json", "no object");
    EXPECT_EQ(got.status, 200);
    const auto twice = co_await ask(test.world, *port, "POST", "/v1/json", R"({"a":1,"a":2})");
    EXPECT_EQ(twice.status, 200);
    co_await proxy.stop();
    co_await server.stop();
    EXPECT_EQ(proxy.recording().size(), 0U);
  };
  ASSERT_TRUE(world.run(run(*this)));
  EXPECT_NE(problems.find("POST /v1/json: not recorded: body: "), std::string::npos) << problems;
  EXPECT_NE(problems.find("stands there twice"), std::string::npos) << problems;
  world.executor.run_until_idle();
}

TEST_P(Wire, once_records_a_request_once_and_all_methods_records_gets) {
  const auto run = [](Wire& test) -> Task<void> {
    Recording::Options recording{"", false, true};
    net::HttpServer server(test.world.runtime, engine);
    RecordingProxy proxy(test.world.runtime,
                         test.options(*server.start("127.0.0.1", 0), recording));
    const auto port = proxy.start("127.0.0.1", 0);
    for (int i = 0; i < 3; ++i) (void)co_await ask(test.world, *port, "GET", "/v1/models", "");
    (void)co_await ask(test.world, *port, "POST", "/v1/models", "{}");
    co_await proxy.stop();
    co_await server.stop();
    EXPECT_EQ(proxy.recording().size(), 2U);
  };
  ASSERT_TRUE(world.run(run(*this)));
  EXPECT_EQ(problems, "");
  world.executor.run_until_idle();
}

TEST_P(Wire, once_records_a_request_whose_first_answer_could_not_be) {
  const auto run = [](Wire& test) -> Task<void> {
    int asked = 0;
    net::HttpServer server(test.world.runtime, [&](auto&, auto& responder, auto&) -> Task<void> {
      const bool first = asked++ == 0;
      (void)co_await responder.send(200, "application/json", first ? "{" : "{}");
    });
    RecordingProxy proxy(test.world.runtime,
                         test.options(*server.start("127.0.0.1", 0), {"", true, true}));
    const auto port = proxy.start("127.0.0.1", 0);
    for (int i = 0; i < 3; ++i) (void)co_await ask(test.world, *port, "POST", "/v1/json", "{}");
    co_await proxy.stop();
    co_await server.stop();
    EXPECT_EQ(proxy.recording().size(), 1U);
  };
  ASSERT_TRUE(world.run(run(*this)));
  EXPECT_NE(problems.find("POST /v1/json: not recorded: "), std::string::npos) << problems;
  world.executor.run_until_idle();
}

TEST_P(Wire, an_engine_that_is_not_there_is_a_502) {
  const auto run = [](Wire& test) -> Task<void> {
    RecordingProxy proxy(test.world.runtime, test.options(9));
    const auto port = proxy.start("127.0.0.1", 0);
    const auto got = co_await ask(test.world, *port, "POST", "/v1/json", "{}");
    EXPECT_EQ(got.status, 502);
    co_await proxy.stop();
    EXPECT_EQ(proxy.recording().size(), 0U);
  };
  ASSERT_TRUE(world.run(run(*this)));
  EXPECT_NE(problems.find("POST /v1/json: not recorded: "), std::string::npos);
  world.executor.run_until_idle();
}

INSTANTIATE_TEST_SUITE_P(Seeds, Wire, ::testing::Range<std::uint64_t>(1, 9));

}  // namespace
}  // namespace verbatim::cassette
