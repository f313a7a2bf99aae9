#include "sim/testing/captures.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "json/writer.h"
#include "net/sse.h"

// Recorded requests through the face: the answers are the recorded ones, field by field, but for
// what differs from run to run (the table below).
namespace verbatim::sim::dynamo {
namespace {

using json::Document;
using json::Value;
using May = testing::Volatile::May;

const std::vector<testing::Volatile>& volatiles() {
  static const std::vector<testing::Volatile> kTable = {
      {"id", May::kDrawn},
      {"request_id", May::kDrawn},
      {"created"},
      {"data[].created"},
      {"data[].context_window"},
      {"context_window"},
      {"message", May::kPlace},
      {"usage.prompt_tokens_details.cached_tokens"},
      {"nvext.worker_id.prefill_worker_id"},
      {"nvext.worker_id.decode_worker_id"},
      {"nvext.timing.request_received_ms"},
      {"nvext.timing.prefill_wait_time_ms"},
      {"nvext.timing.prefill_time_ms"},
      {"nvext.timing.ttft_ms"},
      {"nvext.timing.total_time_ms"},
      {"nvext.timing.avg_itl_ms"},
      // Those that were not sampled are made up.
      {"choices[].logprobs.content[].top_logprobs[].token"},
      {"choices[].logprobs.content[].top_logprobs[].logprob"},
      {"choices[].logprobs.content[].top_logprobs[].bytes"},
  };
  return kTable;
}

// Prompts that the frontend renders have another length here.
const std::vector<testing::Volatile>& rendered_volatiles() {
  static const auto kTable = [] {
    auto table = volatiles();
    table.push_back({"usage.prompt_tokens"});
    table.push_back({"usage.total_tokens"});
    return table;
  }();
  return kTable;
}

std::shared_ptr<const tokenizer::Tokenizer> vocabulary() {
  static const auto kVocabulary = [] {
    const auto files = base::system_files();
    return tokenizer::Tokenizer::load(*files, "tests/captures/vocabulary").value();
  }();
  return kVocabulary;
}

// What the recorded worker sampled.
struct Sampled {
  TokenIds ids;
  std::vector<double> logprobs;
  std::string routed_experts;
};

void take_ids(const Value& object, const char* name, TokenIds& ids) {
  const auto list = object.get(name);
  if (!list) return;
  ids.clear();
  for (const auto& id : *list) ids.push_back(static_cast<TokenId>(*id.value.integer()));
}

void take_choice(const Value& choice, Sampled& sampled) {
  take_ids(choice, "token_ids", sampled.ids);
  if (const auto experts = choice.get("routed_experts")) sampled.routed_experts = experts->raw();
  const auto logprobs = choice.get("logprobs");
  const auto content = logprobs ? logprobs->get("content") : std::nullopt;
  if (!content) return;
  for (const auto& each : *content)
    sampled.logprobs.push_back(*each.value.get("logprob")->number());
}

void take_answer(const std::string& text, Sampled& sampled) {
  const auto document = Document::parse(text);
  if (!document.ok() || !document->root().is_object()) return;
  const auto choices = document->root().get("choices");
  if (!choices) return;
  for (const auto& choice : *choices) take_choice(choice.value, sampled);
  const auto nvext = document->root().get("nvext");
  const auto data = nvext ? nvext->get("engine_data") : std::nullopt;
  if (!data) return;
  take_ids(*data, "completion_token_ids", sampled.ids);
  if (const auto experts = data->get("routed_experts")) sampled.routed_experts = experts->raw();
}

Sampled sampled_in(const testing::Capture& capture) {
  Sampled sampled{capture.sampled, {}, {}};
  if (!capture.stream) {
    take_answer(capture.answer, sampled);
    return sampled;
  }
  net::SseReader reader(1U << 20);
  (void)reader.feed(capture.answer, [&](const net::SseEvent& event) {
    take_answer(std::string(event.data), sampled);
    return base::Status();
  });
  return sampled;
}

Script script_of(const Sampled& sampled) {
  json::Writer w;
  w.begin_object().key("steps").begin_array().begin_object().key("output_ids").begin_array();
  for (const TokenId id : sampled.ids) w.unsigned_integer(id);
  w.end_array();
  if (sampled.logprobs.size() == sampled.ids.size() && !sampled.ids.empty()) {
    w.key("logprobs").begin_array();
    for (const double value : sampled.logprobs) w.number(value);
    w.end_array();
  }
  if (!sampled.routed_experts.empty()) w.key("routed_experts").raw(sampled.routed_experts);
  w.end_object().end_array().end_object();
  return Script::parse(w.text()).value();
}

struct File {
  const char* name;
  const char* profile;
  bool worker = true;
  bool token_routes = true;
  bool nvext = true;
};

class DynamoCaptures : public ::testing::TestWithParam<File> {};

TEST_P(DynamoCaptures, are_answered_as_the_real_frontend_did) {
  const File& file = GetParam();
  const auto captures = testing::read_captures("dynamo/" + std::string(file.name) + ".json");
  ASSERT_FALSE(captures.empty());
  for (const auto& capture : captures) {
    SCOPED_TRACE(capture.name);
    SimOptions options;
    options.face = FaceKind::kDynamo;
    options.profile = file.profile;
    options.token_routes = file.token_routes;
    options.nvext = file.nvext;
    options.message_routes = options.parsers = false;
    options.healthy = file.worker;
    options.tokenizer = vocabulary();
    options.vocab_size = 151936;
    options.model = "tiny";
    const Sampled sampled = sampled_in(capture);
    options.script = script_of(sampled);
    const auto answered = testing::replay(capture, options);
    const bool rendered = capture.path == "/v1/chat/completions" &&
                          (capture.body.find("\"token_data\"") == std::string::npos || !file.nvext);
    EXPECT_EQ(testing::difference(capture, answered, rendered ? rendered_volatiles() : volatiles()),
              "");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, DynamoCaptures,
    ::testing::Values(File{"chat", "1.6.1"}, File{"errors", "1.6.1"}, File{"generate", "1.6.1"},
                      File{.name = "server", .profile = "1.6.1", .token_routes = false},
                      File{.name = "no_worker", .profile = "1.6.1", .worker = false},
                      File{.name = "nvext_disabled", .profile = "1.6.1", .nvext = false},
                      File{"chat_1.4.1", "1.4.1"}),
    [](const auto& file) {
      std::string name = file.param.name;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

}  // namespace
}  // namespace verbatim::sim::dynamo
