#include "engine/inspect.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/sim/sim_world.h"
#include "engine/late_engine.h"
#include "gtest/gtest.h"
#include "net/http_server.h"

namespace verbatim::engine {
namespace {

using base::ErrorKind;
using base::Task;
using std::chrono::seconds;

Choice choice(std::string kind, std::string mode = "") {
  Choice c;
  c.kind = std::move(kind);
  c.mode = std::move(mode);
  c.url.endpoint = {"engine", 1, false};
  c.vocab_size = 100;
  return c;
}

// A server with these pages, by "METHOD target".
using Pages = std::map<std::string, std::string>;
struct Scene {
  explicit Scene(Pages shown) : pages(std::move(shown)) {
    server.emplace(world.runtime, [this](const net::Request& request, net::Responder& answer,
                                         base::CancelSignal&) { return handle(request, answer); });
    port = server->start("engine", 0).value();
  }
  Task<void> handle(const net::Request& request, net::Responder& answer) {
    ++gets[std::string(request.method) + " " + std::string(request.target)];
    const auto at = pages.find(std::string(request.method) + " " + std::string(request.target));
    if (at == pages.end()) {
      (void)co_await answer.send(404, "application/json", R"({"detail":"Not Found"})");
    } else {
      (void)co_await answer.send(200, "application/json", at->second);
    }
  }
  base::Result<Identity> identify_it() {
    std::optional<base::Result<Identity>> found;
    const bool ended = world.run([](Scene& scene, auto& into) -> Task<void> {
      Choice asked = choice("auto");
      asked.url.endpoint.port = scene.port;
      into.emplace(co_await identify(scene.world.runtime, asked,
                                     scene.world.executor.clock().now() + seconds(5)));
      co_await scene.server->stop();
    }(*this, found));
    EXPECT_TRUE(ended);
    return std::move(*found);
  }
  base::Status honours(const std::string& kind, const std::string& mode = "") {
    base::Status status;
    const bool ended = world.run([](Scene& scene, Choice asked, base::Status& into) -> Task<void> {
      asked.url.endpoint.port = scene.port;
      auto engine = make_engine(scene.world.runtime, asked);
      const auto deadline = scene.world.executor.clock().now() + seconds(5);
      auto probe = co_await (*engine)->probe(deadline);
      const bool lists = probe.ok() && !probe->models.empty();
      std::string model = lists ? probe->models[0].id : "";
      into = co_await honours_ids(**engine, scene.world.runtime, std::move(model), deadline);
      co_await (*engine)->stop();
      co_await scene.server->stop();
    }(*this, choice(kind, mode), status));
    EXPECT_TRUE(ended);
    return status;
  }

  base::sim::SimWorld world{3};
  Pages pages;
  std::map<std::string, int> gets;
  std::optional<net::HttpServer> server;
  std::uint16_t port = 0;
};

std::string models(const char* owner) {
  return std::string(R"({"data":[{"id":"m","max_model_len":64,"owned_by":")") + owner + "\"}]}";
}

const Pages kVllm = {{"GET /v1/models", models("vllm")},
                     {"GET /version", R"({"version":"0.32.0"})"}};
const Pages kSglang = {{"GET /v1/models", models("sglang")},
                       {"GET /server_info", R"({"version":"0.5.18"})"}};

const Pages kDynamo = {
    {"GET /v1/models", R"({"data":[{"id":"m","owned_by":"nvidia","context_window":64}]})"},
    {"GET /openapi.json",
     R"({"info":{"title":"NVIDIA Dynamo OpenAI Frontend","version":"1.6.1"}})"}};

TEST(Inspect, a_server_is_known_by_what_only_it_shows) {
  const auto vllm = Scene(kVllm).identify_it();
  ASSERT_TRUE(vllm.ok());
  EXPECT_EQ(vllm->kinds, std::vector<std::string>{"vllm"});
  EXPECT_EQ(vllm->release, "0.32.0");
  EXPECT_EQ(vllm->models.at(0).max_model_len, 64U);
  const auto sglang = Scene(kSglang).identify_it();
  EXPECT_EQ(sglang->kinds, std::vector<std::string>{"sglang"});
  EXPECT_EQ(sglang->release, "0.5.18");
  const auto dynamo = Scene(kDynamo).identify_it();
  EXPECT_EQ(dynamo->kinds, std::vector<std::string>{"dynamo"});
  EXPECT_EQ(dynamo->release, "1.6.1");
  const auto other = Scene(Pages{{"GET /v1/models", models("somebody")}}).identify_it();
  EXPECT_TRUE(other->kinds.empty());
  EXPECT_EQ(other->evidence, std::vector<std::string>{"GET /v1/models: owned_by somebody"});
}

TEST(Inspect, nobody_there_is_no_identity) {
  Scene scene(Pages{});
  scene.port = 1;
  const auto found = scene.identify_it();
  EXPECT_EQ(found.error().kind, ErrorKind::kUnavailable);
}

TEST(Inspect, auto_takes_the_kind_that_is_there_and_says_so_where_it_can_not) {
  const Identity vllm = Scene(kVllm).identify_it().value();
  EXPECT_EQ(settle(choice("auto"), vllm)->kind, "vllm");
  const auto none = settle(choice("auto"), Identity{});
  EXPECT_EQ(none.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(none.error().message.find("--engine-kind vllm"), std::string::npos);
  auto both = kVllm;
  both.insert(kSglang.begin(), kSglang.end());
  const auto unsure = settle(choice("auto"), Scene(both).identify_it().value());
  EXPECT_NE(unsure.error().message.find("--engine-kind"), std::string::npos);
  for (const char* declared : {"vllm", "sglang"})
    EXPECT_TRUE(settle(choice(declared), Scene(both).identify_it().value()).ok()) << declared;
}

TEST(Inspect, a_server_for_which_nothing_speaks_is_driven_by_messages_if_it_lists_models) {
  for (const char* page : {R"({"data":[]})", R"({"data":[{"id":"m","owned_by":"somebody"}]})",
                           R"({"object":"list","data":[{"id":"m"}]})"}) {
    const Identity found = Scene(Pages{{"GET /v1/models", page}}).identify_it().value();
    EXPECT_TRUE(found.kinds.empty()) << page;
    EXPECT_EQ(settle(choice("auto"), found)->kind, "openai") << page;
  }
  for (const auto& pages :
       {Pages{}, Pages{{"GET /v1/models", "[]"}}, Pages{{"GET /v1/models", R"({"models":[]})"}}})
    EXPECT_FALSE(settle(choice("auto"), Scene(pages).identify_it().value()).ok());
  for (const auto& pages : {kVllm, kSglang, Pages{}}) {
    const Identity found = Scene(pages).identify_it().value();
    EXPECT_EQ(settle(choice("openai"), found)->kind, "openai") << "every server may be relayed to";
  }
}

TEST(Inspect, another_kind_than_the_declared_one_is_refused_with_the_remedy) {
  for (const auto& [declared, pages, found] :
       {std::tuple("sglang", kVllm, "vllm"), std::tuple("vllm", kSglang, "sglang"),
        std::tuple("vllm", kDynamo, "dynamo")}) {
    const auto settled = settle(choice(declared), Scene(pages).identify_it().value());
    ASSERT_FALSE(settled.ok());
    EXPECT_EQ(settled.error().kind, ErrorKind::kUnsupported);
    EXPECT_NE(settled.error().message.find(std::string("--engine-kind ") + found),
              std::string::npos)
        << settled.error().message;
  }
  EXPECT_TRUE(settle(choice("vllm"), Identity{}).ok()) << "a router may hide what is behind it";
}

TEST(Inspect, a_release_too_old_for_the_mode_is_refused_with_a_mode_that_it_has) {
  Identity old;
  old.kinds = {"vllm"};
  old.release = "0.11.0";
  const auto settled = settle(choice("vllm"), old);
  ASSERT_FALSE(settled.ok());
  EXPECT_NE(settled.error().message.find("needs vLLM 0.18, found 0.11.0"), std::string::npos)
      << settled.error().message;
  EXPECT_NE(settled.error().message.find("--engine-mode completions"), std::string::npos);
  EXPECT_TRUE(settle(choice("vllm", "completions"), old).ok());
  old.release = "0.1.dev12+gabc";
  EXPECT_TRUE(settle(choice("vllm"), old).ok()) << "built from a working tree";
}

TEST(Inspect, ids_that_are_not_read_and_routes_that_are_missing_are_told_apart) {
  const auto answer = [](int prompt) {
    return R"({"choices":[{"index":0,"finish_reason":"length","token_ids":[7],)"
           R"("logprobs":{"content":[{"token_id":7,"logprob":-1}]}}],)"
           R"("usage":{"prompt_tokens":)" +
           std::to_string(prompt) + R"(,"completion_tokens":1}})";
  };
  const auto path = "POST " + std::string(find_kind("vllm")->modes[0].route);
  EXPECT_TRUE(
      Scene(Pages{{path, answer(23)}, {"GET /v1/models", models("vllm")}}).honours("vllm").ok());
  const auto deaf =
      Scene(Pages{{path, answer(9)}, {"GET /v1/models", models("vllm")}}).honours("vllm");
  EXPECT_EQ(deaf.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(deaf.error().message.find("usage.prompt_tokens"), std::string::npos);
  const auto lacking = Scene(kSglang).honours("vllm");
  EXPECT_EQ(lacking.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(lacking.error().message.find("lacks the route"), std::string::npos);
  Scene gone(Pages{});
  gone.port = 1;
  EXPECT_EQ(gone.honours("vllm").error().kind, ErrorKind::kUnavailable) << "it may come up later";
}

TEST(Inspect, what_is_not_shown_is_left_open) {
  const auto path = "POST " + std::string(find_kind("vllm")->modes[0].route);
  const std::string silent = R"({"choices":[{"index":0,"finish_reason":"length","token_ids":[7],)"
                             R"("logprobs":{"content":[{"token_id":7,"logprob":-1}]}}]})";
  Scene scene(Pages{{path, silent}, {"GET /v1/models", models("vllm")}});
  EXPECT_EQ(scene.honours("vllm").error().kind, ErrorKind::kEngine) << "a release before 0.27";
  Scene starting(Pages{{"GET /v1/models", R"({"data":[]})"}});
  EXPECT_EQ(starting.honours("vllm").error().kind, ErrorKind::kUnavailable)
      << "a frontend whose worker is not there yet";
  Scene several(Pages{{path, silent}, {"GET /v1/models", R"({"data":[{"id":"a"},{"id":"b"}]})"}});
  EXPECT_EQ(several.honours("vllm").error().kind, ErrorKind::kEngine);
}

// What inspect() says of a mode by messages at this server.
base::Status fit_of(const Pages& pages, Choice asked) {
  Scene scene(pages);
  base::Status fits;
  EXPECT_TRUE(scene.world.run([](Scene& s, Choice at, base::Status& into) -> Task<void> {
    at.url.endpoint.port = s.port;
    auto found = co_await inspect(s.world.runtime, at, s.world.executor.clock().now() + seconds(5));
    EXPECT_TRUE(found.ok());
    if (found.ok()) {
      into = found->fits;
      co_await found->engine->stop();
    }
    co_await s.server->stop();
  }(scene, std::move(asked), fits)));
  return fits;
}

TEST(Inspect, the_route_of_a_mode_by_messages_must_be_there) {
  auto pages = kVllm;
  const auto missing = fit_of(pages, choice("vllm", "responses"));
  EXPECT_EQ(missing.error().kind, ErrorKind::kUnsupported);
  for (const char* words : {"POST /v1/responses is a 404", "chat-text, responses, messages"})
    EXPECT_NE(missing.error().message.find(words), std::string::npos) << missing.error().message;
  pages["POST /v1/responses"] = R"({"error":{"message":"no input"}})";
  EXPECT_TRUE(fit_of(pages, choice("vllm", "responses")).ok());
  const auto off = fit_of(kDynamo, choice("dynamo", "messages"));
  EXPECT_NE(off.error().message.find("--enable-anthropic-api"), std::string::npos);
  const Pages starting{{"GET /v1/models", R"({"data":[]})"}};
  EXPECT_TRUE(fit_of(starting, choice("dynamo", "chat-text")).ok())
      << "a frontend whose worker is not there yet has no route either";
}

TEST(LateEngine, is_found_by_the_first_probe_that_reaches_it) {
  Scene scene(kSglang);
  const std::uint16_t port = scene.port;
  const bool ended = scene.world.run([](Scene& up, std::uint16_t at) -> Task<void> {
    Choice asked = choice("auto");
    asked.url.endpoint.port = 1;
    LateEngine nowhere(up.world.runtime, asked);
    auto none = co_await nowhere.probe(up.world.executor.clock().now() + seconds(5));
    EXPECT_EQ(none.error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(nowhere.kind(), "auto");
    TokenRequest request;
    auto stream = co_await nowhere.generate(std::move(request));
    EXPECT_EQ(stream.error().kind, ErrorKind::kUnavailable);
    co_await nowhere.stop();
    asked.url.endpoint.port = at;
    asked.kind = "vllm";
    LateEngine wrong(up.world.runtime, asked);
    auto other = co_await wrong.probe(up.world.executor.clock().now() + seconds(5));
    EXPECT_EQ(other.error().kind, ErrorKind::kUnsupported);
    co_await wrong.stop();
    co_await up.server->stop();
  }(scene, port));
  EXPECT_TRUE(ended);
}

TEST(LateEngine, is_the_engine_that_it_found) {
  auto pages = kVllm;
  pages["POST " + std::string(find_kind("vllm")->modes[0].route)] =
      R"({"choices":[{"index":0,"finish_reason":"length","token_ids":[7],)"
      R"("logprobs":{"content":[{"token_id":7,"logprob":-1}]}}],)"
      R"("usage":{"prompt_tokens":23,"completion_tokens":1}})";
  Scene scene(pages);
  const bool ended = scene.world.run([](Scene& up) -> Task<void> {
    Choice asked = choice("auto");
    asked.url.endpoint.port = up.port;
    LateEngine late(up.world.runtime, asked);
    auto probe = co_await late.probe(up.world.executor.clock().now() + seconds(5));
    EXPECT_TRUE(probe.ok());
    EXPECT_EQ(late.kind(), "vllm");
    EXPECT_EQ(late.mode(), "generate");
    auto ready = co_await late.ready(up.world.executor.clock().now() + seconds(5));
    EXPECT_TRUE(ready.ok());
    co_await late.stop();
    co_await up.server->stop();
  }(scene));
  EXPECT_TRUE(ended);
}

TEST(Inspect, no_page_is_asked_for_twice_and_an_engine_that_lives_on_asks_anew) {
  for (const Pages& pages : {kVllm, kSglang, kDynamo}) {
    Scene scene(pages);
    ASSERT_TRUE(scene.world.run([](Scene& s) -> Task<void> {
      Choice asked = choice("auto");
      asked.url.endpoint.port = s.port;
      const auto deadline = s.world.executor.clock().now() + seconds(5);
      auto found = co_await inspect(s.world.runtime, asked, deadline);
      EXPECT_TRUE(found.ok());
      if (!found.ok()) co_return;
      EXPECT_TRUE(found->engine != nullptr && found->probe);
      for (const auto& [page, times] : s.gets) {
        const bool once = times == 1 || !page.starts_with("GET");
        EXPECT_TRUE(once) << page << " " << times;
      }
      (void)co_await found->engine->probe(deadline);
      EXPECT_EQ(s.gets["GET /v1/models"], 2);
      co_await found->engine->stop();
      co_await s.server->stop();
    }(scene)));
  }
}

}  // namespace
}  // namespace verbatim::engine
