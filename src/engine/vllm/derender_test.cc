#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "engine/vllm/derender_engine.h"
#include "engine/vllm/derender_wire.h"
#include "gtest/gtest.h"
#include "net/http_server.h"

namespace verbatim::engine::vllm {
namespace {

using base::ErrorKind;
using base::Task;
using std::chrono::milliseconds;

const TokenIds kPrompt = {1, 2, 3};
constexpr const char* kChat =
    R"({"model":"alias","messages":[{"role":"user","content":"Hi"}],"temperature":0.30,)"
    R"("stream":true,"stream_options":{"include_usage":true},"top_logprobs":null,"tools":[{}],)"
    R"("priority":3,"cache_salt":"s"})";
constexpr const char* kRendered =
    R"({"request_id":"chatcmpl-1","token_ids":[1,2,9,9],"features":null,"sampling_params":)"
    R"({"temperature":0.30,"top_p":0.95,"stop_token_ids":[55],"output_kind":1,"logprobs":0},)"
    R"("stream":true,"stream_options":{"include_usage":true},"cache_salt":null,"priority":0,)"
    R"("reasoning_ended":false,"kv_transfer_params":null})";
constexpr const char* kSampled =
    R"({"choices":[{"index":0,"finish_reason":"stop","token_ids":[7,8,9],"logprobs":{"content":[)"
    R"({"token_id":7,"logprob":-1},{"token_id":8,"logprob":-2},{"token_id":9,"logprob":-3}]}}],)"
    R"("usage":null})";
constexpr const char* kParsed =
    R"({"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":null,)"
    R"("reasoning":"so","tool_calls":[{"id":"ab","type":"function","function":)"
    R"({"name":"f","arguments":"{\"a\": 1}"}}]}}]})";

struct Page {
  int status = 200;
  std::string body;
};

struct Scene {
  Scene() {
    server.emplace(world.runtime, [this](const net::Request& request, net::Responder& answer,
                                         base::CancelSignal&) { return handle(request, answer); });
    options.url.endpoint = {"engine", server->start("engine", 0).value(), false};
    options.vocab_size = 100;
    pages = {{kRenderPath, {200, kRendered}},
             {path(Route::kGenerate), {200, kSampled}},
             {kDerenderPath, {200, kParsed}}};
  }
  Task<void> handle(const net::Request& request, net::Responder& answer) {
    seen.emplace_back(request.target, request.body);
    const auto page = pages.find(std::string_view(request.target));
    if (page == pages.end()) {
      (void)co_await answer.send(404, "application/json", "{}");
    } else {
      (void)co_await answer.send(page->second.status, "application/json", page->second.body);
    }
  }
  TokenRequest request() const {
    TokenRequest r;
    r.request_id = "r1";
    r.prompt = {kPrompt};
    r.max_new_tokens = 10;
    r.stop_token_ids = {9};
    r.chat = chat;
    r.sampling.priority = 3;
    r.sampling.cache_salt = "s";
    r.sampling.stop = stops;
    return r;
  }
  // The one chunk, with its end.
  base::Result<std::pair<TokenChunk, TokenEnd>> turn() {
    std::optional<base::Result<std::pair<TokenChunk, TokenEnd>>> out;
    const bool ended = world.run([](Scene& scene, auto& into) -> Task<void> {
      DerenderEngine engine(scene.world.runtime, scene.options);
      auto stream = co_await engine.generate(scene.request());
      if (stream.ok()) {
        auto chunk = co_await (*stream)->next();
        auto last = co_await (*stream)->next();
        EXPECT_TRUE(chunk.ok() && *chunk && last.ok() && !*last);
        into.emplace(std::pair(std::move(**chunk), (*stream)->end()));
      } else {
        into.emplace(stream.error());
      }
      stream = base::error(ErrorKind::kInternal, "over");
      co_await engine.stop();
      co_await scene.server->stop();
    }(*this, out));
    EXPECT_TRUE(ended);
    return std::move(*out);
  }
  [[nodiscard]] json::Document body_at(std::string_view where) const {
    for (const auto& [target, body] : seen) {
      if (target == where) return json::Document::parse(body).value();
    }
    ADD_FAILURE() << "nothing was sent to " << where;
    return json::Document::parse("{}").value();
  }

  base::sim::SimWorld world{5};
  Options options;
  std::string chat = kChat;
  std::vector<std::string> stops;
  std::map<std::string_view, Page> pages;
  std::vector<std::pair<std::string, std::string>> seen;
  std::optional<net::HttpServer> server;
};

TEST(Derender, a_turn_is_three_calls_with_our_ids_in_the_middle) {
  Scene scene;
  const auto turn = scene.turn();
  ASSERT_TRUE(turn.ok()) << turn.error().message;
  const auto& [chunk, end] = *turn;
  EXPECT_EQ(chunk.ids, (TokenIds{7, 8, 9}));
  EXPECT_EQ(chunk.logprobs, (std::vector<double>{-1, -2, -3}));
  ASSERT_TRUE(chunk.parsed);
  EXPECT_EQ(chunk.parsed->text, "");
  EXPECT_EQ(chunk.parsed->reasoning, "so");
  ASSERT_EQ(chunk.parsed->tool_calls.size(), 1U);
  EXPECT_EQ(chunk.parsed->tool_calls[0].arguments, "{\"a\": 1}") << "byte for byte";
  EXPECT_EQ(end.finish.raw, "stop");
  ASSERT_TRUE(end.skew);
  EXPECT_EQ(end.skew->rendered, 4U);
  EXPECT_EQ(end.skew->common, 2U);
  ASSERT_EQ(scene.seen.size(), 3U);
}

TEST(Derender, render_is_asked_as_the_client_asked_but_for_what_is_forced) {
  Scene scene;
  ASSERT_TRUE(scene.turn().ok());
  EXPECT_EQ(scene.body_at(kRenderPath).root().raw(),
            R"({"model":"alias","messages":[{"role":"user","content":"Hi"}],"temperature":0.30,)"
            R"("tools":[{}],"logprobs":true,"top_logprobs":0,"stream":false})");
}

TEST(Derender, generate_gets_what_render_resolved_and_nothing_is_streamed) {
  Scene scene;
  ASSERT_TRUE(scene.turn().ok());
  EXPECT_EQ(scene.body_at(path(Route::kGenerate)).root().raw(),
            R"({"request_id":"r1","model":"alias","token_ids":[1,2,3],"sampling_params":)"
            R"({"temperature":0.30,"top_p":0.95,"max_tokens":10,"output_kind":2,"logprobs":0,)"
            R"("stop_token_ids":[9,55]},"reasoning_ended":false,"priority":-3,"cache_salt":"s",)"
            R"("stream":false})");
}

TEST(Derender, the_parser_does_not_see_the_stop_id_which_it_would_give_out_as_text) {
  Scene scene;
  ASSERT_TRUE(scene.turn().ok());
  const auto sent = scene.body_at(kDerenderPath);
  const auto choice =
      *(*sent.root().find("generate_response")->find("choices")->begin()).value.find("token_ids");
  EXPECT_EQ(choice.raw(), "[7,8]");
  EXPECT_EQ(sent.root().find("prompt_tokens")->raw(), "3");
  EXPECT_TRUE(sent.root().find("chat_request")->find("tools"));
}

TEST(Derender, a_stop_id_that_only_render_knows_is_not_shown_either) {
  Scene scene;
  scene.pages[path(Route::kGenerate)].body =
      R"({"choices":[{"index":0,"finish_reason":"stop","token_ids":[7,55],"logprobs":{"content":[)"
      R"({"token_id":7,"logprob":-1},{"token_id":55,"logprob":-3}]}}]})";
  ASSERT_TRUE(scene.turn().ok());
  const auto sent = scene.body_at(kDerenderPath);
  const auto choice = (*sent.root().find("generate_response")->find("choices")->begin()).value;
  EXPECT_EQ(choice.find("token_ids")->raw(), "[7]");
}

TEST(Derender, what_is_shown_ends_in_front_of_a_stop_string_wherever_it_stands) {
  Scene scene;
  scene.stops = {"END"};
  scene.pages[kDerenderPath].body =
      R"({"choices":[{"message":{"content":"a END b","reasoning":"so","tool_calls":)"
      R"([{"function":{"name":"f","arguments":"{}"}}]}}]})";
  auto shown = *scene.turn()->first.parsed;
  EXPECT_EQ(shown.text, "a ");
  EXPECT_TRUE(shown.tool_calls.empty());
  Scene early;
  early.stops = {"END"};
  early.pages[kDerenderPath].body =
      R"({"choices":[{"message":{"content":"b","reasoning":"so END it"}}]})";
  shown = *early.turn()->first.parsed;
  EXPECT_EQ(shown.reasoning, "so ");
  EXPECT_EQ(shown.text, "");
}

TEST(Derender, an_answer_of_nothing_but_a_stop_is_an_empty_message_and_needs_no_parser) {
  Scene scene;
  scene.pages[path(Route::kGenerate)].body =
      R"({"choices":[{"index":0,"finish_reason":"stop","token_ids":[9],"logprobs":)"
      R"({"content":[{"token_id":9,"logprob":-3}]}}]})";
  const auto turn = scene.turn();
  ASSERT_TRUE(turn.ok());
  EXPECT_EQ(turn->first.parsed, (message::Message{.role = message::Role::kAssistant}));
  EXPECT_EQ(scene.seen.size(), 2U);
}

TEST(Derender, an_error_of_a_call_passes_on_and_the_calls_behind_it_are_not_made) {
  const std::vector<std::string_view> calls = {kRenderPath, path(Route::kGenerate), kDerenderPath};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Scene scene;
    scene.pages[calls[i]] = {429, R"({"error":{"message":"busy"}})"};
    const auto turn = scene.turn();
    ASSERT_FALSE(turn.ok());
    ASSERT_TRUE(turn.error().upstream) << calls[i];
    EXPECT_EQ(turn.error().upstream->status, 429);
    EXPECT_EQ(turn.error().upstream->body, R"({"error":{"message":"busy"}})");
    EXPECT_EQ(scene.seen.size(), i + 1);
  }
}

TEST(Derender, an_error_in_a_200_of_a_call_that_samples_nothing_is_a_broken_answer) {
  for (const std::string_view where : {kRenderPath, kDerenderPath}) {
    for (const char* body : {R"({"error":{"message":"no chat template","code":400}})",
                             R"({"object":"error","message":"no chat template","code":503})"}) {
      Scene scene;
      scene.pages[where].body = body;
      const auto turn = scene.turn();
      ASSERT_FALSE(turn.ok()) << where << " " << body;
      EXPECT_EQ(turn.error().kind, ErrorKind::kEngine);
      EXPECT_EQ(turn.error().upstream, nullptr) << "502, whatever status it names";
      EXPECT_EQ(turn.error().message, "the engine reported an error: no chat template");
    }
  }
}

TEST(Derender, an_answer_that_can_not_be_trusted_is_an_error_that_names_the_field) {
  const std::vector<std::tuple<std::string_view, std::string, std::string>> bad = {
      {kRenderPath, "[]", "sampling_params: found nothing"},
      {kRenderPath, "{\"sampling_params\":1}", "sampling_params: found 1"},
      {kRenderPath, "<html>", "text that is not JSON"},
      {kRenderPath, R"({"sampling_params":{"stop_token_ids":["x"]}})", "stop_token_ids"},
      {kRenderPath, R"({"sampling_params":{},"features":{"mm_hashes":{}}})", "images or sound"},
      {path(Route::kGenerate), "{}", "choices: found nothing"},
      {path(Route::kGenerate),
       R"({"choices":[{"index":0,"token_ids":[7],"finish_reason":"stop"}]})",
       "logprobs: found nothing"},
      {kDerenderPath, "{}", "choices: found nothing"},
      {kDerenderPath, R"({"choices":[{"message":{"content":7}}]})", "content: found 7"},
      {kDerenderPath, R"({"choices":[{"message":{"tool_calls":[{}]}}]})", "tool_calls[0]"},
      {kDerenderPath,
       R"({"choices":[{"message":{"tool_calls":[{"function":{"name":"","arguments":"{}"}}]}}]})",
       "tool_calls[0]"},
      {kDerenderPath, R"({"error":{"message":"no parser"}})", "no parser"},
      {kDerenderPath, R"({"error":{"message":"Too many requests","code":429}})", "Too many"}};
  for (const auto& [where, body, error] : bad) {
    Scene scene;
    scene.pages[where].body = body;
    const auto turn = scene.turn();
    ASSERT_FALSE(turn.ok()) << where << " " << body;
    EXPECT_NE(turn.error().message.find(error), std::string::npos) << turn.error().message;
    if (where == kDerenderPath) {
      EXPECT_EQ(turn.error().code, "sampled_already") << "never to be sent to another replica";
    }
  }
}

TEST(Derender, a_chat_without_a_model_is_refused_before_anything_is_sent) {
  Scene scene;
  scene.chat = R"({"messages":[]})";
  const auto turn = scene.turn();
  EXPECT_EQ(turn.error().kind, ErrorKind::kInvalidRequest);
  EXPECT_EQ(turn.error().field, "model");
  EXPECT_TRUE(scene.seen.empty());
}

}  // namespace
}  // namespace verbatim::engine::vllm
