// Answers of a real Dynamo frontend and a real vLLM to conversations by messages
// (tests/captures/{dynamo,vllm}/conversations.json).
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

}  // namespace
}  // namespace verbatim::engine::messages
