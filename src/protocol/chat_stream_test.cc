#include "protocol/chat_stream.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "json/value.h"

namespace verbatim::protocol {
namespace {

using message::Events;
using message::FinishReason;
using Payloads = std::vector<std::string>;

const ChatHead kHead{"chatcmpl-1", 17, "m"};
const std::string kFront =
    R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":17,"model":"m",)";

std::string chunk(const std::string& delta, const std::string& finish = "null",
                  const std::string& logprobs = "null") {
  return kFront + R"("choices":[{"index":0,"delta":)" + delta + R"(,"logprobs":)" + logprobs +
         R"(,"finish_reason":)" + finish + "}]}";
}
const std::string kRole = chunk(R"({"role":"assistant","content":""})");

TEST(ChatStream, role_first_then_deltas_then_finish_then_the_end_mark) {
  ChatStreamEmitter emitter(kHead, {});
  Payloads out;
  emitter.events(Events{message::ReasoningDelta{"hm"}, message::TextDelta{"a\"b"}}, {}, out);
  emitter.events({}, {}, out);
  emitter.finish(FinishReason::kStop, {}, out);
  EXPECT_EQ(out, (Payloads{kRole, chunk(R"({"reasoning_content":"hm"})"),
                           chunk(R"({"content":"a\"b"})"), chunk("{}", "\"stop\""), "[DONE]"}));
}

TEST(ChatStream, the_first_delta_of_a_call_has_id_and_name_later_ones_only_arguments) {
  ChatStreamEmitter emitter(kHead, {});
  Payloads out;
  emitter.events(Events{message::ToolCallStart{0, "c1", "f"}, message::ToolCallArguments{0, "{"}},
                 {}, out);
  emitter.events(Events{message::ToolCallArguments{0, "}"}, message::ToolCallEnd{0}}, {}, out);
  emitter.finish(FinishReason::kToolCalls, {}, out);
  EXPECT_EQ(
      out,
      (Payloads{
          kRole,
          chunk(
              R"({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]})"),
          chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{"}}]})"),
          chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"}"}}]})"),
          chunk("{}", "\"tool_calls\""), "[DONE]"}));
}

TEST(ChatStream, usage_comes_last_with_empty_choices_where_it_is_asked_for) {
  ChatStreamEmitter emitter(kHead, {.include_usage = true});
  Payloads out;
  emitter.finish(FinishReason::kLength, {.prompt_tokens = 7, .completion_tokens = 3}, out);
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(
      out[2],
      kFront +
          R"("choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}})");
  EXPECT_TRUE(out[1].ends_with(R"("finish_reason":"length"}],"usage":null})"));
}

TEST(ChatStream, tokens_whose_text_is_held_back_go_with_the_next_chunk) {
  ChatStreamEmitter emitter(kHead, {.logprobs = true});
  Payloads out;
  emitter.events({}, std::vector<TokenLogprob>{{"<tool", -1.5, {}}}, out);
  emitter.events(Events{message::TextDelta{"x"}}, std::vector<TokenLogprob>{{"\xE6", -0.5, {}}},
                 out);
  emitter.events(
      {}, std::vector<TokenLogprob>{{"e", -2, {{"f", -std::numeric_limits<double>::infinity()}}}},
      out);
  emitter.finish(FinishReason::kStop, {}, out);
  const std::string first =
      R"({"content":[{"token":"<tool","logprob":-1.5,"bytes":[60,116,111,111,108],"top_logprobs":[]},)"
      "{\"token\":\"\xEF\xBF\xBD\",\"logprob\":-0.5,\"bytes\":[230],\"top_logprobs\":[]}]}";
  ASSERT_EQ(out.size(), 4u);
  EXPECT_EQ(out[0], kRole);
  EXPECT_EQ(out[1], chunk(R"({"content":"x"})", "null", first));
  EXPECT_NE(out[2].find(R"("top_logprobs":[{"token":"f","logprob":-9999)"), std::string::npos);
}

TEST(ChatStream, a_failure_is_an_error_event_without_a_finish_reason) {
  ChatStreamEmitter emitter(kHead, {});
  Payloads out;
  emitter.events(Events{message::TextDelta{"a"}}, {}, out);
  out.clear();
  emitter.fail(base::error(base::ErrorKind::kEngine, "gone"), out);
  EXPECT_EQ(
      out,
      (Payloads{R"({"error":{"message":"gone","type":"upstream_error","code":null,"param":null}})",
                "[DONE]"}));
}

TEST(ChatAnswer, holds_only_what_there_is) {
  ChatAnswer answer;
  answer.message.text = "It is sunny.";
  answer.usage = {.prompt_tokens = 5, .completion_tokens = 2, .cached_tokens = 4};
  EXPECT_EQ(
      write_chat_answer(kHead, answer),
      R"({"id":"chatcmpl-1","object":"chat.completion","created":17,"model":"m","choices":[{"index":0,)"
      R"("message":{"role":"assistant","content":"It is sunny."},"logprobs":null,"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":4}}})");
}

TEST(ChatAnswer, a_turn_of_calls_has_null_content) {
  ChatAnswer answer;
  answer.message.reasoning = "hm";
  answer.message.tool_calls = {{"c1", "f", "{\"a\": 1}"}};
  answer.finish = FinishReason::kToolCalls;
  answer.with_logprobs = true;
  const auto text = write_chat_answer(kHead, answer);
  EXPECT_NE(
      text.find(
          R"("message":{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]},"logprobs":{"content":[]},"finish_reason":"tool_calls")"),
      text.npos)
      << text;
}

TEST(ChatStream, every_payload_is_json) {
  ChatStreamEmitter emitter({"i\"d", 1, "m\n"}, {.include_usage = true, .logprobs = true});
  Payloads out;
  emitter.events(Events{message::TextDelta{"\x01\"\\"}, message::ToolCallStart{0, "c", "f\""},
                        message::ToolCallArguments{0, "{\"\\n\""}},
                 std::vector<TokenLogprob>{{"\xFF\"", -0.1, {{"\xC3", -0.2}}}}, out);
  emitter.finish(FinishReason::kStop, {}, out);
  out.pop_back();
  for (const auto& payload : out) EXPECT_TRUE(json::Document::parse(payload).ok()) << payload;
}

}  // namespace
}  // namespace verbatim::protocol
