#include "chat/parsers/hermes.h"

#include <string>

#include <gtest/gtest.h>

#include "chat/parsers/json_call.h"
#include "chat/parsers/testing/pieces.h"

namespace verbatim::chat::parsers {
namespace {

using message::FinishReason;
using message::FoldedCall;
using testing::Outcome;

constexpr std::size_t kNoCut = std::size_t{1} << 30;

const Grammar& hermes() {
  return *grammar_named("hermes");
}

Outcome parse(std::string_view output, Ending ending = Ending::kByItself,
              const TurnStart& start = {}) {
  return testing::parse(hermes(), start, testing::split(hermes(), output), ending,
                        [] { return kNoCut; });
}

std::string call(const std::string& arguments) {
  return R"(<tool_call>{"name": "f", "arguments": )" + arguments + "}</tool_call>";
}

// Arguments that are long enough to stream.
std::string long_arguments() {
  return R"({"a": ")" + std::string(300, 'x') + R"("})";
}

TEST(Hermes, text_that_has_no_tags_is_given_out_as_it_is) {
  EXPECT_EQ(parse("  Hi.\n ").folded.text, "  Hi.\n ");
  EXPECT_EQ(parse("Good night.").finish, FinishReason::kStop);
}

TEST(Hermes, white_space_around_calls_is_layout_but_between_texts_it_stays) {
  EXPECT_EQ(parse("\n\n Checking. \n" + call("{}") + "\n").folded.text, " Checking.");
  EXPECT_EQ(parse("One.\n" + call("{}") + "\nTwo.").folded.text, "One.\n\nTwo.");
  EXPECT_EQ(parse(" \n" + call("{}") + "\n" + call("{}") + "\n").folded.text, "");
}

TEST(Hermes, line_breaks_behind_the_reasoning_are_layout_an_indent_is_not) {
  const auto outcome = parse("<think>\n a\n\n b \n</think>\n\n  x");
  EXPECT_EQ(outcome.folded.reasoning, " a\n\n b");
  EXPECT_EQ(outcome.folded.text, "  x");
}

TEST(Hermes, layout_is_text_where_that_is_asked_for_but_not_between_calls) {
  const auto outcome = parse("<think>\n a \n</think>\n\n" + call("{}") + "\n" + call("{}") + "\n",
                             Ending::kByItself, {.keeps_layout = true});
  EXPECT_EQ(outcome.folded.reasoning, "\n a \n");
  EXPECT_EQ(outcome.folded.text, "\n\n");
  EXPECT_EQ(outcome.folded.calls.size(), 2U);
}

TEST(Hermes, blank_reasoning_is_none) {
  EXPECT_EQ(parse("<think>\n \n</think>\n\nx").folded, (message::Folded{"", "x", {}}));
}

TEST(Hermes, reasoning_that_the_prompt_opened_needs_no_tag) {
  const TurnStart start{.reasoning_open = true};
  EXPECT_EQ(parse("a</think>b", Ending::kByItself, start).folded, (message::Folded{"a", "b", {}}));
  EXPECT_EQ(parse("<think>\na</think>b", Ending::kByItself, start).folded.reasoning, "a");
}

TEST(Hermes, an_open_tag_counts_only_at_the_start) {
  EXPECT_EQ(parse("a<think>b</think>c").folded.text, "a<think>b</think>c");
  EXPECT_EQ(parse("<think>a</think>b<think>c").folded.text, "b<think>c");
  EXPECT_EQ(parse("</think>a").folded.text, "</think>a");
}

TEST(Hermes, reasoning_cut_by_length_keeps_its_end) {
  const auto outcome = parse("<think>\nI need to ", Ending::kLength);
  EXPECT_EQ(outcome.folded.reasoning, "I need to ");
  EXPECT_EQ(outcome.finish, FinishReason::kLength);
}

TEST(Hermes, arguments_are_the_bytes_of_the_model) {
  for (const std::string arguments : {"{}", "{ }", R"({"b": 1.0,  "a":[ ]})",
                                      "{\n  \"x\": \"\\u00e9\"\n}", R"({"a": 1, "a": 2})"}) {
    const auto outcome = parse(call(arguments));
    EXPECT_EQ(outcome.folded.calls, (std::vector<FoldedCall>{{"", "f", arguments, true}}));
    EXPECT_EQ(outcome.finish, FinishReason::kToolCalls);
  }
}

TEST(Hermes, arguments_may_be_absent_null_blank_or_a_string_that_holds_an_object) {
  EXPECT_EQ(parse(R"(<tool_call>{"name": "f"}</tool_call>)").folded.calls[0].arguments, "{}");
  EXPECT_EQ(parse(call("null")).folded.calls[0].arguments, "{}");
  EXPECT_EQ(parse(call("\"\"")).folded.calls[0].arguments, "{}");
  EXPECT_EQ(parse(call(R"("{\"a\": 1}")")).folded.calls[0].arguments, R"({"a": 1})");
}

TEST(Hermes, keys_may_come_in_any_order_and_others_are_allowed) {
  const auto outcome = parse(
      R"(<tool_call>{"id": [1], "arguments": {"name": "x"}, "na\u006de": "f", "z": {"name": 1}}</tool_call>)");
  EXPECT_EQ(outcome.folded.calls, (std::vector<FoldedCall>{{"", "f", R"({"name": "x"})", true}}));
}

TEST(Hermes, what_is_no_call_is_text_tags_included) {
  for (const std::string inside :
       {R"({"name": "f", "arguments": {"a": 1 "b": 2}})", R"({"arguments": {"a": 1}})", "not json",
        R"([{"name": "f"}])", R"({"name": "f", "arguments": [1]})", R"({"name": 1})",
        R"({"name": ""})", R"({"name": "f", "arguments": "text"})", R"({"name": "f", "name": "g"})",
        R"({"name": "f"} {"name": "g"})", R"({"name": "f"}})", "", R"({"name": "f)"}) {
    const std::string output = "A <tool_call>" + inside + "</tool_call> B";
    const auto outcome = parse(output);
    // In an open string the close tag is data, so such a call ends with the turn.
    EXPECT_EQ(outcome.folded, (message::Folded{"", output, {}})) << inside;
    EXPECT_EQ(outcome.finish, FinishReason::kStop);
  }
}

TEST(Hermes, tags_inside_a_json_string_are_data) {
  const std::string arguments = R"({"a": "<tool_call> </tool_call> <think>x</think>"})";
  EXPECT_EQ(parse(call(arguments)).folded.calls,
            (std::vector<FoldedCall>{{"", "f", arguments, true}}));
}

TEST(Hermes, a_call_without_its_close_tag_is_whole_when_the_model_stopped_by_itself) {
  const std::string open = R"(<tool_call>{"name": "f", "arguments": {"a": 1}})";
  EXPECT_TRUE(parse(open).folded.calls.at(0).complete);
  EXPECT_EQ(parse(open + open).folded.calls.size(), 2u);
  EXPECT_TRUE(parse(open, Ending::kLength).folded.calls.empty());
}

TEST(Hermes, a_short_call_that_is_cut_is_left_out) {
  const auto outcome =
      parse("Hi. <tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"b", Ending::kLength);
  EXPECT_EQ(outcome.folded, (message::Folded{"", "Hi.", {}}));
  EXPECT_EQ(outcome.finish, FinishReason::kLength);
}

TEST(Hermes, a_call_that_a_stop_string_cuts_is_no_broken_one) {
  const auto outcome = parse("Hi. <tool_call>{\"name\": \"f\", \"arg", Ending::kStopString);
  EXPECT_EQ(outcome.folded, (message::Folded{"", "Hi.", {}}));
  EXPECT_EQ(outcome.finish, FinishReason::kStop);
}

TEST(Hermes, a_long_call_that_is_cut_never_looks_complete) {
  const std::string open = R"(<tool_call>{"name": "f", "arguments": )" + long_arguments();
  for (const std::string end : {"", "}", "}\n"}) {
    const auto outcome = parse(open + end, Ending::kLength);
    ASSERT_EQ(outcome.folded.calls.size(), 1u);
    const auto& cut = outcome.folded.calls[0];
    EXPECT_FALSE(cut.complete);
    EXPECT_EQ(cut.arguments + "}", long_arguments());
    EXPECT_EQ(outcome.folded.text, "");
  }
}

TEST(Hermes, a_long_call_that_breaks_stays_incomplete_and_its_text_is_kept) {
  const std::string broken =
      R"(<tool_call>{"name": "f", "arguments": )" + long_arguments() + " oops}</tool_call>";
  const auto outcome = parse(broken + call("{}"));
  ASSERT_EQ(outcome.folded.calls.size(), 2u);
  EXPECT_FALSE(outcome.folded.calls[0].complete);
  EXPECT_TRUE(outcome.folded.calls[1].complete);
  EXPECT_EQ(outcome.folded.text, broken);
}

TEST(Hermes, a_long_argument_streams_while_it_grows) {
  message::Events events;
  const auto parser = hermes().make({});
  parser->marker(2, events);
  parser->text(R"({"name": "f", "arguments": {"a": ")", events);
  EXPECT_TRUE(events.empty());
  parser->text(std::string(JsonCall::kHoldBytes, 'x'), events);
  EXPECT_EQ(events.size(), 2u);
  for (int i = 0; i < 10; ++i) {
    events.clear();
    parser->text("word ", events);
    EXPECT_EQ(events, (message::Events{message::ToolCallArguments{0, "word "}}));
  }
}

TEST(Hermes, a_draft_call_is_reasoning_when_the_reasoning_is_closed_later) {
  const auto outcome = parse("<think>Say " + call("{}") + " no.</think>" + call("{\"b\": 1}"));
  EXPECT_EQ(outcome.folded.reasoning, "Say " + call("{}") + " no.");
  EXPECT_EQ(outcome.folded.calls.size(), 1u);
}

TEST(Hermes, calls_in_reasoning_that_is_never_closed_end_it) {
  const auto outcome = parse("<think>Go.\n" + call("{}") + "\n" + call("{\"b\": 1}") + "\nDone.");
  EXPECT_EQ(outcome.folded.reasoning, "Go.");
  EXPECT_EQ(outcome.folded.calls.size(), 2u);
  EXPECT_EQ(outcome.folded.text, "Done.");
  EXPECT_EQ(outcome.finish, FinishReason::kToolCalls);
}

TEST(Hermes, what_is_no_call_in_reasoning_is_reasoning) {
  const std::string inside = "a <tool_call>x</tool_call> <tool_call>{\"name\": <tool_call> b";
  EXPECT_EQ(parse("<think>" + inside).folded, (message::Folded{inside, "", {}}));
}

TEST(Hermes, without_tools_calls_are_text) {
  const auto outcome = parse("x\n" + call("{}"), Ending::kByItself, {.tools = false});
  EXPECT_EQ(outcome.folded, (message::Folded{"", "x\n" + call("{}"), {}}));
}

TEST(ReasoningOpen, only_what_stands_behind_the_last_turn_opener_counts) {
  EXPECT_TRUE(reasoning_open(hermes(), "<|im_start|>assistant\n<think>\n"));
  EXPECT_TRUE(reasoning_open(hermes(), "<|im_start|>assistant\n<think>\nOkay, so"));
  EXPECT_FALSE(reasoning_open(hermes(), "<|im_start|>assistant\n"));
  EXPECT_FALSE(reasoning_open(hermes(), "<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_FALSE(reasoning_open(hermes(), "what is <think>?<|im_end|>\n<|im_start|>assistant\n"));
}

}  // namespace
}  // namespace verbatim::chat::parsers
