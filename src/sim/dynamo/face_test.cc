#include "sim/dynamo/face.h"

#include <string>

#include "gtest/gtest.h"
#include "sim/testing/scene.h"

namespace verbatim::sim::dynamo {
namespace {

using base::Task;
using std::chrono::milliseconds;
using testing::Answered;
using testing::Scene;

constexpr const char* kChat = "/v1/chat/completions";

std::string body(std::string_view more = "") {
  return R"({"model":"sim","messages":[{"role":"user","content":""}],"logprobs":true,"nvext":)"
         R"({"token_data":[1,2,3],"extra_fields":["engine_data","completion_token_ids"]})" +
         std::string(more) + "}";
}

Answered chat(const std::function<void(SimOptions&)>& set, const std::string& request,
              const char* path = kChat) {
  return testing::answer_to(
      [&](SimOptions& options) {
        options.face = FaceKind::kDynamo;
        set(options);
      },
      path, request);
}

void scripted(SimOptions& options) {
  options.script = testing::script(
      R"({"steps":[{"output_ids":[5,6],"logprobs":[-0.1234567890123456,-2],"finish":"stop"}]})");
}

bool has(const Answered& answered, std::string_view text) {
  return answered.body.find(text) != std::string::npos;
}

TEST(DynamoFace, choices_have_short_floats_and_engine_data_the_workers_own) {
  const auto got = chat(scripted, body());
  EXPECT_TRUE(has(got, R"("logprob":-0.12345679,"token_id":5)")) << got.body;
  EXPECT_TRUE(has(got, R"("completion_logprobs":[-0.1234567890123456,-2.0])")) << got.body;
  const auto tokens = chat(scripted, R"({"token_ids":[1],"sampling_params":{"logprobs":1}})",
                           "/inference/v1/generate");
  EXPECT_TRUE(has(tokens, R"("logprob":-0.12345679104328156)")) << tokens.body;
}

TEST(DynamoFace, an_answer_without_a_finish_has_no_usage_and_no_engine_data) {
  const auto missing = [](SimOptions& o) { o.faults.set(Fault::kNullFinish, 1000); };
  const auto whole = chat(missing, body());
  EXPECT_EQ(whole.status, 200);
  EXPECT_TRUE(has(whole, "\"finish_reason\":null"));
  EXPECT_FALSE(has(whole, "\"usage\"") || has(whole, "engine_data")) << whole.body;
  const auto stream = chat(missing, body(",\"stream\":true"));
  EXPECT_FALSE(has(stream, "\"finish_reason\":\"") || has(stream, "engine_data")) << stream.body;
  EXPECT_TRUE(stream.body.ends_with("data: [DONE]\n\n"));
}

TEST(DynamoFace, an_aborted_completion_looks_complete) {
  const auto got = chat([](SimOptions& o) { o.faults.set(Fault::kAbort, 1000); }, body());
  EXPECT_EQ(got.status, 200);
  EXPECT_TRUE(has(got, "\"finish_reason\":\"stop\"")) << got.body;
  const auto tokens = chat([](SimOptions& o) { o.faults.set(Fault::kAbort, 1000); },
                           R"({"token_ids":[1],"sampling_params":{}})", "/inference/v1/generate");
  EXPECT_EQ(tokens.status, 499) << tokens.body;
}

TEST(DynamoFace, a_stream_hears_of_errors_behind_200) {
  for (const auto& [profile, says] :
       {std::pair("1.6.1", R"("type":"service_unavailable","code":503})"),
        std::pair("1.4.1", R"("type":"internal_server_error","code":500})")}) {
    const auto busy = [release = profile](SimOptions& o) {
      o.profile = release;
      o.faults.set(Fault::kHttp503, 1000);
    };
    const auto whole = chat(busy, body());
    EXPECT_EQ(whole.status, 503);
    EXPECT_TRUE(has(whole, R"("type":"Service Unavailable","code":503})")) << whole.body;
    const auto stream = chat(busy, body(",\"stream\":true"));
    EXPECT_EQ(stream.status, 200);
    EXPECT_EQ(stream.content_type, "text/event-stream");
    EXPECT_TRUE(has(stream, says)) << stream.body;
  }
}

TEST(DynamoFace, with_nvext_off_the_ids_are_dropped_without_a_word) {
  const auto on = chat(scripted, body());
  EXPECT_TRUE(has(on, R"("usage":{"prompt_tokens":3,)")) << on.body;
  const auto off = chat(
      [](SimOptions& o) {
        scripted(o);
        o.nvext = false;
      },
      body());
  EXPECT_EQ(off.status, 200);
  EXPECT_FALSE(has(off, R"("prompt_tokens":3,)") || has(off, "nvext")) << off.body;
}

TEST(DynamoFace, conversations_are_served_unless_their_routes_are_switched_off) {
  const auto off = [](SimOptions& o) { o.message_routes = false; };
  for (const auto& [path, request] :
       {std::pair("/v1/responses", R"({"model":"sim","input":"hi"})"),
        std::pair(
            "/v1/messages",
            R"({"model":"sim","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})")}) {
    EXPECT_EQ(chat(scripted, request, path).status, 200) << path;
    EXPECT_EQ(chat(off, request, path).status, 404) << path;
    EXPECT_EQ(chat([](SimOptions& o) { o.healthy = false; }, request, path).status, 404) << path;
  }
}

TEST(DynamoFace, a_closed_socket_aborts) {
  Scene scene;
  scene.options.face = FaceKind::kDynamo;
  scene.options.token_delay = milliseconds(100);
  EXPECT_TRUE(scene.run([](Scene& s) -> Task<void> {
    co_await s.leave(kChat, body(), milliseconds(150));
    EXPECT_EQ(s.engine->stats().aborted_by_close, 1U);
    EXPECT_EQ(s.engine->stats().running, 0U);
  }));
}

}  // namespace
}  // namespace verbatim::sim::dynamo
