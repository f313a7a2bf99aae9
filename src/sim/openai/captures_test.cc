// Recorded conversations over Responses and Messages through the faces: status, errors, order of
// events and every field are the recorded ones, but for what the tables below name. A row that is
// not needed fails, so that what a face comes to print is taken out of its table.
#include "sim/testing/captures.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "json/writer.h"

namespace verbatim::sim::openai {
namespace {

using May = testing::Volatile::May;
using testing::Tolerance;

// Everything of a response, wherever the object stands: alone, or within an event.
Tolerance everywhere(const Tolerance& once) {
  Tolerance both = once;
  const auto repeat = [](std::vector<std::string>& places) {
    const auto alone = places;
    for (const auto& place : alone) places.push_back("response." + place);
  };
  repeat(both.left_out);
  repeat(both.added);
  repeat(both.differs);
  return both;
}

// What is drawn, counted by a clock, or counted of a prompt that the recorded server rendered.
const std::vector<testing::Volatile> kResponseVolatiles = {
    {"id", May::kDrawn},
    {"created_at"},
    {"completed_at"},
    {"output[].id", May::kDrawn},
    {"output[].call_id", May::kDrawn},
    {"usage.input_tokens"},
    {"usage.total_tokens"},
    {"response.id", May::kDrawn},
    {"response.created_at"},
    {"response.completed_at"},
    {"response.output[].id", May::kDrawn},
    {"response.output[].call_id", May::kDrawn},
    {"response.usage.input_tokens"},
    {"response.usage.total_tokens"},
    {"item.id", May::kDrawn},
    {"item.call_id", May::kDrawn},
    {"item_id", May::kDrawn},
};
const std::vector<testing::Volatile> kMessageVolatiles = {
    {"id", May::kDrawn},
    {"message.id", May::kDrawn},
    {"content[].id", May::kDrawn},
    {"content[].signature", May::kDrawn},
    {"content_block.id", May::kDrawn},
    {"delta.signature", May::kDrawn},
    {"usage.input_tokens"},
    {"message.usage.input_tokens"},
};

// What an error says is the simulator's own word.
Tolerance dynamo_responses() {
  Tolerance tolerance = everywhere({kResponseVolatiles, {}, {}, {}});
  tolerance.differs = {
      "message",                       // of a refusal
      "response.error.message",        // of a failed response
      "response.usage.output_tokens",  // the worker had counted one more when it broke off
  };
  return tolerance;
}

Tolerance dynamo_messages() {
  Tolerance tolerance{kMessageVolatiles, {}, {}, {}};
  tolerance.left_out = {"usage"};  // so far, with every delta
  tolerance.added = {
      "usage.cache_read_input_tokens",  // the frontend leaves out what is 0
      "message.usage.cache_read_input_tokens",
      "delta.stop_sequence",  // it has none in streams
  };
  tolerance.differs = {"error.message"};
  return tolerance;
}

Tolerance vllm_responses() {
  Tolerance tolerance = everywhere(
      {kResponseVolatiles,
       {
           "output[].encrypted_content",                        // null
           "usage.input_tokens_details.cache_write_tokens",     // of its cache, and of tools that
           "usage.input_tokens_details.input_tokens_per_turn",  // it runs itself, of which the face
           "usage.input_tokens_details.cached_tokens_per_turn",  // has none
           "usage.output_tokens_details.tool_output_tokens",
           "usage.output_tokens_details.output_tokens_per_turn",
           "usage.output_tokens_details.tool_output_tokens_per_turn",
           "metrics",  // times
       },
       {"error"},  // it has no place for one
       {
           "temperature",      // of the model's generation_config.json, which the face has not
           "top_p",            // the same
           "output[].status",  // null, and in streams "completed", of an item that was cut
       }});
  tolerance.left_out.emplace_back("item.encrypted_content");
  // null while it is empty; "completed" where it was cut.
  tolerance.differs.emplace_back("item.content");
  tolerance.differs.emplace_back("item.status");
  return tolerance;
}

Tolerance vllm_messages() {
  Tolerance tolerance{kMessageVolatiles, {}, {}, {}};
  tolerance.added = {
      "stop_sequence",                              // in streams only
      "content_block.signature",                    // it comes in a delta of its own
      "message.usage.cache_creation_input_tokens",  // at the end only
      "message.usage.cache_read_input_tokens",
  };
  // Of a cache that had been warmed by cases before.
  tolerance.differs = {"usage.cache_creation_input_tokens", "usage.cache_read_input_tokens"};
  return tolerance;
}

struct Route {
  const char* name;
  const char* engine;
  FaceKind face;
  const char* path;
  Tolerance (*tolerance)();
  std::vector<std::string> not_played;  // and why not
};
void PrintTo(const Route& route, std::ostream* out) {
  *out << route.name;
}

const std::vector<Route>& routes() {
  static const std::vector<Route> kRoutes = {
      {"dynamo_responses", "dynamo", FaceKind::kDynamo, "/v1/responses", dynamo_responses, {}},
      {"dynamo_messages", "dynamo", FaceKind::kDynamo, "/v1/messages", dynamo_messages, {}},
      // Calls that were forced are sampled in a grammar of their own.
      {"vllm_responses",
       "vllm",
       FaceKind::kVllm,
       "/v1/responses",
       vllm_responses,
       {"responses_stream_tools_required"}},
      {"vllm_messages",
       "vllm",
       FaceKind::kVllm,
       "/v1/messages",
       vllm_messages,
       {"messages_tools_any", "messages_tools_any_stream"}}};
  return kRoutes;
}

std::shared_ptr<const tokenizer::Tokenizer> vocabulary() {
  static const auto kVocabulary = [] {
    const auto files = base::system_files();
    return tokenizer::Tokenizer::load(*files, "tests/captures/vocabulary").value();
  }();
  return kVocabulary;
}

Script script_of(const testing::Capture& capture) {
  json::Writer w;
  w.begin_object().key("steps").begin_array().begin_object().key("output_ids").begin_array();
  for (const TokenId id : capture.sampled) w.unsigned_integer(id);
  w.end_array();
  if (capture.status == 500) w.field("fault", "http_500");
  if (capture.stream && capture.name.find("err") != std::string::npos)
    w.field("fault", "error_event");
  w.end_object().end_array().end_object();
  return Script::parse(w.text()).value();
}

SimOptions recorded_server(const Route& route, const testing::Capture& capture) {
  SimOptions options;
  options.face = route.face;
  options.tokenizer = vocabulary();
  options.vocab_size = 151936;
  const auto body = json::Document::parse(capture.body);
  options.model = body->root().get("model")->string();
  options.reasoning_open = route.face == FaceKind::kVllm;  // by Qwen3's parser there
  options.script = script_of(capture);
  return options;
}

// Where an error strikes in a stream is drawn: of some seeds the first that it strikes with as the
// recorded one did.
std::string difference(const testing::Capture& capture, SimOptions options,
                       const Tolerance& tolerance, testing::Needed& needed) {
  constexpr std::uint64_t kSeeds = 40;
  std::string first;
  for (options.seed = 1; options.seed <= kSeeds; ++options.seed) {
    testing::Needed here;
    auto where = testing::difference(capture, testing::replay(capture, options), tolerance, here);
    if (where.empty()) needed.merge(here);
    if (where.empty()) return where;
    if (first.empty()) first = where;
    if (capture.name.find("err") == std::string::npos) return where;
  }
  return first;
}

class MessageCaptures : public ::testing::TestWithParam<Route> {};

TEST_P(MessageCaptures, are_answered_as_the_real_server_did) {
  const Route& route = GetParam();
  const auto tolerance = route.tolerance();
  testing::Needed needed;
  std::size_t left = route.not_played.size();
  std::size_t played = 0;
  for (const auto& capture :
       testing::read_captures(std::string(route.engine) + "/conversations.json")) {
    if (capture.path != route.path) continue;
    SCOPED_TRACE(capture.name);
    if (std::find(route.not_played.begin(), route.not_played.end(), capture.name) !=
        route.not_played.end()) {
      --left;
      continue;
    }
    ++played;
    EXPECT_EQ(difference(capture, recorded_server(route, capture), tolerance, needed), "");
  }
  EXPECT_GT(played, 1U);
  EXPECT_EQ(left, 0U) << "a case that is not played is not there";
  for (const auto& place : testing::unused(tolerance, needed))
    ADD_FAILURE() << place << " is in a table, and no answer needs it there";
}

INSTANTIATE_TEST_SUITE_P(Routes, MessageCaptures, ::testing::ValuesIn(routes()),
                         [](const auto& route) { return std::string(route.param.name); });

}  // namespace
}  // namespace verbatim::sim::openai
