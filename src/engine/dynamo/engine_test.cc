#include "engine/dynamo/engine.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "gtest/gtest.h"
#include "net/http_server.h"

namespace verbatim::engine::dynamo {
namespace {

using base::ErrorKind;
using base::Task;
using std::chrono::milliseconds;
using std::chrono::seconds;

const TokenIds kPrompt = {1, 2, 3};
constexpr TokenId kStopId = 8;

std::string choice(const std::string& id, const char* finish) {
  return R"({"index":0,"delta":{},"finish_reason":)" + std::string(finish) +
         R"(,"logprobs":{"content":[{"token":"token_id:)" + id + R"(","logprob":-1,"token_id":)" +
         id + "}]}}";
}
std::string event(const std::string& id, const char* finish, const char* nvext) {
  return R"(data: {"choices":[)" + choice(id, finish) +
         R"(],"usage":{"prompt_tokens":3,"completion_tokens":2},"nvext":{)" +
         R"("completion_token_ids":[)" + id + "]" + nvext + "}}\n\n";
}
const std::string kFirst = event("7", "null", "");
const std::string kSecond =
    event("8", "\"stop\"",
          R"(,"engine_data":{"prompt_token_ids":[1,2,3],"completion_token_ids":[7,8],)"
          R"("completion_logprobs":[-1,-1.00000001]})");
const std::string kDone = "data: [DONE]\n\n";

// A frontend on a simulated network whose POST does what a test says.
struct Scene {
  using Generate =
      std::function<Task<void>(const net::Request&, net::Responder&, base::CancelSignal&)>;

  explicit Scene(Generate generate_as) : generate(std::move(generate_as)) {
    server.emplace(world.runtime,
                   [this](const net::Request& request, net::Responder& answer,
                          base::CancelSignal& gone) { return handle(request, answer, gone); });
    auto port = server->start("frontend", 0);
    EXPECT_TRUE(port.ok());
    options.url.endpoint = {"frontend", *port, false};
    options.vocab_size = 100;
    options.model = "usual";
  }

  Task<void> handle(const net::Request& request, net::Responder& answer, base::CancelSignal& gone) {
    targets.emplace_back(request.target);
    if (request.path == path(options.route)) {
      bodies.push_back(request.body);
      for (const auto field : request.headers)
        headers.emplace_back(std::string(field.name) + ": " + std::string(field.value));
      base::CancelHook hook(gone, [this] { ++gone_clients; });
      co_await generate(request, answer, gone);
      co_return;
    }
    const auto page = pages.find(std::string(request.target));
    if (page == pages.end()) {
      (void)co_await answer.send(404, "application/json", R"({"message":"Route not found"})");
      co_return;
    }
    (void)co_await answer.send(page->second.first, "application/json", page->second.second);
  }

  TokenRequest request() {
    TokenRequest r;
    r.request_id = "r1";
    r.model = "served";
    r.prompt = {kPrompt};
    r.max_new_tokens = 10;
    r.stop_token_ids = {kStopId};
    return r;
  }

  void run(const std::function<Task<void>(DynamoEngine&)>& body) {
    EXPECT_TRUE(world.run(play(body)));
  }
  Task<void> play(const std::function<Task<void>(DynamoEngine&)>& body) {
    DynamoEngine engine(world.runtime, options);
    co_await body(engine);
    co_await engine.stop();
    co_await server->stop();
  }

  base::sim::SimWorld world{7};
  Generate generate;
  Options options;
  std::optional<net::HttpServer> server;
  std::vector<std::string> bodies, headers, targets;
  std::map<std::string, std::pair<int, std::string>> pages;
  int gone_clients = 0;
};

struct Outcome {
  TokenIds ids;
  std::optional<TokenEnd> end;
  std::optional<base::Error> error;
  bool started = false;
};

Task<void> generate_into(DynamoEngine& engine, TokenRequest request, Outcome& out) {
  auto stream = co_await engine.generate(std::move(request));
  if (!stream.ok()) {
    out.error = stream.error();
    co_return;
  }
  out.started = true;
  for (;;) {
    auto chunk = co_await (*stream)->next();
    if (!chunk.ok()) {
      out.error = chunk.error();
      co_return;
    }
    if (!*chunk) break;
    out.ids.insert(out.ids.end(), (*chunk)->ids.begin(), (*chunk)->ids.end());
  }
  out.end = (*stream)->end();
}

Outcome generate(Scene& scene, TokenRequest request) {
  Outcome out;
  scene.run([&](DynamoEngine& engine) { return generate_into(engine, request, out); });
  return out;
}

Scene::Generate events(std::string text) {
  return [text = std::move(text)](const net::Request&, net::Responder& answer,
                                  base::CancelSignal&) -> Task<void> {
    (void)answer.begin_stream(200, "text/event-stream");
    (void)co_await answer.end(text);
  };
}
Scene::Generate whole(int status, std::string type, std::string body) {
  return [=](const net::Request&, net::Responder& answer, base::CancelSignal&) -> Task<void> {
    (void)co_await answer.send(status, type, body);
  };
}
// Sends `text`, then nothing until the client is gone.
Scene::Generate stall_after(base::sim::SimWorld** world, std::string text) {
  return [=](const net::Request&, net::Responder& answer, base::CancelSignal& gone) -> Task<void> {
    (void)answer.begin_stream(200, "text/event-stream");
    (void)co_await answer.write(text);
    while (!gone.fired()) co_await base::sleep_for((*world)->executor, milliseconds(10));
  };
}

TEST(DynamoEngine, streams_what_the_worker_samples_and_ends_with_its_own_logprobs) {
  Scene scene(events(kFirst + kSecond + kDone));
  scene.options.api_key = "secret";
  auto request = scene.request();
  request.routing_key = "session-1";
  const Outcome out = generate(scene, request);
  ASSERT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(out.ids, (TokenIds{7, 8}));
  EXPECT_EQ(*out.end->exact_logprobs, (std::vector<double>{-1, -1.00000001}));
  EXPECT_EQ(out.end->prompt_tokens, 3u);
  EXPECT_NE(scene.bodies.at(0).find("\"token_data\":[1,2,3]"), std::string::npos);
  EXPECT_NE(scene.bodies.at(0).find("\"model\":\"served\""), std::string::npos);
  const auto has = [&](const char* line) {
    return std::find(scene.headers.begin(), scene.headers.end(), line) != scene.headers.end();
  };
  EXPECT_TRUE(has("Authorization: Bearer secret"));
  EXPECT_TRUE(has("X-Dynamo-Session-Id: session-1"));
  EXPECT_TRUE(has("X-Request-Id: r1"));
}

TEST(DynamoEngine, keeps_its_connection_after_a_finished_stream) {
  Scene scene(events(kFirst + kSecond + kDone));
  scene.run([&](DynamoEngine& engine) -> Task<void> {
    for (int i = 0; i < 3; ++i) {
      Outcome out;
      co_await generate_into(engine, scene.request(), out);
      EXPECT_FALSE(out.error);
      co_await base::sleep_for(scene.world.executor, milliseconds(1));
    }
    EXPECT_EQ(scene.server->connections(), 1u);
  });
}

TEST(DynamoEngine, a_stream_without_its_end_mark_or_finish_reason_is_an_error) {
  for (const auto& [text, code] : {std::pair(kFirst, "cut_answer"),
                                   {kFirst + kSecond, "cut_answer"},
                                   {kFirst + kDone, "malformed_answer"}}) {
    Scene scene(events(text));
    const Outcome out = generate(scene, scene.request());
    ASSERT_TRUE(out.error);
    EXPECT_EQ(out.error->code, code) << out.error->message;
  }
}

TEST(DynamoEngine, every_shape_of_an_error_keeps_status_and_words) {
  struct Shape {
    int status;
    const char* type;
    const char* body;
    const char* words;
  };
  const char* const kJson = "application/json";
  const Shape shapes[] = {
      {404, kJson, R"({"message":"Model not found","type":"Not Found","code":404})",
       "Model not found"},
      {503, kJson, R"({"error":{"message":"not ready","type":"service_unavailable","code":503}})",
       "not ready"},
      {400, kJson, R"({"type":"error","error":{"type":"api_error","message":"odd"}})", "odd"},
      {415, "text/plain; charset=utf-8", "Expected request with `Content-Type: application/json`",
       "Expected request"},
      {404, kJson, "", "status 404"},  // before any model was there
      {431, "text/plain", "", "status 431"},
      {529, kJson, R"({"message":"Service temporarily overloaded","type":"Overloaded","code":529})",
       "overloaded"},
  };
  for (const auto& shape : shapes) {
    Scene scene(whole(shape.status, shape.type, shape.body));
    const Outcome out = generate(scene, scene.request());
    ASSERT_TRUE(out.error && out.error->upstream) << shape.status;
    EXPECT_EQ(out.error->kind, ErrorKind::kEngine);
    EXPECT_EQ(out.error->upstream->status, shape.status);
    EXPECT_NE(out.error->message.find(shape.words), std::string::npos) << out.error->message;
  }
}

TEST(DynamoEngine, an_error_in_the_first_event_comes_before_the_stream_and_later_behind_its_ids) {
  const std::string error =
      R"(data: {"error":{"message":"too many","type":"rate_limit_error","code":429}})"
      "\n\n" +
      kDone;
  for (const bool first : {true, false}) {
    Scene scene(events(first ? error : kFirst + error));
    const Outcome out = generate(scene, scene.request());
    ASSERT_TRUE(out.error && out.error->upstream);
    EXPECT_EQ(out.error->upstream->status, 429);
    EXPECT_EQ(out.started, !first);
    EXPECT_EQ(out.ids.size(), first ? 0u : 1u);
  }
}

TEST(DynamoEngine, cutting_and_cancelling_close_the_connection) {
  for (const bool cut : {true, false}) {
    base::sim::SimWorld* world = nullptr;
    Scene scene(stall_after(&world, kFirst));
    world = &scene.world;
    base::CancelSignal cancel;
    scene.run([&](DynamoEngine& engine) -> Task<void> {
      auto request = scene.request();
      request.cancel = &cancel;
      auto stream = co_await engine.generate(std::move(request));
      EXPECT_TRUE(stream.ok());
      const auto chunk = co_await (*stream)->next();
      EXPECT_TRUE(chunk.ok());
      if (cut) {
        EXPECT_TRUE((*stream)->cut().ok());
        EXPECT_EQ((*stream)->end().completion_tokens, 1u);
        EXPECT_FALSE((*stream)->end().exact_logprobs);
      } else {
        cancel.fire("client gone");
        const auto next = co_await (*stream)->next();
        EXPECT_EQ(next.error().kind, ErrorKind::kCancelled);
      }
      co_await base::sleep_for(scene.world.executor, milliseconds(100));
      EXPECT_EQ(scene.gone_clients, 1);
    });
    EXPECT_EQ(scene.bodies.size(), 1u);
  }
}

TEST(DynamoEngine, what_can_not_be_sent_is_refused_before) {
  Scene scene(events(""));
  auto empty = scene.request();
  empty.prompt = {};
  EXPECT_EQ(generate(scene, empty).error->field, "prompt");
  Scene other(events(""));
  auto many = other.request();
  for (TokenId id = 50; id < 82; ++id) many.sampling.stop_token_ids.push_back(id);
  EXPECT_EQ(generate(other, many).error->field, "stop_token_ids");
  EXPECT_TRUE(scene.bodies.empty() && other.bodies.empty());
}

const std::string kOneModel = R"({"data":[{"id":"org/the model","context_window":4096}]})";

TEST(DynamoEngine, the_probe_reads_models_context_and_version) {
  Scene scene(events(kFirst + kSecond + kDone));
  scene.pages["/v1/models"] = {200, R"({"data":[{"id":"a","context_window":0},{"id":"b"},)"
                                    R"({"id":"c","context_window":4096},{"id":7},8]})"};
  scene.pages["/openapi.json"] = {200, R"({"info":{"version":"1.6.1"}})"};
  scene.run([&](DynamoEngine& engine) -> Task<void> {
    const auto probe = co_await engine.probe(base::kNever);
    EXPECT_TRUE(probe.ok());
    EXPECT_EQ(probe->engine_version, "1.6.1");
    EXPECT_EQ(probe->models.size(), 3u);
    EXPECT_EQ(probe->models[0].max_model_len, 0u);
    EXPECT_EQ(probe->models[2].max_model_len, 4096u);
    // Several: the request's name; one: that one's.
    Outcome out;
    co_await generate_into(engine, scene.request(), out);
    EXPECT_NE(scene.bodies.back().find("\"model\":\"served\""), std::string::npos);
    scene.pages["/v1/models"] = {200, kOneModel};
    scene.pages.erase("/openapi.json");
    const auto again = co_await engine.probe(base::kNever);
    EXPECT_TRUE(again.ok());
    EXPECT_EQ(again->engine_version, "");
    co_await generate_into(engine, scene.request(), out);
    EXPECT_NE(scene.bodies.back().find("\"model\":\"org/the model\""), std::string::npos);
  });
}

TEST(DynamoEngine, the_first_request_asks_for_the_models_name_where_no_probe_did) {
  Scene scene(events(kFirst + kSecond + kDone));
  scene.pages["/v1/models"] = {200, kOneModel};
  scene.run([&](DynamoEngine& engine) -> Task<void> {
    for (int i = 0; i < 2; ++i) {
      Outcome out;
      auto request = scene.request();
      request.model.clear();
      co_await generate_into(engine, std::move(request), out);
      EXPECT_FALSE(out.error);
    }
  });
  EXPECT_NE(scene.bodies.at(1).find("\"model\":\"org/the model\""), std::string::npos);
  EXPECT_EQ(scene.targets, (std::vector<std::string>{"/v1/models", "/v1/chat/completions",
                                                     "/v1/chat/completions"}));
}

TEST(DynamoEngine, a_probe_without_a_model_is_no_answer_yet) {
  const std::pair<int, std::string> pages[] = {
      {200, R"({"data":[]})"}, {404, ""}, {200, "{}"}, {200, "hello"}, {503, "draining"}};
  for (const auto& page : pages) {
    Scene scene(events(""));
    scene.pages["/v1/models"] = page;
    scene.run([&](DynamoEngine& engine) -> Task<void> {
      const auto probe = co_await engine.probe(base::kNever);
      EXPECT_FALSE(probe.ok()) << page.second;
      const auto ready = co_await engine.ready(base::kNever);
      EXPECT_FALSE(ready.ok()) << page.second;
    });
    EXPECT_TRUE(scene.bodies.empty());
  }
}

// One id behind the prompt of a readiness request.
const std::string kOneToken =
    R"(data: {"choices":[{"index":0,"finish_reason":"length","logprobs":{"content":[)"
    R"({"logprob":-1,"token_id":7}]}}],"usage":{"prompt_tokens":23,"completion_tokens":1},)"
    R"("nvext":{"completion_token_ids":[7],"engine_data":{"completion_token_ids":[7],)"
    R"("completion_logprobs":[-1]}}})"
    "\n\n" +
    kDone;

TEST(DynamoEngine, ready_is_what_samples_a_token_and_not_what_only_says_so) {
  const std::string route = "/v1/models/org/the%20model/ready";
  struct Case {
    std::optional<int> status;  // of the route; older frontends have none
    std::string text;           // the answer of the worker
    bool ready;
    bool asked;
  };
  const Case cases[] = {
      {200, kOneToken, true, true},
      {std::nullopt, kOneToken, true, true},
      {503, kOneToken, false, false},
      {200,
       R"(data: {"error":{"message":"x","code":503}})"
       "\n\n" +
           kDone,
       false, true},
      {200,
       R"(data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}})"
       "\n\n",
       false, true},
      {200, kDone, false, true},
  };
  for (const auto& c : cases) {
    Scene scene(events(c.text));
    scene.pages["/v1/models"] = {200, kOneModel};
    if (c.status) scene.pages[route] = {*c.status, R"({"ready":false,"reason":"no worker"})"};
    scene.run([&](DynamoEngine& engine) -> Task<void> {
      const auto ready = co_await engine.ready(base::MonoTime{} + seconds(5));
      EXPECT_EQ(ready.ok(), c.ready) << c.text;
      const std::string said = ready.ok() ? "" : ready.error().message;
      EXPECT_EQ(said.find("no worker") != std::string::npos, c.status == 503) << said;
    });
    EXPECT_EQ(scene.bodies.size(), c.asked ? 1u : 0u);
    EXPECT_NE(std::find(scene.targets.begin(), scene.targets.end(), route), scene.targets.end());
  }
}

TEST(DynamoEngine, readiness_among_several_models_is_that_of_the_usual_one) {
  Scene scene(events(kOneToken));
  scene.pages["/v1/models"] = {200, R"({"data":[{"id":"a"},{"id":"usual"}]})"};
  scene.pages["/v1/models/usual/ready"] = {200, "{}"};
  scene.run([&](DynamoEngine& engine) -> Task<void> {
    const auto ready = co_await engine.ready(base::MonoTime{} + seconds(5));
    EXPECT_TRUE(ready.ok());
  });
  EXPECT_NE(scene.bodies.at(0).find("\"model\":\"usual\""), std::string::npos);
}

// As the frontend writes it: no usage, no model, and logprobs that name their ids.
std::string generated(const std::string& finish) {
  return R"({"request_id":"r1","choices":[{"index":0,"token_ids":[7,8],"logprobs":{"content":[)"
         R"({"token":"token_id:7","logprob":-0.5,"bytes":null,"top_logprobs":[]},)"
         R"({"token":"token_id:8","logprob":-0.25,"bytes":null,"top_logprobs":[]}]},)"
         R"("finish_reason":)" +
         finish +
         R"(,"routed_experts":null,"sampling_mask":null}],"prompt_logprobs":null,)"
         R"("kv_transfer_params":null})";
}

TEST(DynamoEngine, mode_generate_reads_one_body_that_counts_nothing) {
  Scene scene(whole(200, "application/json", generated("\"stop\"")));
  scene.options.route = Route::kGenerate;
  const Outcome out = generate(scene, scene.request());
  ASSERT_FALSE(out.error) << out.error->message;
  EXPECT_EQ(out.ids, (TokenIds{7, 8}));
  EXPECT_FALSE(out.end->prompt_is_proved);
  EXPECT_EQ(out.end->finish.raw, "stop");
  EXPECT_EQ(scene.targets.back(), "/inference/v1/generate");
  EXPECT_NE(std::find(scene.headers.begin(), scene.headers.end(), "X-Request-Id: r1"),
            scene.headers.end());
}

TEST(DynamoEngine, mode_generate_believes_no_answer_without_a_finish_reason) {
  Scene scene(whole(200, "application/json", generated("null")));
  scene.options.route = Route::kGenerate;
  const Outcome out = generate(scene, scene.request());
  ASSERT_TRUE(out.error);
  EXPECT_EQ(out.error->field, "choices[0].finish_reason");
}

TEST(DynamoEngine, mode_generate_keeps_the_status_of_what_the_frontend_refuses) {
  for (const auto& [status, type] :
       {std::pair(404, "not_found"), std::pair(499, "request_cancelled"),
        std::pair(500, "internal_error"), std::pair(503, "service_unavailable")}) {
    const std::string body = R"({"error":{"message":"no","type":")" + std::string(type) +
                             R"(","code":)" + std::to_string(status) + "}}";
    Scene scene(whole(status, "application/json", body));
    scene.options.route = Route::kGenerate;
    const Outcome out = generate(scene, scene.request());
    ASSERT_TRUE(out.error && out.error->upstream) << status;
    EXPECT_EQ(out.error->upstream->status, status);
    EXPECT_EQ(out.error->upstream->body, body);
  }
}

}  // namespace
}  // namespace verbatim::engine::dynamo
