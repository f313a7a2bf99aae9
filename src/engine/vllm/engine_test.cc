#include "engine/vllm/engine.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "gtest/gtest.h"
#include "net/http_server.h"

// The bytes of an answer are the reader's and the stream's (tested with the SGLang kind); here:
// what goes where.
namespace verbatim::engine::vllm {
namespace {

using base::ErrorKind;
using base::Task;
using std::chrono::milliseconds;
using std::chrono::seconds;

const TokenIds kPrompt = {1, 2, 3};
constexpr const char* kFrame = R"({"choices":[{"index":0,"finish_reason":null,"token_ids":[7],)"
                               R"("logprobs":{"content":[{"token_id":7,"logprob":-1}]}}]})";

// A server on a simulated network: pages by "METHOD target", POSTs kept.
struct Scene {
  struct Page {
    int status = 200;
    std::string type = "application/json";
    std::string body;
    bool hangs = false;  // behind the body
  };

  Scene() {
    server.emplace(world.runtime,
                   [this](const net::Request& request, net::Responder& answer,
                          base::CancelSignal& gone) { return handle(request, answer, gone); });
    options.url.endpoint = {"engine", server->start("engine", 0).value(), false};
    options.vocab_size = 100;
  }

  Task<void> handle(const net::Request& request, net::Responder& answer, base::CancelSignal& gone) {
    const std::string where = std::string(request.method) + " " + std::string(request.target);
    seen.emplace_back(where, request.body);
    for (const auto field : request.headers)
      headers.emplace_back(std::string(field.name) + ": " + std::string(field.value));
    for (const auto& [at, page] : pages) {
      if (at != where) continue;
      if (!page.hangs) {
        (void)co_await answer.send(page.status, page.type, page.body);
        co_return;
      }
      (void)answer.begin_stream(page.status, page.type);
      (void)co_await answer.write(page.body);
      while (!gone.fired()) co_await base::sleep_for(world.executor, milliseconds(10));
      co_return;
    }
    (void)co_await answer.send(404, "application/json", R"({"detail":"Not Found"})");
  }

  void run(const std::function<Task<void>(VllmEngine&)>& body) {
    const bool ended = world.run(play(body));
    EXPECT_TRUE(ended);
  }
  Task<void> play(const std::function<Task<void>(VllmEngine&)>& body) {
    VllmEngine engine(world.runtime, options);
    co_await body(engine);
    co_await engine.stop();
    co_await server->stop();
  }

  [[nodiscard]] std::vector<std::string> bodies_at(const std::string& where) const {
    std::vector<std::string> found;
    for (const auto& [at, body] : seen) {
      if (at == where) found.push_back(body);
    }
    return found;
  }

  base::sim::SimWorld world{11};
  Options options;
  std::optional<net::HttpServer> server;
  std::vector<std::pair<std::string, Page>> pages;
  std::vector<std::pair<std::string, std::string>> seen;
  std::vector<std::string> headers;
};

TokenRequest request() {
  TokenRequest r;
  r.request_id = "r1";
  r.model = "ours";
  r.prompt = {kPrompt};
  r.max_new_tokens = 10;
  return r;
}

Scene::Page stream_of(const std::string& frame) {
  return {200, "text/event-stream", "data: " + frame + "\n\n", true};
}

TEST(VllmEngine, each_mode_has_its_path_and_takes_the_model_that_the_server_lists) {
  for (const auto& [route, path] : {std::pair(Route::kGenerate, "POST /base/inference/v1/generate"),
                                    std::pair(Route::kCompletions, "POST /base/v1/completions")}) {
    Scene scene;
    scene.options.route = route;
    scene.options.url.base_path = "/base";
    scene.options.api_key = "secret";
    scene.pages = {{"GET /base/v1/models",
                    {200, "application/json", R"({"data":[{"id":"theirs","max_model_len":64}]})"}},
                   {path, {400, "application/json", R"({"error":{"message":"no"}})"}}};
    scene.run([&](VllmEngine& engine) -> Task<void> {
      auto before = co_await engine.generate(request());
      EXPECT_EQ(before.error().upstream->status, 400);
      auto probe = co_await engine.probe(base::kNever);
      EXPECT_TRUE(probe.ok());
      EXPECT_EQ(probe->context_length, 64U);
      auto traced = request();
      traced.headers.add("traceparent", "00-ab-cd-01").add("x-request-id", "the client's");
      auto after = co_await engine.generate(std::move(traced));
      EXPECT_FALSE(after.ok());
    });
    const auto bodies = scene.bodies_at(path);
    ASSERT_EQ(bodies.size(), 2U);
    EXPECT_NE(bodies[0].find("\"model\":\"ours\""), std::string::npos);
    EXPECT_NE(bodies[1].find("\"model\":\"theirs\""), std::string::npos);
    const auto has = [&](const char* line) {
      return std::find(scene.headers.begin(), scene.headers.end(), line) != scene.headers.end();
    };
    EXPECT_TRUE(has("Authorization: Bearer secret"));
    EXPECT_TRUE(has("X-Request-Id: r1"));
    EXPECT_TRUE(has("traceparent: 00-ab-cd-01"));
    EXPECT_FALSE(has("x-request-id: the client's")) << "aborts go by the id in this field";
  }
}

TEST(VllmEngine, a_generation_given_up_is_aborted_by_the_id_that_vllm_knows) {
  Scene scene;
  scene.pages = {{"POST /inference/v1/generate", stream_of(kFrame)}};
  scene.run([&](VllmEngine& engine) -> Task<void> {
    auto stream = co_await engine.generate(request());
    EXPECT_TRUE(stream.ok());
    auto chunk = co_await (*stream)->next();
    EXPECT_TRUE(chunk.ok() && *chunk);
    (*stream)->abort();
  });
  EXPECT_EQ(scene.bodies_at("POST /inference/v1/abort_requests"),
            std::vector<std::string>{R"({"request_ids":["generate-tokens-r1"]})"});
}

TEST(VllmEngine, completions_are_aborted_by_closing) {
  Scene scene;
  scene.options.route = Route::kCompletions;
  scene.pages = {
      {"POST /v1/completions", stream_of(R"({"choices":[{"index":0,"token_ids":[7],"logprobs":)"
                                         R"({"tokens":["token_id:7"],"token_logprobs":[-1]}}]})")}};
  scene.run([&](VllmEngine& engine) -> Task<void> {
    auto stream = co_await engine.generate(request());
    EXPECT_TRUE(stream.ok());
  });
  EXPECT_EQ(scene.seen.size(), 1U);
}

TEST(VllmEngine, is_ready_when_a_token_was_sampled_behind_the_ids_that_were_sent) {
  const auto answer = [](int prompt) {
    return Scene::Page{200, "application/json",
                       R"({"choices":[{"index":0,"finish_reason":"length","token_ids":[7],)"
                       R"("logprobs":{"content":[{"token_id":7,"logprob":-1}]}}],)"
                       R"("usage":{"prompt_tokens":)" +
                           std::to_string(prompt) + R"(,"completion_tokens":1}})"};
  };
  const auto ready = [](Scene& scene) {
    base::Status status;
    scene.run([&](VllmEngine& engine) -> Task<void> {
      status = co_await engine.ready(scene.world.executor.clock().now() + seconds(5));
    });
    return status;
  };
  Scene good;
  good.pages = {{"POST /inference/v1/generate", answer(23)}};
  EXPECT_TRUE(ready(good).ok());
  Scene deaf;  // renders something else
  deaf.pages = {{"POST /inference/v1/generate", answer(9)}};
  EXPECT_EQ(ready(deaf).error().kind, ErrorKind::kEngine);
  Scene other;  // has no such route
  EXPECT_EQ(ready(other).error().upstream->status, 404);
  Scene asleep;
  asleep.pages = {{"POST /inference/v1/generate", {200, "text/event-stream", "", true}}};
  EXPECT_EQ(ready(asleep).error().kind, ErrorKind::kTimeout);
}

TEST(VllmEngine, probes_what_is_there) {
  Scene scene;
  scene.pages = {{"GET /v1/models",
                  {200, "application/json",
                   R"({"data":[{"id":"a","max_model_len":100},{"id":"b","max_model_len":200}]})"}},
                 {"GET /version", {200, "application/json", R"({"version":"0.32.0"})"}},
                 {"GET /weight_info", {200, "application/json", R"({"weight_version":"w1"})"}}};
  scene.run([&](VllmEngine& engine) -> Task<void> {
    auto probe = co_await engine.probe(base::kNever);
    EXPECT_TRUE(probe.ok());
    EXPECT_EQ(probe->engine_version, "0.32.0");
    EXPECT_EQ(probe->weight_version, "w1");
    EXPECT_EQ(probe->models.size(), 2U);
    EXPECT_EQ(probe->context_length, 0U) << "which of the two is served is not known here";
  });
  Scene nothing;
  nothing.run([&](VllmEngine& engine) -> Task<void> {
    auto probe = co_await engine.probe(base::kNever);
    EXPECT_EQ(probe.error().kind, ErrorKind::kUnavailable);
  });
}

}  // namespace
}  // namespace verbatim::engine::vllm
