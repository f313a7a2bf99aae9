#include "sim/vllm/face.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "json/value.h"
#include "sim/testing/scene.h"

namespace verbatim::sim::vllm {
namespace {

using base::Task;
using std::chrono::milliseconds;
using testing::Answered;
using testing::Scene;

constexpr const char* kGenerate = "/inference/v1/generate";
constexpr const char* kAbort = "/inference/v1/abort_requests";

std::string body(std::string_view more = "", std::string_view params = "\"max_tokens\":100") {
  return "{\"request_id\":\"r1\",\"token_ids\":[1,2,3]" + std::string(more) +
         ",\"sampling_params\":{\"logprobs\":0," + std::string(params) + "}}";
}

Answered generate(const std::function<void(SimOptions&)>& set, const std::string& request) {
  return testing::answer_to(
      [&](SimOptions& options) {
        options.face = FaceKind::kVllm;
        set(options);
      },
      kGenerate, request);
}

// "finish_reason","token_ids" ... of the first choice.
std::string choice(const Answered& answered, std::string_view field) {
  const auto document = json::Document::parse(answered.body);
  if (!document.ok()) return answered.body;
  const auto choices = document->root().get("choices");
  if (!choices || choices->empty()) return answered.body;
  const auto value = (*choices->begin()).value.find(field);
  return value ? std::string(value->raw()) : "none";
}

void slow_text(SimOptions& options) {
  options.face = FaceKind::kVllm;
  options.behaviour = Behaviour::kFixedText;
  options.token_delay = milliseconds(100);
}

TEST(VllmFace, an_abort_needs_the_id_that_the_engine_gave) {
  for (const auto& [id, aborts] :
       {std::pair("r1", false), std::pair("generate-tokens-r1", true),
        std::pair("generate-tokens-r", false), std::pair("generate-tokens-", false)}) {
    Scene scene;
    slow_text(scene.options);
    const std::string asked = std::string(R"({"request_ids":[")") + id + "\"]}";
    EXPECT_TRUE(scene.run([&](Scene& s) -> Task<void> {
      auto response = co_await s.send("POST", kGenerate, body(",\"stream\":true"));
      EXPECT_TRUE(response.ok());
      if (!response.ok()) co_return;
      (void)co_await response->read();
      const auto aborted = co_await s.call("POST", kAbort, asked);
      EXPECT_EQ(aborted.status, 200);
      EXPECT_EQ(aborted.body, "");
      auto rest = co_await response->read_all(1 << 20);
      EXPECT_TRUE(rest.ok());
      if (!rest.ok()) co_return;
      const bool says =
          rest->find(R"("finish_reason":"abort","stop_reason":null,"token_ids":[])") !=
          std::string::npos;
      EXPECT_EQ(says, aborts) << id << *rest;
      EXPECT_TRUE(rest->ends_with("data: [DONE]\n\n"));
    }));
    EXPECT_EQ(scene.engine->stats().aborted_by_id, aborts ? 1U : 0U) << id;
  }
}

TEST(VllmFace, a_whole_answer_that_is_aborted_brings_what_there_is) {
  Scene scene;
  slow_text(scene.options);
  EXPECT_TRUE(scene.run([](Scene& s) -> Task<void> {
    base::Timer timer;
    Answered aborted;
    const auto abort = [&]() -> Task<void> {
      co_await base::sleep_for(s.world.executor, milliseconds(250));
      aborted = co_await s.call("POST", kAbort, R"({"request_ids":["generate-tokens-r1"]})");
    };
    base::spawn(abort());
    const auto got = co_await s.call("POST", kGenerate, body());
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(choice(got, "finish_reason"), "\"abort\"");
    EXPECT_EQ(choice(got, "weight_versions"), R"([{"version":"default","start":0,"end":2}])");
    co_await base::sleep_for(s.world.executor, milliseconds(250));
    EXPECT_EQ(aborted.status, 200);
  }));
}

TEST(VllmFace, a_client_that_hangs_up_aborts) {
  Scene scene;
  slow_text(scene.options);
  EXPECT_TRUE(scene.run([](Scene& s) -> Task<void> {
    co_await s.leave(kGenerate, body(), milliseconds(150));
    EXPECT_EQ(s.engine->stats().aborted_by_close, 1U);
    EXPECT_EQ(s.engine->stats().running, 0U);
  }));
}

TEST(VllmFace, weights_that_change_on_the_way_are_told_in_spans) {
  Scene scene;
  slow_text(scene.options);
  scene.options.script = testing::script(R"({"steps":[{"output_ids":[5,6,7,8],"finish":"stop"}]})");
  EXPECT_TRUE(scene.run([](Scene& s) -> Task<void> {
    const auto change = [&]() -> Task<void> {
      co_await base::sleep_for(s.world.executor, milliseconds(250));
      (void)co_await s.call("POST", "/update_weight_version", R"({"new_version":"w2"})");
    };
    base::spawn(change());
    const auto got = co_await s.call("POST", kGenerate, body());
    EXPECT_EQ(choice(got, "weight_versions"),
              R"([{"version":"default","start":0,"end":2},{"version":"w2","start":2,"end":4}])");
    const auto told = co_await s.call("GET", "/weight_info");
    EXPECT_EQ(told.body, R"({"weight_version":"w2"})");
  }));
}

TEST(VllmFace, without_scale_out_the_token_routes_are_not_there_from_0_30_on) {
  for (const auto& [profile, there] : {std::pair("0.24", true), std::pair("0.27", true),
                                       std::pair("0.30", false), std::pair("0.32", false)}) {
    const auto got = generate(
        [release = profile](SimOptions& o) {
          o.profile = release;
          o.token_routes = false;
        },
        body());
    EXPECT_EQ(got.status, there ? 200 : 404) << profile << got.body;
  }
}

// What the releases before 0.31 print, see profile.h.
TEST(VllmFace, older_releases_answer_in_their_own_form) {
  const auto answer = [](const char* profile, std::string_view more, std::string_view params) {
    return generate(
        [profile](SimOptions& o) {
          o.profile = profile;
          o.script = testing::script(
              R"({"steps":[{"output_ids":[5,6],"logprobs":[-0.25,-0.5],"finish":"stop"}]})");
        },
        body(more, params));
  };
  const auto old = answer("0.24", "", "\"max_tokens\":9").body;
  EXPECT_TRUE(old.ends_with(
      R"(","choices":[{"index":0,"logprobs":{"content":[{"token":"token_id:5","logprob":-0.25,"bytes":null,"top_logprobs":[{"token":"token_id:5","logprob":-0.25,"bytes":null}]},{"token":"token_id:6","logprob":-0.5,"bytes":null,"top_logprobs":[{"token":"token_id:6","logprob":-0.5,"bytes":null}]}]},"finish_reason":"stop","token_ids":[5,6],"routed_experts":null}],"prompt_logprobs":null,"kv_transfer_params":null})"))
      << old;
  EXPECT_EQ(old.find("generate-tokens-r1"), std::string::npos) << "the id is another one";
  const auto named = answer("0.27", "", "\"max_tokens\":9").body;
  EXPECT_TRUE(named.starts_with(R"({"request_id":"generate-tokens-r1","model":"sim","created":)"));
  EXPECT_NE(named.find(R"("usage":{"prompt_tokens":3,"total_tokens":5,"completion_tokens":2,)"
                       R"("prompt_tokens_details":null})"),
            std::string::npos)
      << named;
  const auto spans = answer("0.30", "", "\"max_tokens\":9").body;
  EXPECT_NE(spans.find(R"("weight_versions":[{"version":"default","start":0,"end":2}])"),
            std::string::npos)
      << spans;
  const auto frames = answer("0.30", ",\"stream\":true", "\"max_tokens\":9").body;
  EXPECT_TRUE(frames.starts_with(
      R"(data: {"request_id":"generate-tokens-r1","choices":[{"index":0,"logprobs":)"))
      << frames;
}

TEST(VllmFace, up_to_0_27_choices_get_lost_unless_the_whole_output_is_asked_for) {
  for (const auto& [params, count] :
       {std::pair("\"n\":3", 1U), std::pair("\"n\":3,\"output_kind\":2", 3U)}) {
    const auto got = generate([](SimOptions& o) { o.profile = "0.27"; }, body("", params));
    const auto document = json::Document::parse(got.body);
    ASSERT_TRUE(document.ok()) << got.body;
    EXPECT_EQ(document->root().get("choices")->size(), count);
  }
}

TEST(VllmFace, up_to_0_27_an_aborted_stream_just_ends) {
  const auto got = generate(
      [](SimOptions& o) {
        o.profile = "0.27";
        o.faults.set(Fault::kAbort, 1000);
      },
      body(",\"stream\":true"));
  EXPECT_EQ(got.body.find("\"abort\""), std::string::npos);
  EXPECT_TRUE(got.body.ends_with("data: [DONE]\n\n"));
}

TEST(VllmFace, the_sampled_id_leads_its_logprobs_whatever_its_rank) {
  for (const unsigned k : {0U, 1U, 2U, 5U, 20U}) {
    const auto got = generate(
        [](SimOptions&) {}, R"({"token_ids":[1,2],"sampling_params":{"max_tokens":30,"logprobs":)" +
                                std::to_string(k) + "}}");
    const auto document = json::Document::parse(got.body);
    ASSERT_TRUE(document.ok()) << got.body;
    const auto first = (*document->root().get("choices")->begin()).value;
    const auto content = *first.get("logprobs")->get("content");
    for (const auto& each : content) {
      const auto tops = *each.value.get("top_logprobs");
      ASSERT_EQ(tops.size(), std::max(1U, k));
      EXPECT_EQ((*tops.begin()).value.get("token_id")->raw(), each.value.get("token_id")->raw());
      const auto own = *each.value.get("rank")->integer();
      const auto value = *each.value.get("logprob")->number();
      for (const auto& other : tops) {
        const bool above = *other.value.get("rank")->integer() < own;
        EXPECT_EQ(above, *other.value.get("logprob")->number() > value) << each.value.raw();
      }
    }
  }
}

}  // namespace
}  // namespace verbatim::sim::vllm
