// Answers of a real Dynamo frontend and a real vLLM to conversations by messages
// (tests/captures/{dynamo,vllm}/conversations.json, tests/captures/vllm/talks.json).
#include "sim/testing/captures.h"

#include <gtest/gtest.h>

#include "engine/messages/reader.h"
#include "message/fold.h"
#include "net/sse.h"

namespace verbatim::engine::messages {
namespace {

using Finish = EngineFinish::Kind;
using sim::testing::Capture;

struct Row {
  const char* name;
  Finish finish;
  std::uint64_t prompt_tokens;  // 0: the stream was not asked for its usage
  std::uint64_t completion_tokens;
  const char* text;
  const char* reasoning;
  std::vector<const char*> calls;  // their arguments, or how they begin where they were cut
};

constexpr const char* kParis = R"({"city": "Paris", "days": 2})";

const std::vector<Row>& dynamo() {
  static const std::vector<Row> kRows = {
      {"responses_plain", Finish::kStop, 10, 5, "Hello, world!", "", {}},
      {"responses_stream", Finish::kStop, 10, 5, "Hello, world!", "", {}},
      {"responses_tools_parsed", Finish::kStop, 144, 33, "\n\n", "", {kParis}},
      {"responses_tools_parsed_stream", Finish::kStop, 144, 33, "\n\n", "", {kParis}},
      {"responses_tools_parsed_stream_summary",
       Finish::kStop,
       144,
       33,
       "\n\n",
       "\nneed tool\n",
       {kParis}},
      {"responses_reasoning_parsed", Finish::kStop, 10, 15, "\n\nThe answer is 4.", "", {}},
      {"responses_reasoning_parsed_stream", Finish::kStop, 10, 15, "\n\nThe answer is 4.", "", {}},
      {"responses_max_output_2", Finish::kLength, 10, 2, "Hello,", "", {}},
      {"responses_max_output_2_stream", Finish::kLength, 10, 2, "Hello,", "", {}},
      {"messages_plain", Finish::kStop, 10, 5, "Hello, world!", "", {}},
      {"messages_stream", Finish::kStop, 10, 5, "Hello, world!", "", {}},
      {"messages_tool_unary",
       Finish::kStop,
       137,
       33,
       "\n\n",
       "\nneed tool\n",
       {R"({"city":"Paris","days":2})"}},
      {"messages_tool_stream", Finish::kStop, 137, 33, "\n\n", "\nneed tool\n", {kParis}},
      {"messages_think", Finish::kStop, 10, 15, "\n\nThe answer is 4.", "\nLet me see.\n", {}},
      {"messages_think_stream",
       Finish::kStop,
       10,
       15,
       "\n\nThe answer is 4.",
       "\nLet me see.\n",
       {}},
      {"messages_max_tokens_2", Finish::kLength, 10, 2, "Hello,", "", {}},
      {"chat_tool_stream", Finish::kStop, 144, 33, "\n\n", "\nneed tool\n", {kParis}},
      {"chat_two_tools_unary",
       Finish::kStop,
       144,
       43,
       "Sure.\n\n",
       "",
       {R"({"city": "Paris"})", R"({"city": "Rome"})"}},
      {"chat_two_tools_stream",
       Finish::kStop,
       0,
       0,
       "Sure.\n\n",
       "",
       {R"({"city": "Paris"})", R"({"city": "Rome"})"}},
      {"chat_reasoning_unary",
       Finish::kStop,
       10,
       15,
       "\n\nThe answer is 4.",
       "\nLet me see.\n",
       {}},
      {"chat_reasoning_stream",
       Finish::kStop,
       0,
       0,
       "\n\nThe answer is 4.",
       "\nLet me see.\n",
       {}}};
  return kRows;
}

const std::vector<Row>& vllm() {
  static const std::vector<Row> kRows = {
      {"responses_store_false", Finish::kLength, 9, 4, "", "แช名誉 '{uku", {}},
      {"responses_stream", Finish::kLength, 9, 4, "", " lime.Raycast \"%(rt", {}},
      {"responses_stream_tools_required", Finish::kLength, 150, 60, "", "", {"\"() white"}},
      {"messages_plain", Finish::kLength, 9, 4, "", "<bits食堂inline", {}},
      {"messages_stream", Finish::kLength, 9, 4, "", "ฟา wiredPROCESSesome", {}},
      {"messages_tools_any_stream", Finish::kLength, 147, 60, "", "", {"\"<<"}},
      {"messages_tool_result", Finish::kLength, 180, 4, "", "ที่ได้惊艳尽快更大的", {}},
      {"chat_plain", Finish::kStop, 13, 7, "Hello there", "", {}},
      {"chat_tools_auto_forced_text", Finish::kStop, 150, 47, "", "", {R"({"city": "Paris"})"}},
      {"chat_tools_auto_stream", Finish::kStop, 150, 40, "", "", {R"({"city": "Paris"})"}},
      {"chat_tools_named", Finish::kStop, 150, 38, "", "", {"\"'\""}},
      {"chat_stream_plain", Finish::kStop, 0, 0, "Hello there", "", {}}};
  return kRows;
}

constexpr const char* kInParis = R"({"city": "Paris"})";
constexpr const char* kSee = "\nLet me see.\n";

// What each route says of the same forced answers, by the name behind the route's.
const std::vector<Row>& talks() {
  static const std::vector<Row> kRows = {
      {"words", Finish::kStop, 17, 12, "\n\nHello there.", kSee, {}},
      {"words_stream", Finish::kStop, 17, 12, "\n\nHello there.", kSee, {}},
      {"one_call", Finish::kStop, 149, 28, "", kSee, {kInParis}},
      {"one_call_stream", Finish::kStop, 149, 28, "\n\n", kSee, {kInParis}},
      {"words_and_two_calls", Finish::kStop, 149, 50, "\n\nSure.\n", kSee, {kInParis, kInParis}},
      {"words_and_two_calls_stream",
       Finish::kStop,
       149,
       50,
       "\n\nSure.\n",
       kSee,
       {kInParis, kInParis}},
      {"behind_a_result", Finish::kStop, 192, 11, "\n\nSure.", kSee, {}},
      {"behind_a_result_stream", Finish::kStop, 192, 11, "\n\nSure.", kSee, {}},
      {"stop_string", Finish::kStop, 17, 10, "\n\none ", kSee, {}},
      {"stop_string_stream", Finish::kStop, 17, 10, "\n\none ", kSee, {}},
      {"cut_in_words", Finish::kLength, 17, 10, "\n\none two", kSee, {}},
      {"cut_in_words_stream", Finish::kLength, 17, 10, "\n\none two", kSee, {}},
      {"cut_in_reasoning", Finish::kLength, 17, 4, "", "\nLet me", {}},
      {"cut_in_reasoning_stream", Finish::kLength, 17, 4, "", "\nLet me", {}},
      // Whole, a call that was cut stays text.
      {"cut_in_a_call",
       Finish::kLength,
       149,
       24,
       "\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"",
       kSee,
       {}},
      {"cut_in_a_call_stream", Finish::kLength, 149, 24, "\n\n", kSee, {R"({"city":)"}}};
  return kRows;
}

protocol::Wire wire_of(const std::string& path) {
  if (path == "/v1/responses") return protocol::Wire::kResponses;
  return path == "/v1/messages" ? protocol::Wire::kMessages : protocol::Wire::kChat;
}

struct Read {
  message::Folded turn;
  std::optional<TokenEnd> end;
  std::optional<base::Error> error;
};

Read read(const Capture& capture) {
  Read read;
  Reader reader(wire_of(capture.path));
  const auto feed = [&](std::string_view data) -> base::Status {
    if (data == "[DONE]" || read.end) return {};
    auto chunk = reader.feed(data);
    if (!chunk.ok()) return std::move(chunk).error();
    for (const auto& event : chunk->events) read.turn.add(event);
    return {};
  };
  base::Status status;
  if (capture.stream) {
    net::SseReader events(std::size_t{1} << 20);
    status =
        events.feed(capture.answer, [&](const net::SseEvent& event) { return feed(event.data); });
  } else {
    status = feed(capture.answer);
  }
  if (!status.ok()) {
    read.error = std::move(status).error();
    return read;
  }
  auto end = reader.finish();
  if (end.ok()) {
    read.end = std::move(*end);
  } else {
    read.error = std::move(end).error();
  }
  return read;
}

void check(const Row& row, const Read& read) {
  ASSERT_FALSE(read.error) << read.error->message;
  EXPECT_EQ(read.end->finish.kind, row.finish);
  ASSERT_EQ(read.end->usage.has_value(), row.prompt_tokens != 0);
  if (read.end->usage) {
    EXPECT_EQ(read.end->usage->prompt_tokens, row.prompt_tokens);
    EXPECT_EQ(read.end->usage->completion_tokens, row.completion_tokens);
  }
  EXPECT_EQ(read.turn.text, row.text);
  EXPECT_EQ(read.turn.reasoning, row.reasoning);
  ASSERT_EQ(read.turn.calls.size(), row.calls.size());
  for (std::size_t i = 0; i < row.calls.size(); ++i) {
    const bool cut = row.finish == Finish::kLength;
    EXPECT_TRUE(read.turn.calls[i].arguments.starts_with(row.calls[i]))
        << read.turn.calls[i].arguments;
    EXPECT_EQ(read.turn.calls[i].complete, !cut);
    EXPECT_FALSE(read.turn.calls[i].native_id.empty());
  }
}

void check_all(const std::string& engine, const std::vector<Row>& rows) {
  std::size_t seen = 0;
  for (const auto& capture : sim::testing::read_captures(engine + "/conversations.json")) {
    SCOPED_TRACE(engine + " " + capture.name);
    for (const auto& row : rows) {
      if (capture.name != row.name) continue;
      ++seen;
      check(row, read(capture));
    }
    // What failed is an error, streamed or not, whatever came before it.
    const bool failed = capture.name.find("err") != std::string::npos;
    if (failed && capture.status == 200) {
      EXPECT_TRUE(read(capture).error);
    }
  }
  EXPECT_EQ(seen, rows.size());
}

TEST(Captures, conversations_with_a_real_dynamo_are_read) {
  check_all("dynamo", dynamo());
}

TEST(Captures, conversations_with_a_real_vllm_are_read) {
  check_all("vllm", vllm());
}

TEST(Captures, every_route_of_a_real_vllm_is_read_alike) {
  std::size_t seen = 0;
  for (const auto& capture : sim::testing::read_captures("vllm/talks.json")) {
    SCOPED_TRACE(capture.name);
    for (Row row : talks()) {
      if (capture.name.substr(capture.name.find('_') + 1) != row.name) continue;
      ++seen;
      // There they are an object of the body, with its spacing.
      const bool is_object = capture.path == "/v1/messages" && !capture.stream;
      for (auto& arguments : row.calls) arguments = is_object ? R"({"city":"Paris"})" : arguments;
      check(row, read(capture));
    }
  }
  EXPECT_EQ(seen, 3 * talks().size());
}

}  // namespace
}  // namespace verbatim::engine::messages
