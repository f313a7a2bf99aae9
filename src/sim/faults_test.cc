#include "sim/faults.h"

#include <string>

#include "gtest/gtest.h"
#include "sim/testing/scene.h"

namespace verbatim::sim {
namespace {

using base::Task;
using testing::Scene;

struct Row {
  const char* name;
  FaceKind face;
  const char* path;
  const char* whole;
  const char* stream;
  bool by_messages = false;
};

constexpr Row kRows[] = {
    {"sglang", FaceKind::kSglang, "/generate",
     R"({"input_ids":[1,2,3],"return_logprob":true,"sampling_params":{}})",
     R"({"input_ids":[1,2,3],"return_logprob":true,"sampling_params":{},"stream":true})"},
    {"vllm", FaceKind::kVllm, "/inference/v1/generate",
     R"({"token_ids":[1,2,3],"sampling_params":{"logprobs":1}})",
     R"({"token_ids":[1,2,3],"sampling_params":{"logprobs":1},"stream":true,)"
     R"("stream_options":{"include_usage":true}})"},
    {"vllm_completions", FaceKind::kVllm, "/v1/completions",
     R"({"prompt":[1,2,3],"logprobs":1,"return_token_ids":true,)"
     R"("return_tokens_as_token_ids":true,"max_tokens":50})",
     R"({"prompt":[1,2,3],"logprobs":1,"return_token_ids":true,"max_tokens":50,"stream":true,)"
     R"("return_tokens_as_token_ids":true,"stream_options":{"include_usage":true}})"},
    {"dynamo", FaceKind::kDynamo, "/v1/chat/completions",
     R"({"model":"sim","messages":[{"role":"user","content":""}],"logprobs":true,"nvext":)"
     R"({"token_data":[1,2,3],"extra_fields":["engine_data","completion_token_ids"]}})",
     R"({"model":"sim","messages":[{"role":"user","content":""}],"logprobs":true,"nvext":)"
     R"({"token_data":[1,2,3],"extra_fields":["engine_data","completion_token_ids"]},)"
     R"("stream":true,"stream_options":{"include_usage":true}})"},
    {"openai_chat", FaceKind::kOpenai, "/v1/chat/completions",
     R"({"model":"sim","messages":[{"role":"user","content":"hi"}]})",
     R"({"model":"sim","messages":[{"role":"user","content":"hi"}],"stream":true})", true},
    {"openai_responses", FaceKind::kOpenai, "/v1/responses", R"({"model":"sim","input":"hi"})",
     R"({"model":"sim","input":"hi","stream":true})", true},
    {"vllm_responses", FaceKind::kVllm, "/v1/responses", R"({"model":"sim","input":"hi"})",
     R"({"model":"sim","input":"hi","stream":true})", true},
    {"dynamo_chat", FaceKind::kDynamo, "/v1/chat/completions",
     R"({"model":"sim","messages":[{"role":"user","content":"hi"}]})",
     R"({"model":"sim","messages":[{"role":"user","content":"hi"}],"stream":true})", true},
    {"dynamo_messages", FaceKind::kDynamo, "/v1/messages",
     R"({"model":"sim","max_tokens":50,"messages":[{"role":"user","content":"hi"}]})",
     R"({"model":"sim","max_tokens":50,"messages":[{"role":"user","content":"hi"}],"stream":true})",
     true},
    {"sglang_chat", FaceKind::kSglang, "/v1/chat/completions",
     R"({"model":"sim","messages":[{"role":"user","content":"hi"}]})",
     R"({"model":"sim","messages":[{"role":"user","content":"hi"}],"stream":true})", true},
    {"openai_messages", FaceKind::kOpenai, "/v1/messages",
     R"({"model":"sim","max_tokens":50,"messages":[{"role":"user","content":"hi"}]})",
     R"({"model":"sim","max_tokens":50,"messages":[{"role":"user","content":"hi"}],"stream":true})",
     true},
};

class EveryFault : public ::testing::TestWithParam<Row> {};

TEST_P(EveryFault, fires_once_and_is_counted_and_changes_the_answer) {
  const Row& row = GetParam();
  for (const bool stream : {false, true}) {
    std::string good;
    for (std::size_t i = 0; i <= kFaults; ++i) {
      Scene scene;
      scene.options.face = row.face;
      scene.options.behaviour = Behaviour::kFixedText;
      const auto fault = static_cast<Fault>(i == 0 ? 0 : i - 1);
      if (i > 0) scene.options.faults.set(fault, 1000);
      std::string body;
      EXPECT_TRUE(scene.run([&](Scene& s) -> Task<void> {
        // A stall ends when the client gives up.
        const auto patience = base::MonoTime{} + std::chrono::seconds(60);
        auto response =
            co_await s.send("POST", row.path, stream ? row.stream : row.whole, patience);
        if (!response.ok()) co_return;
        auto read = co_await response->read_all(1 << 20, patience);
        body = std::to_string(response->status()) + (read.ok() ? *read : "");
      }));
      if (i == 0) {
        good = body;
        continue;
      }
      const bool chat = std::string_view(row.path) == "/v1/chat/completions";
      const bool index = fault == Fault::kWrongIndex && row.by_messages && !chat;
      const bool there = row.by_messages ? applies_by_messages(fault) : applies(fault, row.face);
      const bool fires = there && (stream || !needs_events(fault)) && !index;
      EXPECT_EQ(scene.engine->stats().faults[i - 1], fires ? 1U : 0U)
          << name(fault) << (stream ? " streaming" : " whole") << body;
      const bool alters = fires && fault != Fault::kSlowBody && fault != Fault::kSplitBytes;
      EXPECT_EQ(body != good, alters) << name(fault) << (stream ? " streaming" : " whole");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Faces, EveryFault, ::testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace verbatim::sim
