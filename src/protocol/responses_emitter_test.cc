#include "protocol/responses_emitter.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "json/value.h"
#include "protocol/sealed_reasoning.h"

namespace verbatim::protocol {
namespace {

using message::Events;
using message::ItemStart;
using message::ReasoningDelta;
using message::TextDelta;
using message::ToolCallArguments;
using message::ToolCallEnd;
using message::ToolCallStart;

const std::string kTools =
    R"([{"type":"function","name":"f"},{"type":"custom","name":"patch"},{"type":"local_shell"},)"
    R"({"type":"tool_search","execution":"client"},)"
    R"({"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]}])";

struct Told {
  std::vector<std::string> names;
  std::vector<std::string> data;
  std::string whole;
};

enum class Reasoning { kShown, kSealed };

Told tell(const Events& events, std::string_view status, Reasoning reasoning = Reasoning::kShown) {
  const auto tools = ResponsesTools::read(json::Document::parse(kTools).value().root()).value();
  int drawn = 0;
  ResponseHead head;
  head.id = "resp_1";
  head.tools = &tools;
  head.seals_reasoning = reasoning == Reasoning::kSealed;
  ResponsesEmitter emitter(head, [&] { return std::to_string(++drawn); });
  NamedEvents out;
  for (const auto& event : events) emitter.events(std::span(&event, 1), out);
  emitter.close(status, out);
  Told told;
  told.whole = emitter.whole(status, {});
  emitter.end(status, told.whole, out);
  for (const auto& event : out) {
    told.names.push_back(event.name.substr(std::string("response.").size()));
    told.data.push_back(event.data);
  }
  return told;
}

std::string output_of(const Told& told) {
  const auto parsed = json::Document::parse(told.whole);
  return std::string(parsed.value().root().get("output")->raw());
}

using Names = std::vector<std::string>;

TEST(ResponsesEmitter, items_are_closed_before_the_next_opens) {
  const auto told =
      tell({ReasoningDelta{"hm"}, TextDelta{"a"}, TextDelta{"b"}, ToolCallStart{0, "c1", "f"},
            ToolCallArguments{0, "{}"}, ToolCallEnd{0}, TextDelta{"c"}},
           "completed");
  const Names item{"output_item.added", "content_part.added"};
  EXPECT_EQ(told.names, (Names{"created",
                               "in_progress",
                               "output_item.added",
                               "content_part.added",
                               "reasoning_text.delta",
                               "reasoning_text.done",
                               "content_part.done",
                               "output_item.done",
                               "output_item.added",
                               "content_part.added",
                               "output_text.delta",
                               "output_text.delta",
                               "output_text.done",
                               "content_part.done",
                               "output_item.done",
                               "output_item.added",
                               "function_call_arguments.delta",
                               "function_call_arguments.done",
                               "output_item.done",
                               "output_item.added",
                               "content_part.added",
                               "output_text.delta",
                               "output_text.done",
                               "content_part.done",
                               "output_item.done",
                               "completed"}));
  EXPECT_NE(told.data.back().find(R"("response":)" + told.whole), std::string::npos);
}

TEST(ResponsesEmitter, an_item_that_the_engine_names_has_its_name_and_is_one_of_its_own) {
  const auto told = tell({ItemStart{"msg_a"}, TextDelta{"one"}, ItemStart{"msg_b"},
                          TextDelta{"two"}, ItemStart{"call_c"}, ToolCallStart{0, "c1", "f"},
                          ToolCallArguments{0, "{}"}, ToolCallEnd{0}},
                         "completed");
  const std::string output = output_of(told);
  for (const char* id : {R"("id":"msg_a")", R"("id":"msg_b")", R"("id":"call_c")"})
    EXPECT_NE(output.find(id), std::string::npos) << id << " in " << output;
}

TEST(ResponsesEmitter, the_input_of_a_custom_tool_is_told_when_it_is_whole) {
  const auto told = tell({ToolCallStart{0, "c1", "patch"}, ToolCallArguments{0, R"({"input": "a )"},
                          ToolCallArguments{0, R"(\"b\""})"}, ToolCallEnd{0}},
                         "completed");
  EXPECT_EQ(told.names,
            (Names{"created", "in_progress", "output_item.added", "custom_tool_call_input.delta",
                   "custom_tool_call_input.done", "output_item.done", "completed"}));
  EXPECT_EQ(output_of(told), R"([{"id":"ctc_1","type":"custom_tool_call","call_id":"c1",)"
                             R"("name":"patch","input":"a \"b\"","status":"completed"}])");
}

// Arguments of another form than they were asked for are the client's to answer.
TEST(ResponsesEmitter, what_is_no_input_or_no_command_is_shown_as_it_is) {
  const auto custom =
      tell({ToolCallStart{0, "c1", "patch"}, ToolCallArguments{0, R"({"x":1})"}, ToolCallEnd{0}},
           "completed");
  EXPECT_NE(output_of(custom).find(R"("input":"{\"x\":1}")"), std::string::npos)
      << output_of(custom);
  const auto shell = tell({ToolCallStart{0, "c1", "local_shell"},
                           ToolCallArguments{0, R"({"command":"ls"})"}, ToolCallEnd{0}},
                          "completed");
  EXPECT_EQ(output_of(shell), R"([{"id":"lsh_1","type":"function_call","call_id":"c1",)"
                              R"("name":"local_shell","arguments":"{\"command\":\"ls\"}",)"
                              R"("status":"completed"}])");
}

TEST(ResponsesEmitter, a_search_is_told_whole) {
  const auto told =
      tell({ToolCallStart{0, "c1", "tool_search"}, ToolCallArguments{0, R"({"query": )"},
            ToolCallArguments{0, R"("x"})"}, ToolCallEnd{0}, ToolCallStart{1, "c2", "tool_search"},
            ToolCallArguments{1, "[]"}, ToolCallEnd{1}},
           "completed");
  EXPECT_EQ(told.names, (Names{"created", "in_progress", "output_item.added", "output_item.done",
                               "output_item.added", "function_call_arguments.done",
                               "output_item.done", "completed"}));
  EXPECT_EQ(output_of(told),
            R"([{"id":"tsc_1","type":"tool_search_call","call_id":"c1","execution":"client",)"
            R"("arguments":{"query": "x"},"status":"completed"},{"id":"tsc_2",)"
            R"("type":"function_call","call_id":"c2","name":"tool_search","arguments":"[]",)"
            R"("status":"completed"}])");
}

TEST(ResponsesEmitter, a_custom_tool_has_its_namespace) {
  const auto told = tell({ToolCallStart{0, "c1", "functions__exec"},
                          ToolCallArguments{0, R"({"input":"x"})"}, ToolCallEnd{0}},
                         "completed");
  EXPECT_EQ(output_of(told),
            R"([{"id":"ctc_1","type":"custom_tool_call","call_id":"c1","name":"exec",)"
            R"("namespace":"functions","input":"x","status":"completed"}])");
}

TEST(ResponsesEmitter, reasoning_is_sealed_where_that_was_asked_for) {
  const Events events{ReasoningDelta{"h"}, ReasoningDelta{"m"}, TextDelta{"a"}};
  const auto sealed = tell(events, "completed", Reasoning::kSealed);
  const std::string member = R"("encrypted_content":")" + seal_reasoning("hm") + R"(")";
  EXPECT_NE(output_of(sealed).find(member), std::string::npos) << output_of(sealed);
  EXPECT_EQ(output_of(tell(events, "completed")).find("encrypted"), std::string::npos);
  const auto done = std::find(sealed.names.begin(), sealed.names.end(), "output_item.done");
  const auto number = static_cast<std::size_t>(done - sealed.names.begin());
  EXPECT_NE(sealed.data.at(number).find(member), std::string::npos);
}

TEST(ResponsesEmitter, what_was_cut_is_incomplete) {
  const auto told =
      tell({ToolCallStart{0, "c1", "f"}, ToolCallArguments{0, R"({"a)"}}, "incomplete");
  EXPECT_EQ(told.names.back(), "incomplete");
  EXPECT_EQ(output_of(told).find("completed\"}"), std::string::npos) << output_of(told);
  EXPECT_NE(told.whole.find(R"("incomplete_details":{"reason":"max_output_tokens"})"),
            std::string::npos);
}

TEST(ResponsesEmitter, a_failure_is_an_error_and_then_the_end_of_the_same_response) {
  ResponsesEmitter emitter({"resp_1", 17, "m"}, [] { return std::string("x"); });
  NamedEvents out;
  const message::Event text = TextDelta{"half"};
  emitter.events(std::span(&text, 1), out);
  base::Error error = base::invalid("input", "too long");
  error.code = "context_length_exceeded";
  emitter.report(error, out);
  emitter.fail(error.code, error.message, nullptr, out);
  ASSERT_GE(out.size(), 2u);
  const auto& said = out[out.size() - 2];
  EXPECT_EQ(said.name, "error");
  const auto parsed = json::Document::parse(said.data);
  EXPECT_EQ(parsed.value().root().get("message")->string(), "input: too long");
  EXPECT_EQ(parsed.value().root().get("error")->get("param")->string(), "input");
  EXPECT_EQ(out.back().name, "response.failed");
  EXPECT_NE(out.back().data.find(R"("id":"resp_1")"), std::string::npos);
  EXPECT_NE(out.back().data.find(R"("code":"context_length_exceeded")"), std::string::npos);
}

}  // namespace
}  // namespace verbatim::protocol
