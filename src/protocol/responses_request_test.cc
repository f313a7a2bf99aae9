#include "protocol/responses_request.h"

#include <string>

#include <gtest/gtest.h>

#include "json/value.h"
#include "protocol/responses_input.h"
#include "protocol/responses_object.h"
#include "protocol/sealed_reasoning.h"

namespace verbatim::protocol {
namespace {

using base::ErrorKind;
using message::Role;

base::Result<ResponsesRequest> read_body(const std::string& body,
                                         Unserved unserved = Unserved::kRefuse) {
  const auto document = json::Document::parse(body);
  EXPECT_TRUE(document.ok()) << body;
  return read_responses_request(document->root(), unserved);
}

ResponsesRequest read(const std::string& body, Unserved unserved = Unserved::kRefuse) {
  auto request = read_body(body, unserved);
  EXPECT_TRUE(request.ok()) << body << ": " << (request ? "" : request.error().message);
  return request ? std::move(*request) : ResponsesRequest{};
}

// A body with `rest` behind its input.
std::string with(const std::string& rest) {
  return R"({"input":"hi",)" + rest + "}";
}
std::string items(const std::string& list) {
  return R"({"input":[)" + list + "]}";
}

// "field: message" of the refusal.
std::string refusal(const std::string& body, ErrorKind kind = ErrorKind::kInvalidRequest,
                    Unserved unserved = Unserved::kRefuse) {
  const auto request = read_body(body, unserved);
  if (request.ok()) return "accepted";
  EXPECT_EQ(request.error().kind, kind) << body;
  const auto& error = request.error();
  return error.field.empty() ? error.message : error.field + ": " + error.message;
}

TEST(ResponsesRequest, a_string_and_one_item_of_a_user_are_the_same_messages) {
  const auto text = read(R"({"input":"hello"})");
  const auto item = read(items(R"({"role":"user","content":"hello"})"));
  const auto parts =
      read(items(R"({"type":"message","role":"user","content":[{"type":"input_text","text":"hel"},)"
                 R"({"type":"input_text","text":"lo"}]})"));
  EXPECT_EQ(text.messages, item.messages);
  EXPECT_EQ(text.messages, parts.messages);
  ASSERT_EQ(text.messages.size(), 1u);
  EXPECT_EQ(text.messages[0].text, "hello");
}

TEST(ResponsesRequest, items_of_one_answer_are_one_message) {
  const auto request = read(items(
      R"({"role":"user","content":"hi"},)"
      R"({"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},)"
      R"({"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]},)"
      R"({"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},)"
      R"({"type":"custom_tool_call","call_id":"c2","name":"patch","input":"a \"b\""},)"
      R"({"type":"local_shell_call","call_id":"c3","action":{"type":"exec","command":["ls"],"env":{}}},)"
      R"({"type":"function_call","call_id":"c4","namespace":"agents","name":"run","arguments":"{}"},)"
      R"({"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"one"}]},)"
      R"({"type":"custom_tool_call_output","call_id":"c2","output":"two"},)"
      R"({"type":"local_shell_call_output","id":"c3","output":"three"},)"
      R"({"type":"function_call_output","call_id":"c4","output":"four"})"));
  ASSERT_EQ(request.messages.size(), 6u);
  const auto& answer = request.messages[1];
  EXPECT_EQ(answer.role, Role::kAssistant);
  EXPECT_EQ(answer.reasoning, "hm");
  EXPECT_EQ(answer.text, "so");
  ASSERT_EQ(answer.tool_calls.size(), 4u);
  EXPECT_EQ(answer.tool_calls[1].arguments, R"({"input":"a \"b\""})");
  EXPECT_EQ(answer.tool_calls[2].name, "local_shell");
  EXPECT_EQ(answer.tool_calls[2].arguments, R"({"command":["ls"],"env":{}})");
  EXPECT_EQ(answer.tool_calls[3].name, "agents__run");
  const std::string expected[] = {"one", "two", "three", "four"};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& output = request.messages[2 + i];
    EXPECT_EQ(output.role, Role::kTool);
    EXPECT_EQ(output.text, expected[i]);
    EXPECT_EQ(output.tool_call_id, "c" + std::to_string(i + 1));
  }
}

TEST(ResponsesRequest, reasoning_is_known_by_what_was_sealed_here) {
  const std::string sealed = seal_reasoning("hm \xC3\xBC");
  const std::string start = R"({"type":"reasoning","id":"rs_1","summary":[],)";
  const std::string behind = R"("encrypted_content":")" + sealed + R"("})";
  for (const std::string& content : {std::string(), std::string(R"("content":null,)"),
                                     std::string(R"("content":[{"type":"reasoning_text",)"
                                                 "\"text\":\"hm \xC3\xBC\"}],")}) {
    std::string item = start;
    item.append(content).append(behind);
    const auto request = read(items(item), Unserved::kKeep);
    ASSERT_EQ(request.messages.size(), 1u);
    EXPECT_EQ(request.messages[0].reasoning, "hm \xC3\xBC") << content;
    // What goes up has the text, and nothing that an engine can't read.
    EXPECT_EQ(
        unknown_member(request.messages[0], kItems),
        "[" + start + R"("content":[{"type":"reasoning_text","text":"hm )" + "\xC3\xBC\"}]}]");
  }
  const std::string foreign = start + R"("encrypted_content":"gAAA"})";
  EXPECT_EQ(unknown_member(read(items(foreign), Unserved::kKeep).messages[0], kItems),
            "[" + foreign + "]");
  EXPECT_EQ(refusal(items(start + R"("encrypted_content":"vbr1.!"})")),
            "input[0].encrypted_content: not as this server gave it; send the item as it was, or "
            "without it");
}

// What was sampled is not known by its summary or another server's cipher.
TEST(ResponsesRequest, reasoning_without_its_text_is_absent) {
  for (const char* reasoning :
       {R"({"type":"reasoning","summary":[{"type":"summary_text","text":"short"}]})",
        R"({"type":"reasoning","summary":[],"content":null,"encrypted_content":"xyz"})",
        R"({"type":"reasoning","summary":[],"content":[]})"}) {
    const auto request = read(items(std::string(reasoning) + R"(,{"role":"user","content":"go"})"));
    ASSERT_EQ(request.messages.size(), 2u) << reasoning;
    EXPECT_FALSE(request.messages[0].reasoning) << reasoning;
  }
}

TEST(ResponsesRequest, kept_items_stand_beside_what_was_read_of_them) {
  const std::string image =
      R"({"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:,"}]})";
  const std::string video =
      R"({"role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_video","x":1}]})";
  const auto shown = read(items(image), Unserved::kKeep);
  ASSERT_EQ(shown.messages.size(), 1u);
  EXPECT_EQ(unknown_member(shown.messages[0], kItems), "[" + image + "]");
  EXPECT_NE(message::parts_of(shown.messages[0]).find("image_url"), std::string::npos);
  EXPECT_TRUE(unknown_member(shown.messages[0], kUnplaced).empty()) << "chat has a place for it";
  const auto request = read(items(video + R"(,{"type":"mcp_list_tools","x":1})"), Unserved::kKeep);
  ASSERT_EQ(request.messages.size(), 2u);
  EXPECT_EQ(request.messages[0].text, "see");
  EXPECT_EQ(unknown_member(request.messages[0], kItems), "[" + video + "]");
  EXPECT_EQ(unknown_member(request.messages[0], kUnplaced), R"("input[0].content[1]")");
  EXPECT_EQ(unknown_member(request.messages[1], kItems), R"([{"type":"mcp_list_tools","x":1}])");
  EXPECT_EQ(unknown_member(request.messages[1], kUnplaced), R"("input[1]")");
  // Only the Responses protocol has a place for them.
  Conversation conversation;
  conversation.messages = request.messages;
  EXPECT_TRUE(check_conversation(Wire::kResponses, conversation).ok());
  for (const auto wire : {Wire::kChat, Wire::kMessages}) {
    const auto status = check_conversation(wire, conversation);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().field, "input[0].content[1]");
  }
  EXPECT_EQ(refusal(items(image), ErrorKind::kUnsupported),
            "input[0].content[1]: unsupported: content part of type \"input_image\"; only text is "
            "served");
  EXPECT_EQ(refusal(items(R"({"type":"mcp_list_tools"})"), ErrorKind::kUnsupported),
            "input[0].type: unsupported: items of type \"mcp_list_tools\"");
}

TEST(ResponsesRequest, parameters_are_told_in_the_words_of_chat) {
  const auto request = read(with(
      R"("max_output_tokens":7,"temperature":0.30,"text":{"format":{"type":"json_schema","name":"n",)"
      R"("schema":{"a":1}},"verbosity":"low"},"reasoning":{"effort":"high","summary":"auto"},)"
      R"("tool_choice":{"type":"function","name":"f"},"include":["reasoning.encrypted_content"],)"
      R"("top_logprobs":0,"logprobs":false,"n":1,"seed":3,"unheard_of":[1])"));
  EXPECT_EQ(
      request.chat,
      R"({"max_completion_tokens":7,"temperature":0.30,"response_format":{"type":"json_schema",)"
      R"("json_schema":{"name":"n","schema":{"a":1}}},"verbosity":"low","reasoning_effort":"high",)"
      R"("tool_choice":{"type":"function","function":{"name":"f"}},"seed":3,)"
      R"("unheard_of":[1]})");
}

// By messages over the same protocol it goes up whole.
TEST(ResponsesRequest, what_else_is_asked_of_reasoning_is_kept_where_it_can_go_up) {
  const std::string asked = with(R"("reasoning":{"effort":"high","summary":"auto"})");
  EXPECT_EQ(read(asked).chat, R"({"reasoning_effort":"high"})");
  EXPECT_EQ(read(asked, Unserved::kKeep).chat,
            R"({"reasoning_effort":"high",)"
            R"("responses_reasoning":{"effort":"high","summary":"auto"}})");
  EXPECT_EQ(read(with(R"("reasoning":{"effort":"high"})"), Unserved::kKeep).chat,
            R"({"reasoning_effort":"high"})");
}

TEST(ResponsesRequest, each_error_names_its_field) {
  EXPECT_EQ(refusal(R"({"model":"m"})"), "input: missing; expected a string or items");
  EXPECT_EQ(refusal(R"({"input":7})"),
            "input: expected a string or an array of items, found a number");
  EXPECT_EQ(refusal(R"({"input":[]})"), "input: must not be empty");
  EXPECT_EQ(refusal(items(R"({"role":"tool","content":"x"})")),
            "input[0].role: expected one of system, developer, user, assistant");
  EXPECT_EQ(refusal(items(R"({"role":"user","content":[{"type":"input_text"}]})")),
            "input[0].content[0].text: missing; expected a string");
  EXPECT_EQ(refusal(items(R"({"type":"function_call","call_id":"c"})")),
            "input[0].name: a call without a name");
  EXPECT_EQ(refusal(items(R"({"type":"function_call_output","output":"x"})")),
            "input[0].call_id: missing; expected a string");
  EXPECT_EQ(refusal(items(R"({"type":"item_reference","id":"msg_1"})"), ErrorKind::kUnsupported,
                    Unserved::kKeep),
            "input[0].type: unsupported: items of type \"item_reference\"; send the item, or "
            "previous_response_id");
  EXPECT_EQ(refusal(with(R"("previous_response_id":"")")),
            "previous_response_id: expected an id of 1 to 512 bytes, found 0 bytes");
  EXPECT_EQ(refusal(with(R"("store":"yes")")), "store: expected a boolean, found a string");
  EXPECT_EQ(refusal(with(R"("max_tool_calls":0)")),
            "max_tool_calls: expected an integer >= 1, found 0");
  EXPECT_EQ(refusal(with(R"("include":["file_search_call.results"])"), ErrorKind::kUnsupported),
            "include[0]: unsupported: \"file_search_call.results\" asks for something of a tool "
            "that the server would run");
  for (const char* logprobs : {R"("include":["message.output_text.logprobs"])",
                               R"("top_logprobs":2)", R"("logprobs":true)"})
    EXPECT_NE(refusal(with(logprobs), ErrorKind::kUnsupported).find("logprobs of the text"),
              std::string::npos)
        << logprobs;
  EXPECT_EQ(refusal(with(R"("n":2)"), ErrorKind::kUnsupported),
            "n: unsupported: a response is one answer; ask several times");
  EXPECT_EQ(refusal(with(R"("text":{"tone":"x"})"), ErrorKind::kUnsupported),
            "text.tone: unsupported: unknown parameter");
  EXPECT_EQ(refusal(with(R"("tools":[{"type":"web_search"}])"), ErrorKind::kUnsupported),
            "tools[0].type: unsupported: tools of type \"web_search\", which the server would have "
            "to run; leave it out");
  EXPECT_EQ(
      refusal(with(R"("tools":[{"type":"function","name":"f"},{"type":"custom","name":"f"}])")),
      "tools[1].name: another tool has the name f already");
  EXPECT_EQ(refusal(with(
                R"("tools":[{"type":"namespace","name":"n","tools":[{"type":"local_shell"}]}])")),
            "tools[0].tools[0].type: expected \"function\" or \"custom\"");
  for (const char* search :
       {R"({"type":"tool_search"})", R"({"type":"tool_search","execution":"server"})"})
    EXPECT_EQ(refusal(with(R"("tools":[)" + std::string(search) + "]"), ErrorKind::kUnsupported),
              "tools[0].execution: unsupported: a search that the server would have to run; send "
              "\"client\" and run it");
  EXPECT_EQ(refusal(items(R"({"type":"additional_tools","tools":[{"type":"web_search"}]},)"
                          R"({"role":"user","content":"x"})"),
                    ErrorKind::kUnsupported),
            "input[0].tools[0].type: unsupported: tools of type \"web_search\", which the server "
            "would have to run; leave it out");
  EXPECT_EQ(refusal(R"({"previous_response_id":"resp_1","input":[{"type":"additional_tools",)"
                    R"("tools":[{"type":"local_shell"}]},{"role":"user","content":"x"}]})",
                    ErrorKind::kUnsupported),
            "input: unsupported: items of type additional_tools where tools are inherited; name "
            "all that are to hold in tools");
}

// Every key of the schema is there, in the caller's spelling where there is one.
TEST(ResponsesObject, repeats_what_was_asked_and_completes_it) {
  const auto request = read(with(
      R"("temperature":0.30,"tools":[{"type":"function","name":"f"}],"reasoning":{"effort":"low"},)"
      R"("text":{"verbosity":"low"},"metadata":{"a":"b"},"store":false)"));
  const auto members = response_members(request.echo, "resp_0");
  const auto value = [&](std::string_view name) -> std::string {
    std::string found;
    for (const auto& [key, raw] : members) {
      if (key != name) continue;
      EXPECT_TRUE(found.empty()) << name << " stands there twice";
      found = raw;
    }
    return found;
  };
  EXPECT_EQ(value("temperature"), "0.30");
  EXPECT_EQ(value("store"), "false");
  EXPECT_EQ(value("metadata"), R"({"a":"b"})");
  EXPECT_EQ(value("previous_response_id"), R"("resp_0")");
  EXPECT_EQ(
      value("tools"),
      R"([{"type":"function","name":"f","description":null,"parameters":null,"strict":null}])");
  EXPECT_EQ(value("reasoning"), R"({"effort":"low","summary":null})");
  EXPECT_EQ(value("text"), R"({"verbosity":"low","format":{"type":"text"}})");
  for (const char* name :
       {"instructions", "tool_choice", "truncation", "parallel_tool_calls", "top_p",
        "presence_penalty", "frequency_penalty", "top_logprobs", "max_output_tokens",
        "max_tool_calls", "background", "service_tier", "safety_identifier", "prompt_cache_key"})
    EXPECT_FALSE(value(name).empty()) << name;
}

}  // namespace
}  // namespace verbatim::protocol
