#include "chat/parsers/parse_command.h"

#include <gtest/gtest.h>

namespace verbatim::chat::parsers {
namespace {

constexpr const char* kTools = R"([{"type":"function","function":{"name":"f"}}])";

ParseRequest request(std::string output) {
  return {.grammar = "hermes", .tools = kTools, .output = std::move(output)};
}

std::string answer(const ParseRequest& request) {
  const auto text = parse_command(request);
  return text ? *text : text.error().field + ": " + text.error().message;
}

TEST(ParseCommand, prints_the_message_and_the_deltas) {
  EXPECT_EQ(
      answer(request("Hi.<tool_call>{\"name\": \"f\"}</tool_call><|im_end|>")),
      R"({"reasoning":null,"content":"Hi.","tool_calls":[{"id":"call_0","name":"f","arguments":"{}"}],)"
      R"("finish_reason":"tool_calls","deltas":[{"content":"Hi."},)"
      R"({"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"f","arguments":""}}]},)"
      R"({"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}]})");
}

TEST(ParseCommand, segments_say_which_tags_are_tokens) {
  auto with = request("");
  with.segments = R"([{"text":"<think>"},{"special":"<think>"},{"text":"x"}])";
  EXPECT_NE(answer(with).find(R"("content":"<think><think>x")"), std::string::npos);
  with.segments = R"([{"special":"<think>"},{"text":"x"}])";
  EXPECT_NE(answer(with).find(R"("reasoning":"x")"), std::string::npos);
}

TEST(ParseCommand, chunks_cut_the_output_but_no_character_and_no_tag) {
  auto cut = request("<think>é</think>");
  cut.chunks = "[3,5,0,1,100]";
  EXPECT_NE(answer(cut).find(R"("deltas":[{"reasoning_content":"é"}])"), std::string::npos);
}

TEST(ParseCommand, says_which_option_is_wrong) {
  auto bad = request("");
  bad.grammar = "klingon";
  EXPECT_EQ(answer(bad), "grammar: unknown grammar \"klingon\", expected hermes");
  bad = request("");
  bad.finish = "abort";
  EXPECT_EQ(answer(bad), "finish: expected stop or length, found \"abort\"");
  bad = request("");
  bad.chunks = "[-1]";
  EXPECT_EQ(answer(bad), "chunks: expected lengths in bytes");
  bad = request("");
  bad.tools = "{}";
  EXPECT_EQ(answer(bad), "tools: expected an array, found an object");
}

}  // namespace
}  // namespace verbatim::chat::parsers
