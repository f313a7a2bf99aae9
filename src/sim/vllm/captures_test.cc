#include "sim/testing/captures.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "json/writer.h"
#include "net/sse.h"

// Recorded requests through the face: the answers are the recorded ones, field by field, but for
// what differs from run to run (the table below).
namespace verbatim::sim::vllm {
namespace {

using json::Document;
using json::Value;
using May = testing::Volatile::May;

const std::vector<testing::Volatile>& volatiles() {
  static const std::vector<testing::Volatile> kTable = {
      {"created"},
      {"request_id", May::kDrawn},
      {"id", May::kDrawn},
      {"choices[].token_ids[]"},  // of further choices; those of the first are scripted
      {"choices[].logprobs.content[].rank"},
      {"choices[].logprobs.content[].top_logprobs[].token_id"},
      {"choices[].logprobs.content[].top_logprobs[].rank"},
      {"choices[].logprobs.content[].top_logprobs[].logprob"},
      {"prompt_logprobs[].*.logprob"},
      {"prompt_logprobs[].*.rank"},
      {"prompt_logprobs[].*.decoded_token"},
      {"prompt_logprobs[]", May::kOtherNames},
      {"choices[].logprobs.top_logprobs[]", May::kOtherNames},
      {"choices[].logprobs.top_logprobs[].*"},
      {"system_fingerprint", May::kDrawn},
      {"metrics.time_to_first_token_ms"},
      {"metrics.generation_time_ms"},
      {"metrics.queue_time_ms"},
      {"metrics.mean_itl_ms"},
      {"metrics.tokens_per_second"},
      {"choices[].message.tool_calls[].id", May::kDrawn},
      {"token_ids", May::kList},  // a rendering of our own
      {"token_offsets", May::kList},
      {"sampling_params.max_tokens"},  // what is left behind it, where none was asked for
      {"data[].created"},
      {"data[].root"},
      {"data[].permission[].id", May::kDrawn},
      {"data[].permission[].created"},
  };
  return kTable;
}

std::shared_ptr<const tokenizer::Tokenizer> vocabulary() {
  static const auto kVocabulary = [] {
    const auto files = base::system_files();
    return tokenizer::Tokenizer::load(*files, "tests/captures/vocabulary").value();
  }();
  return kVocabulary;
}

// What the recorded engine sampled for its first choice.
struct Sampled {
  TokenIds ids;
  std::vector<double> logprobs;
};

void take_choice(const Value& choice, Sampled& sampled) {
  const auto index = choice.get("index");
  if (index && index->integer() != 0) return;
  if (const auto ids = choice.get("token_ids")) {
    for (const auto& id : *ids) sampled.ids.push_back(static_cast<TokenId>(*id.value.integer()));
  }
  const auto logprobs = choice.get("logprobs");
  const auto content = logprobs ? logprobs->get("content") : std::nullopt;
  const auto list = content ? content : logprobs ? logprobs->get("token_logprobs") : std::nullopt;
  if (!list) return;
  for (const auto& each : *list)
    sampled.logprobs.push_back(
        *(each.value.is_object() ? *each.value.get("logprob") : each.value).number());
}

void take_answer(const Value& answer, Sampled& sampled) {
  const auto choices = answer.get("choices");
  if (!choices) return;
  for (const auto& choice : *choices) take_choice(choice.value, sampled);
}

Sampled sampled_in(const testing::Capture& capture) {
  Sampled sampled{capture.sampled, {}};
  if (!capture.stream) {
    const auto document = Document::parse(capture.answer);
    if (document.ok() && document->root().is_object()) take_answer(document->root(), sampled);
    return sampled;
  }
  net::SseReader reader(1U << 20);
  (void)reader.feed(capture.answer, [&](const net::SseEvent& event) {
    const auto document = Document::parse(std::string(event.data));
    if (document.ok() && document->root().is_object()) take_answer(document->root(), sampled);
    return base::Status();
  });
  return sampled;
}

Script script_of(const Sampled& sampled) {
  json::Writer w;
  w.begin_object().key("steps").begin_array().begin_object().key("output_ids").begin_array();
  for (const TokenId id : sampled.ids) w.unsigned_integer(id);
  w.end_array();
  if (!sampled.logprobs.empty()) {
    w.key("logprobs").begin_array();
    for (const double value : sampled.logprobs) w.number(value);
    w.end_array();
  }
  w.end_object().end_array().end_object();
  return Script::parse(w.text()).value();
}

SimOptions recorded_server(const testing::Capture& capture) {
  SimOptions options;
  options.face = FaceKind::kVllm;
  options.tokenizer = vocabulary();
  options.vocab_size = 151936;
  options.model = "tiny-qwen3";
  options.max_model_len = 2048;
  const Sampled sampled = sampled_in(capture);
  if (!sampled.ids.empty()) options.script = script_of(sampled);
  return options;
}

class VllmCaptures : public ::testing::TestWithParam<const char*> {};

TEST_P(VllmCaptures, are_answered_as_the_real_server_did) {
  const auto captures = testing::read_captures("vllm/" + std::string(GetParam()) + ".json");
  ASSERT_FALSE(captures.empty());
  for (const auto& capture : captures) {
    SCOPED_TRACE(capture.name);
    const auto answered = testing::replay(capture, recorded_server(capture));
    EXPECT_EQ(testing::difference(capture, answered, volatiles()), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Files, VllmCaptures,
                         ::testing::Values("generate", "generate_stream", "generate_errors",
                                           "completions", "server"),
                         [](const auto& file) { return std::string(file.param); });

}  // namespace
}  // namespace verbatim::sim::vllm
