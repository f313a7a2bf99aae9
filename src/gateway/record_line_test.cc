#include "gateway/record_line.h"

#include <gtest/gtest.h>

#include "gateway/testing/http_caller.h"
#include "gateway/testing/scene.h"
#include "json/value.h"

namespace verbatim::gateway {
namespace {

using testing::EngineScript;
using testing::FakeEngine;
using testing::Scene;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

std::string at(const std::string& json, const std::vector<std::string>& path) {
  return testing::Answer::text_at(json, path);
}

std::string list_of(const trajectory::TokenIds& ids) {
  std::string text;
  for (const auto id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return "[" + text + "]";
}

// A child turn in which everything that a line can say is set.
trajectory::TurnPtr full_turn(Scene& scene) {
  const auto parent = scene.recorded(Scene::request({user("hello")}), "fine<|im_end|>");
  auto request = Scene::continued(parent, user("go on"));
  request.thread_id = "thread-7";
  request.template_kwargs = R"({"enable_thinking": true})";
  request.sampling.temperature = 0.5;
  request.sampling.top_p = 0.25;
  request.sampling.top_k = 40;
  request.sampling.min_p = 0.125;
  request.sampling.max_tokens = 100;
  request.sampling.frequency_penalty = 1;
  request.sampling.presence_penalty = -1;
  request.sampling.repetition_penalty = 1.5;
  request.sampling.seed = 3;
  request.sampling.stop = {"END"};
  EngineScript script = FakeEngine::says(encoded("s<|im_end|>x"));
  script.steps[0].logprobs = {-0.5, -0.25, -4};
  script.weights = {{"w1", 0}, {"w2", 1}};
  script.cached_tokens = 2;
  script.engine_url = "http://replica-2";
  script.engine_request_id = "engine-7";
  scene.engine.scripts.push_back(script);
  return scene.turn(std::move(request)).value();
}

TEST(RecordLine, every_field_of_the_format_is_there) {
  Scene scene;
  const auto turn = full_turn(scene);
  const std::string line = record_line(turn, {4, false, "toys/chat"});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(at(line, {"schema_version"}), "tito.record.v1");
  EXPECT_EQ(at(line, {"session_id"}), "s1");
  EXPECT_EQ(at(line, {"thread_id"}), "thread-7");
  EXPECT_EQ(at(line, {"request_id"}), "req_1");
  EXPECT_EQ(at(line, {"turn_index"}), "4");
  EXPECT_EQ(std::stod(at(line, {"ts"})), static_cast<double>(turn->times.committed_ms) / 1000.0);
  EXPECT_EQ(at(line, {"model"}), "toy");
  EXPECT_EQ(at(line, {"backend_kind"}), "fake");
  EXPECT_EQ(at(line, {"sampling"}),
            R"({"temperature":0.5,"top_p":0.25,"top_k":40,"min_p":0.125,"max_tokens":100,)"
            R"("frequency_penalty":1,"presence_penalty":-1,"repetition_penalty":1.5,"seed":3,)"
            R"("stop":["END"]})");
  EXPECT_EQ(at(line, {"tokenizer", "checkpoint"}), "toys/chat");
  EXPECT_EQ(at(line, {"tokenizer", "tokenizer_sha256"}), toy_tokenizer()->fingerprint());
  EXPECT_EQ(at(line, {"tokenizer", "chat_template_sha256"}),
            scene.model->renderer->template_fingerprint());
  EXPECT_EQ(at(line, {"prompt_token_ids"}), list_of(trajectory::prompt_of(turn)));
  EXPECT_EQ(at(line, {"prompt_segments", "0", "source"}), "prefix");
  EXPECT_EQ(at(line, {"completion_token_ids"}), list_of(encoded("s<|im_end|>")));
  EXPECT_EQ(at(line, {"completion_logprobs"}), "[-0.5,-0.25]");
  EXPECT_EQ(at(line, {"assistant_message"}), R"({"role":"assistant","content":"s"})");
  EXPECT_EQ(at(line, {"finish_reason"}), "stop");
  EXPECT_EQ(at(line, {"prefix_stable"}), "false");
  EXPECT_EQ(at(line, {"render_skew"}), "null");
}

TEST(RecordLine, how_an_engine_would_have_rendered_is_noted) {
  const auto skew = [](engine::RenderSkew seen) {
    Scene scene;
    auto said = testing::FakeEngine::says(encoded("s<|im_end|>"));
    said.skew = seen;
    scene.engine.scripts.push_back(std::move(said));
    return at(record_line(scene.turn(Scene::request({user("hello")})).value(), {}),
              {"render_skew"});
  };
  EXPECT_EQ(skew({9, 9, 9}), R"({"equal":true,"first_divergence":null,"rendered_tokens":9})");
  EXPECT_EQ(skew({8, 9, 5}), R"({"equal":false,"first_divergence":5,"rendered_tokens":8})");
  EXPECT_EQ(skew({8, 9, 8}), R"({"equal":false,"first_divergence":8,"rendered_tokens":8})");
}

TEST(RecordLine, the_fields_beyond_the_format_are_there_too) {
  Scene scene;
  const auto turn = full_turn(scene);
  const std::string line = record_line(turn, {});
  EXPECT_EQ(at(line, {"turn"}), std::to_string(turn->id));
  EXPECT_EQ(at(line, {"parent_turn"}), std::to_string(turn->parent->id));
  EXPECT_EQ(at(line, {"branch"}), std::to_string(turn->parent->id));
  EXPECT_EQ(at(line, {"attach"}),
            R"({"kind":"child","reason":"history","ambiguous":false,"trim":0})");
  EXPECT_EQ(at(line, {"weight_version"}), "w2");
  EXPECT_EQ(at(line, {"weight_versions"}),
            R"([{"version":"w1","begin":0},{"version":"w2","begin":1}])");
  EXPECT_EQ(at(line, {"cached_tokens"}), "2");
  EXPECT_EQ(at(line, {"discarded_token_ids"}), list_of(encoded("x")));
  EXPECT_EQ(at(line, {"template_kwargs"}), R"({"enable_thinking": true})");
  EXPECT_EQ(at(line, {"max_completion_tokens"}), "100");
  EXPECT_EQ(at(line, {"encoding_policy"}), "injection_safe");
  EXPECT_EQ(at(line, {"family"}), "chatml");
  EXPECT_EQ(at(line, {"engine_url"}), "http://replica-2");
  EXPECT_EQ(at(line, {"engine_request_id"}), "engine-7");
  EXPECT_EQ(at(line, {"engine_mode"}), "scripted");
  EXPECT_EQ(at(line, {"engine_finish_reason"}), "stop");
  EXPECT_EQ(at(line, {"timings", "received_ms"}), std::to_string(turn->times.received_ms));
  EXPECT_EQ(at(line, {"timings", "first_token_us"}), std::to_string(turn->times.first_token_us));
  EXPECT_EQ(at(line, {"timings", "total_us"}), std::to_string(turn->times.total_us));
  std::uint64_t covered = 0;
  const auto doc = json::Document::parse(line).value();
  const json::Value spans = doc.root().find("spans").value();
  for (const auto span : spans)
    covered += static_cast<std::uint64_t>(*span.value.find("count")->integer());
  EXPECT_EQ(covered, turn->prompt.size()) << "spans tile what the turn added";
}

TEST(RecordLine, what_is_absent_is_left_out_or_null) {
  Scene scene;
  const auto turn = scene.recorded(Scene::request({user("hello")}), "fine<|im_end|>");
  const std::string line = record_line(turn, {});
  EXPECT_EQ(at(line, {"thread_id"}), "");
  EXPECT_EQ(at(line, {"template_kwargs"}), "");
  EXPECT_EQ(at(line, {"engine_url"}), "");
  EXPECT_EQ(at(line, {"engine_request_id"}), "");
  EXPECT_EQ(at(line, {"sampling"}), "{}");
  EXPECT_EQ(at(line, {"parent_turn"}), "null");
  EXPECT_EQ(at(line, {"attach", "kind"}), "root");
  EXPECT_EQ(at(line, {"attach", "reason"}), "first");
  EXPECT_EQ(at(line, {"weight_version"}), "null");
  EXPECT_EQ(at(line, {"weight_versions"}), "[]");
  EXPECT_EQ(at(line, {"cached_tokens"}), "null");
  EXPECT_EQ(at(line, {"prefix_stable"}), "true");
}

TEST(RecordLine, an_assistant_message_is_as_chat_clients_know_it) {
  auto message = thinking("why", "");
  message.tool_calls = {{"call_1", "look", "{\"a\": 1}"}};
  EXPECT_EQ(assistant_message_json(message),
            R"({"role":"assistant","content":null,"reasoning_content":"why","tool_calls":[)"
            R"({"id":"call_1","type":"function","function":{"name":"look",)"
            R"("arguments":"{\"a\": 1}"}}]})");
}

TEST(RecordLine, a_session_ends_with_a_line_of_its_own) {
  EXPECT_EQ(session_end_line("s1", 3, "deleted", 1500),
            R"({"schema_version":"tito.session.v1","session_id":"s1","turns":3,)"
            R"("reason":"deleted","ts":1.5})");
}

}  // namespace
}  // namespace verbatim::gateway
