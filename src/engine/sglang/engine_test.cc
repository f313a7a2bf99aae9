#include "engine/sglang/engine.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/sim/sim_world.h"
#include "gtest/gtest.h"
#include "net/http_server.h"

namespace verbatim::engine::sglang {
namespace {

using base::ErrorKind;
using base::Task;
using std::chrono::milliseconds;
using std::chrono::seconds;

const TokenIds kPrompt = {1, 2, 3};

std::string event(std::string_view ids, std::string_view logprobs, int total,
                  std::string_view finish) {
  return "data: {\"output_ids\":" + std::string(ids) +
         ",\"meta_info\":{\"finish_reason\":" + std::string(finish) +
         ",\"prompt_tokens\":3,\"completion_tokens\":" + std::to_string(total) +
         ",\"output_token_logprobs\":" + std::string(logprobs) + "}}\n\n";
}
const std::string kFirst = event("[7]", "[[-1,7,null]]", 1, "null");
const std::string kSecond = event("[8]", "[[-2,8,null]]", 2, R"({"type":"stop","matched":8})");
const std::string kDone = "data: [DONE]\n\n";
const std::string kAnswer = kFirst + kSecond + kDone;

// An engine on a simulated network whose POST /generate does what a test says.
struct Scene {
  using Generate =
      std::function<Task<void>(const net::Request&, net::Responder&, base::CancelSignal&)>;

  explicit Scene(Generate generate_as, const net::ServerOptions& serving = {})
      : generate(std::move(generate_as)) {
    server.emplace(
        world.runtime,
        [this](const net::Request& request, net::Responder& answer, base::CancelSignal& gone) {
          return handle(request, answer, gone);
        },
        serving);
    auto port = server->start("engine", 0);
    EXPECT_TRUE(port.ok());
    options.url.endpoint = {"engine", *port, false};
    options.vocab_size = 100;
  }

  Task<void> handle(const net::Request& request, net::Responder& answer, base::CancelSignal& gone) {
    if (request.path == "/generate") {
      bodies.push_back(request.body);
      for (const auto field : request.headers)
        headers.emplace_back(std::string(field.name) + ": " + std::string(field.value));
      base::CancelHook hook(gone, [this] { ++gone_clients; });
      co_await generate(request, answer, gone);
      co_return;
    }
    if (request.path == "/abort_request") {
      aborts.push_back(request.body);
      abort_times.push_back(world.executor.clock().now());
      (void)co_await answer.send(200, "text/plain", "");
      co_return;
    }
    for (const auto& [path, status, body] : pages) {
      if (path != request.target) continue;
      (void)co_await answer.send(status, "application/json", body);
      co_return;
    }
    (void)co_await answer.send(404, "application/json", "{}");
  }

  TokenRequest request() {
    TokenRequest r;
    r.request_id = "r1";
    r.prompt = {kPrompt};
    r.max_new_tokens = 10;
    return r;
  }

  // Runs `body` with a fresh engine, then stops everything.
  void run(const std::function<Task<void>(SglangEngine&)>& body) {
    const bool ended = world.run(play(body));
    EXPECT_TRUE(ended);
  }
  Task<void> play(const std::function<Task<void>(SglangEngine&)>& body) {
    SglangEngine engine(world.runtime, options);
    co_await body(engine);
    co_await engine.stop();
    co_await server->stop();
  }

  base::sim::SimWorld world{7};
  Generate generate;
  Options options;
  std::optional<net::HttpServer> server;
  std::vector<std::string> bodies, headers, aborts;
  std::vector<base::MonoTime> abort_times;
  std::vector<std::tuple<std::string, int, std::string>> pages;
  int gone_clients = 0;
};

struct Outcome {
  TokenIds ids;
  std::vector<double> logprobs;
  std::optional<TokenEnd> end;
  std::optional<base::Error> error;
};

Task<void> read_all(TokenStream& stream, Outcome& out) {
  for (;;) {
    auto chunk = co_await stream.next();
    if (!chunk.ok()) {
      out.error = chunk.error();
      co_return;
    }
    if (!*chunk) break;
    out.ids.insert(out.ids.end(), (*chunk)->ids.begin(), (*chunk)->ids.end());
    out.logprobs.insert(out.logprobs.end(), (*chunk)->logprobs.begin(), (*chunk)->logprobs.end());
  }
  out.end = stream.end();
}

Task<void> generate_into(SglangEngine& engine, TokenRequest request, Outcome& out) {
  auto stream = co_await engine.generate(std::move(request));
  if (!stream.ok()) {
    out.error = stream.error();
    co_return;
  }
  co_await read_all(**stream, out);
}

Outcome generate(Scene& scene, TokenRequest request) {
  Outcome out;
  scene.run([&](SglangEngine& engine) { return generate_into(engine, request, out); });
  return out;
}

Scene::Generate events(std::vector<std::string> pieces) {
  return [pieces = std::move(pieces)](const net::Request&, net::Responder& answer,
                                      base::CancelSignal&) -> Task<void> {
    (void)answer.begin_stream(200, "text/event-stream; charset=utf-8");
    for (const auto& piece : pieces) (void)co_await answer.write(piece);
    (void)co_await answer.end();
  };
}

Scene::Generate whole(int status, std::string type, std::string body) {
  return [=](const net::Request&, net::Responder& answer, base::CancelSignal&) -> Task<void> {
    (void)co_await answer.send(status, type, body);
  };
}

// Sends `piece`, then nothing until the client is gone.
Scene::Generate stall_after(base::sim::SimWorld** world, std::string piece) {
  return [=](const net::Request&, net::Responder& answer, base::CancelSignal& gone) -> Task<void> {
    if (!piece.empty()) {
      (void)answer.begin_stream(200, "text/event-stream");
      (void)co_await answer.write(piece);
    }
    while (!gone.fired()) co_await base::sleep_for((*world)->executor, milliseconds(10));
  };
}

TEST(SglangEngine, streams_what_the_engine_samples) {
  Scene scene(events({kFirst, kSecond, kDone}));
  scene.options.api_key = "secret";
  auto request = scene.request();
  request.routing_key = "session-1";
  const Outcome out = generate(scene, request);
  ASSERT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(out.ids, (TokenIds{7, 8}));
  EXPECT_EQ(out.logprobs, (std::vector<double>{-1, -2}));
  EXPECT_EQ(out.end->finish.matched_id, 8u);
  EXPECT_EQ(out.end->prompt_tokens, 3u);
  EXPECT_TRUE(scene.aborts.empty());
  ASSERT_EQ(scene.bodies.size(), 1u);
  EXPECT_NE(scene.bodies[0].find("\"input_ids\":[1,2,3]"), std::string::npos);
  const auto has = [&](const char* line) {
    return std::find(scene.headers.begin(), scene.headers.end(), line) != scene.headers.end();
  };
  EXPECT_TRUE(has("Authorization: Bearer secret"));
  EXPECT_TRUE(has("X-SMG-Routing-Key: session-1"));
}

TEST(SglangEngine, says_who_sampled_and_under_which_id) {
  const std::pair<std::string, std::string> ids[] = {
      {"engine-7", "engine-7"}, {"", ""}, {"with blank", ""}, {std::string(600, 'x'), ""}};
  for (const auto& [sent, kept] : ids) {
    Scene scene(
        [&](const net::Request&, net::Responder& answer, base::CancelSignal&) -> Task<void> {
          net::Headers headers;
          headers.add("Content-Type", "text/event-stream").add("X-Request-Id", sent);
          (void)answer.begin_stream(200, headers);
          (void)co_await answer.write(kAnswer);
          (void)co_await answer.end();
        });
    const Outcome out = generate(scene, scene.request());
    ASSERT_FALSE(out.error) << out.error->message;
    EXPECT_EQ(out.end->engine_request_id, kept);
    EXPECT_EQ(out.end->engine_url, net::url_text(scene.options.url));
  }
}

TEST(SglangEngine, passes_the_clients_trace_on) {
  Scene scene(events({kAnswer}));
  auto request = scene.request();
  request.headers.add("traceparent", "00-ab-cd-01").add("x-request-id", "req_1");
  const Outcome out = generate(scene, request);
  ASSERT_FALSE(out.error) << out.error->message;
  for (const char* line : {"traceparent: 00-ab-cd-01", "x-request-id: req_1"}) {
    EXPECT_TRUE(std::find(scene.headers.begin(), scene.headers.end(), line) != scene.headers.end())
        << line;
  }
}

TEST(SglangEngine, a_higher_priority_is_sooner_whatever_the_servers_sense) {
  for (const bool low_first : {false, true}) {
    Scene scene(events({kAnswer}));
    scene.pages = {{"/server_info", 200,
                    std::string(R"({"version":"0.5.18","schedule_low_priority_values_first":)") +
                        (low_first ? "true}" : "false}")}};
    auto request = scene.request();
    request.sampling.priority = 5;
    request.sampling.cache_salt = "tenant";
    scene.run([&](SglangEngine& engine) -> Task<void> {
      EXPECT_FALSE(engine.check(request.sampling).ok()) << "no release is known yet";
      (void)co_await engine.probe(base::kNever);
      EXPECT_TRUE(engine.check(request.sampling).ok());
      Outcome out;
      co_await generate_into(engine, request, out);
      EXPECT_FALSE(out.error);
    });
    const std::string wanted = low_first ? "\"priority\":-5," : "\"priority\":5,";
    EXPECT_NE(scene.bodies.at(0).find(wanted), std::string::npos) << scene.bodies.at(0);
  }
}

TEST(SglangEngine, keeps_its_connection_after_a_finished_stream) {
  Scene scene(events({kFirst + kSecond + kDone}));
  scene.run([&](SglangEngine& engine) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      Outcome out;
      co_await generate_into(engine, scene.request(), out);
      EXPECT_FALSE(out.error);
      co_await base::sleep_for(scene.world.executor, milliseconds(1));
    }
    EXPECT_EQ(scene.server->connections(), 1u);
  });
}

TEST(SglangEngine, reads_any_framing_of_the_same_events) {
  const std::string lf = kFirst + ": ping\n\n" + kSecond + kDone;
  std::string crlf, cr;
  for (const char c : lf) {
    crlf += c == '\n' ? "\r\n" : std::string(1, c);
    cr += c == '\n' ? '\r' : c;
  }
  for (const auto& text : {lf, crlf, cr, "\xEF\xBB\xBF" + lf, "retry: 5\nid: 3\n\n" + lf}) {
    for (const unsigned fragment : {0u, 1000u}) {
      Scene scene(events({text}));
      scene.world.network.options().fragment = fragment;
      const Outcome out = generate(scene, scene.request());
      ASSERT_FALSE(out.error) << out.error->message;
      EXPECT_EQ(out.ids, (TokenIds{7, 8}));
    }
  }
}

TEST(SglangEngine, takes_an_answer_that_is_not_streamed) {
  const auto all = event("[7,8]", "[[-1,7,null],[-2,8,null]]", 2, R"({"type":"stop"})").substr(6);
  Scene scene(whole(200, "application/json", all));
  const Outcome out = generate(scene, scene.request());
  ASSERT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(out.ids, (TokenIds{7, 8}));
}

TEST(SglangEngine, a_stream_without_its_end_mark_is_an_error_behind_its_ids) {
  for (const auto& pieces : {std::vector{kFirst, kSecond}, std::vector{kFirst}}) {
    Scene scene(events(pieces));
    const Outcome out = generate(scene, scene.request());
    ASSERT_TRUE(out.error);
    EXPECT_EQ(out.error->kind, ErrorKind::kEngine);
    EXPECT_EQ(out.error->code, "cut_answer");
    EXPECT_EQ(out.ids.size(), pieces.size());
  }
}

TEST(SglangEngine, a_stream_without_a_finish_reason_is_an_error) {
  Scene scene(events({kFirst, kDone}));
  const Outcome out = generate(scene, scene.request());
  ASSERT_TRUE(out.error);
  EXPECT_NE(out.error->message.find("finish_reason"), std::string::npos);
}

TEST(SglangEngine, ids_before_a_bad_event_come_before_the_error_and_the_engine_is_told) {
  Scene scene(events({kFirst + "data: {\"oops\"\n\n"}));
  const Outcome out = generate(scene, scene.request());
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.ids, (TokenIds{7}));
  EXPECT_EQ(scene.aborts, (std::vector<std::string>{R"({"rid":"r1"})"}));
}

TEST(SglangEngine, an_error_status_passes_on_with_its_headers_and_body) {
  Scene scene([](const net::Request&, net::Responder& answer, base::CancelSignal&) -> Task<void> {
    net::Headers headers;
    headers.add("Content-Type", "application/json").add("Retry-After", "3");
    headers.add("X-Request-Id", "abc");
    (void)co_await answer.send(429, headers, R"({"error":{"message":"too many"}})");
  });
  const Outcome out = generate(scene, scene.request());
  ASSERT_TRUE(out.error && out.error->upstream);
  EXPECT_EQ(out.error->kind, ErrorKind::kEngine);
  EXPECT_NE(out.error->message.find("too many"), std::string::npos);
  EXPECT_EQ(out.error->upstream->status, 429);
  EXPECT_EQ(out.error->upstream->body, R"({"error":{"message":"too many"}})");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"Content-Type", "application/json"}, {"Retry-After", "3"}, {"X-Request-Id", "abc"}};
  EXPECT_EQ(out.error->upstream->headers, expected);
  EXPECT_TRUE(scene.aborts.empty());
}

TEST(SglangEngine, a_good_status_with_a_bad_body_is_an_error) {
  for (const char* body : {"<html>hi</html>", "", "null", "[]", "{}", "{\"output_ids\":[1]"}) {
    Scene scene(whole(200, "application/json", body));
    const Outcome out = generate(scene, scene.request());
    ASSERT_TRUE(out.error) << body;
    EXPECT_EQ(out.error->kind, ErrorKind::kEngine);
    EXPECT_EQ(out.error->upstream, nullptr);
  }
  Scene scene(whole(204, "application/json", ""));
  const Outcome out = generate(scene, scene.request());
  EXPECT_NE(out.error->message.find("status 204, expected 200"), std::string::npos);
}

TEST(SglangEngine, a_status_that_http_does_not_know_is_not_passed_on) {
  Scene scene(whole(999, "application/json", R"({"error":{"message":"odd"}})"));
  const Outcome out = generate(scene, scene.request());
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->kind, ErrorKind::kEngine);
  EXPECT_EQ(out.error->upstream, nullptr);
  EXPECT_EQ(out.error->code, "malformed_answer");
}

TEST(SglangEngine, an_event_over_the_limit_is_an_error) {
  for (const bool streamed : {true, false}) {
    const std::string big(5000, ' ');
    Scene scene(streamed ? events({"data: " + big})
                         : whole(200, "application/json", big + kFirst.substr(6)));
    scene.options.max_event = 4096;
    const Outcome out = generate(scene, scene.request());
    ASSERT_TRUE(out.error);
    EXPECT_EQ(out.error->kind, ErrorKind::kEngine);
  }
}

TEST(SglangEngine, nobody_listening_is_unavailable) {
  Scene scene(events({}));
  scene.options.url.endpoint.port = 1;
  const Outcome out = generate(scene, scene.request());
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->kind, ErrorKind::kUnavailable);
  EXPECT_TRUE(scene.aborts.empty());
}

TEST(SglangEngine, a_connection_closed_before_the_answer_is_not_tried_again) {
  int calls = 0;
  Scene scene([&](const net::Request&, net::Responder& answer, base::CancelSignal&) -> Task<void> {
    ++calls;
    answer.fail();
    co_return;
  });
  const Outcome out = generate(scene, scene.request());
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->kind, ErrorKind::kEngine);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(scene.aborts.size(), 2u);  // it may have overtaken the request
}

// A server that answers its first request and closes the connection `after` the second one came.
Outcome second_of_two(milliseconds after, int& calls) {
  base::sim::SimWorld* world = nullptr;
  Scene scene([&](const net::Request&, net::Responder& answer, base::CancelSignal&) -> Task<void> {
    if (++calls == 2) {
      co_await base::sleep_for(world->executor, after);
      answer.fail();
      co_return;
    }
    (void)answer.begin_stream(200, "text/event-stream");
    (void)co_await answer.end(kFirst + kSecond + kDone);
  });
  world = &scene.world;
  Outcome out;
  scene.run([&](SglangEngine& engine) -> Task<void> {
    co_await generate_into(engine, scene.request(), out);
    co_await base::sleep_for(scene.world.executor, milliseconds(5));
    out = {};
    co_await generate_into(engine, scene.request(), out);
  });
  return out;
}

TEST(SglangEngine, a_request_that_a_kept_connection_may_have_carried_is_not_sent_again) {
  for (const auto after : {milliseconds(0), milliseconds(1), milliseconds(100)}) {
    int calls = 0;
    const Outcome out = second_of_two(after, calls);
    ASSERT_TRUE(out.error);
    EXPECT_EQ(out.error->kind, ErrorKind::kEngine);
    EXPECT_EQ(calls, 2) << after.count() << " ms: a model may have begun with it";
  }
}

TEST(SglangEngine, a_kept_connection_that_was_closed_already_is_replaced) {
  net::ServerOptions serving;
  serving.idle_timeout = milliseconds(2);
  Scene scene(events({kFirst, kSecond, kDone}), serving);
  Outcome first;
  Outcome second;
  scene.run([&](SglangEngine& engine) -> Task<void> {
    co_await generate_into(engine, scene.request(), first);
    co_await base::sleep_for(scene.world.executor, milliseconds(5));
    co_await generate_into(engine, scene.request(), second);
  });
  EXPECT_FALSE(first.error);
  EXPECT_FALSE(second.error);
}

TEST(SglangEngine, silence_before_and_within_the_answer_ends_in_time) {
  for (const std::string& piece : {std::string(), kFirst}) {
    base::sim::SimWorld* world = nullptr;
    Scene scene(stall_after(&world, piece));
    world = &scene.world;
    scene.options.head_timeout = seconds(20);
    scene.options.idle_timeout = seconds(10);
    const Outcome out = generate(scene, scene.request());
    ASSERT_TRUE(out.error);
    EXPECT_EQ(out.error->kind, ErrorKind::kTimeout) << out.error->message;
    EXPECT_EQ(scene.aborts.size(), piece.empty() ? 2u : 1u);
    EXPECT_EQ(scene.gone_clients, 1);
  }
}

TEST(SglangEngine, the_deadline_of_the_request_holds) {
  base::sim::SimWorld* world = nullptr;
  Scene scene(stall_after(&world, kFirst));
  world = &scene.world;
  auto request = scene.request();
  request.deadline = base::MonoTime{} + seconds(3);
  const Outcome out = generate(scene, request);
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->kind, ErrorKind::kTimeout);
  EXPECT_LE(scene.abort_times.at(0), base::MonoTime{} + milliseconds(3100));
}

TEST(SglangEngine, cancelling_aborts_by_id_and_by_closing_whenever_it_comes) {
  for (const std::string& piece : {std::string(), kFirst}) {
    base::sim::SimWorld* world = nullptr;
    Scene scene(stall_after(&world, piece));
    world = &scene.world;
    base::CancelSignal cancel;
    auto request = scene.request();
    request.cancel = &cancel;
    base::Timer timer;
    timer.arm(scene.world.executor.timers(), base::MonoTime{} + milliseconds(500),
              [&] { cancel.fire("client gone"); });
    const Outcome out = generate(scene, request);
    ASSERT_TRUE(out.error);
    EXPECT_EQ(out.error->kind, ErrorKind::kCancelled);
    EXPECT_EQ(scene.gone_clients, 1);
    ASSERT_EQ(scene.aborts.size(), piece.empty() ? 2u : 1u);
    EXPECT_LE(scene.abort_times[0], base::MonoTime{} + milliseconds(510));
  }
}

TEST(SglangEngine, a_request_cancelled_beforehand_is_never_sent) {
  Scene scene(events({kFirst}));
  base::CancelSignal cancel;
  cancel.fire("gone");
  auto request = scene.request();
  request.cancel = &cancel;
  const Outcome out = generate(scene, request);
  EXPECT_EQ(out.error->kind, ErrorKind::kCancelled);
  EXPECT_TRUE(scene.bodies.empty());
}

TEST(SglangEngine, a_stream_destroyed_early_aborts) {
  base::sim::SimWorld* world = nullptr;
  Scene scene(stall_after(&world, kFirst));
  world = &scene.world;
  scene.run([&](SglangEngine& engine) -> Task<void> {
    auto stream = co_await engine.generate(scene.request());
    EXPECT_TRUE(stream.ok());
  });
  EXPECT_EQ(scene.aborts.size(), 1u);
  EXPECT_EQ(scene.gone_clients, 1);
}

TEST(SglangEngine, aborting_twice_tells_the_engine_once) {
  base::sim::SimWorld* world = nullptr;
  Scene scene(stall_after(&world, kFirst));
  world = &scene.world;
  scene.run([&](SglangEngine& engine) -> Task<void> {
    auto stream = co_await engine.generate(scene.request());
    (*stream)->abort();
    (*stream)->abort();
    auto chunk = co_await (*stream)->next();
    EXPECT_FALSE(chunk.ok());
    EXPECT_EQ(chunk.error().kind, ErrorKind::kCancelled);
  });
  EXPECT_EQ(scene.aborts.size(), 1u);
}

TEST(SglangEngine, a_stream_that_is_cut_ends_with_what_was_proved_and_tells_the_engine) {
  base::sim::SimWorld* world = nullptr;
  Scene scene(stall_after(&world, kFirst));
  world = &scene.world;
  scene.run([&](SglangEngine& engine) -> Task<void> {
    auto stream = co_await engine.generate(scene.request());
    EXPECT_TRUE(stream.ok());
    auto chunk = co_await (*stream)->next();
    EXPECT_TRUE(chunk.ok() && *chunk);
    EXPECT_TRUE((*stream)->cut().ok());
    const TokenEnd& end = (*stream)->end();
    EXPECT_EQ(end.finish.kind, EngineFinish::Kind::kStop);
    EXPECT_EQ(end.completion_tokens, (*chunk)->ids.size());
    EXPECT_EQ(end.prompt_tokens, kPrompt.size());
    EXPECT_TRUE((*stream)->cut().ok());
    auto after = co_await (*stream)->next();
    EXPECT_TRUE(after.ok() && !*after) << "nothing comes behind the cut";
  });
  EXPECT_EQ(scene.aborts.size(), 1U);
  EXPECT_EQ(scene.gone_clients, 1);
}

TEST(SglangEngine, probes_what_is_there) {
  Scene scene(events({}));
  scene.pages = {{"/v1/models", 200, R"({"data":[{"id":"toy","max_model_len":4096},{"id":"b"}]})"},
                 {"/get_model_info", 200, R"({"weight_version":"w3"})"},
                 {"/server_info", 200,
                  R"({"version":"0.5.16","context_length":8192,"max_req_input_len":8000})"}};
  scene.run([&](SglangEngine& engine) -> Task<void> {
    auto probe = co_await engine.probe(base::kNever);
    EXPECT_TRUE(probe.ok());
    if (!probe.ok()) co_return;
    EXPECT_EQ(probe->weight_version, "w3");
    EXPECT_EQ(probe->engine_version, "0.5.16");
    EXPECT_EQ(probe->max_input_tokens, 8000u);
    EXPECT_EQ(probe->models.size(), 2u);
    EXPECT_EQ(probe->models.at(0).max_model_len, 4096u);
    EXPECT_EQ(probe->models.at(1).max_model_len, 8192u);
  });
}

TEST(SglangEngine, a_server_that_is_no_engine_is_unavailable) {
  Scene scene(events({}));
  scene.run([&](SglangEngine& engine) -> Task<void> {
    auto probe = co_await engine.probe(base::kNever);
    EXPECT_FALSE(probe.ok());
    EXPECT_EQ(probe.error().kind, ErrorKind::kUnavailable);
  });
}

TEST(SglangEngine, is_ready_only_when_a_token_was_made) {
  const std::vector<std::pair<std::vector<std::tuple<std::string, int, std::string>>, bool>> rows =
      {{{{"/health_generate", 200, ""}}, true},
       {{{"/health_generate", 503, ""}, {"/health", 200, ""}}, false},
       {{{"/health", 200, ""}}, true},
       {{{"/health", 503, ""}}, false},
       {{}, false}};
  for (const auto& [pages, expected] : rows) {
    Scene scene(events({}));
    scene.pages = pages;
    const bool wanted = expected;
    scene.run([&](SglangEngine& engine) -> Task<void> {
      const auto status = co_await engine.ready(base::kNever);
      EXPECT_EQ(status.ok(), wanted);
    });
  }
}

}  // namespace
}  // namespace verbatim::engine::sglang
