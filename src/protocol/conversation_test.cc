#include "protocol/conversation.h"

#include <gtest/gtest.h>

#include "protocol/chat_request.h"
#include "protocol/messages_input.h"
#include "protocol/raw_parameters.h"
#include "protocol/responses_input.h"

namespace verbatim::protocol {
namespace {

using message::Message;
using message::Role;

Message said(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

Conversation weather() {
  Conversation conversation;
  conversation.model = "m";
  Message answer = said(Role::kAssistant, "Let me see.");
  answer.reasoning = "hm";
  answer.tool_calls = {{"c1", "get_weather", R"({"city":  "Rome"})"}, {"c2", "get_weather", "{}"}};
  Message rome = said(Role::kTool, "sunny");
  rome.tool_call_id = "c1";
  Message other = said(Role::kTool, "rain");
  other.tool_call_id = "c2";
  conversation.messages = {
      said(Role::kSystem, "Be brief."),   said(Role::kUser, "Weather?"), answer, rome, other,
      said(Role::kUser, "Thanks \"you\"")};
  conversation.tools = {
      {"get_weather",
       R"({"type":"function","function":{"name":"get_weather","parameters":{"type":"object"}}})"}};
  return conversation;
}

TEST(Conversation, goes_up_as_chat) {
  auto conversation = weather();
  conversation.parameters = {{"temperature", "0.50"}, {"x_unknown", "[1]"}};
  conversation.stream = true;
  EXPECT_EQ(
      write_conversation(Wire::kChat, conversation),
      R"({"model":"m","messages":[{"role":"system","content":"Be brief."},)"
      R"({"role":"user","content":"Weather?"},)"
      R"({"role":"assistant","content":"Let me see.","reasoning_content":"hm","tool_calls":[)"
      R"({"id":"c1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":  \"Rome\"}"}},)"
      R"({"id":"c2","type":"function","function":{"name":"get_weather","arguments":"{}"}}]},)"
      R"({"role":"tool","content":"sunny","tool_call_id":"c1"},)"
      R"({"role":"tool","content":"rain","tool_call_id":"c2"},)"
      R"({"role":"user","content":"Thanks \"you\""}],)"
      R"("tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object"}}}],)"
      R"("temperature":0.50,"x_unknown":[1],"stream":true,"stream_options":{"include_usage":true}})");
}

TEST(Conversation, goes_up_as_items_without_a_previous_response) {
  auto conversation = weather();
  conversation.sampling.max_tokens = 9;
  conversation.parameters = {
      {"max_completion_tokens", "9"},
      {"tool_choice", R"({"type":"function","function":{"name":"f"}})"},
      {"response_format", R"({"type":"json_schema","json_schema":{"name":"x","schema":{}}})"},
      {"reasoning_effort", "\"low\""},
      {"store", "true"},
      {"seed", "3"}};
  const std::string body = write_conversation(Wire::kResponses, conversation);
  EXPECT_EQ(
      body,
      R"({"model":"m","input":[{"type":"message","role":"system","content":"Be brief."},)"
      R"({"type":"message","role":"user","content":"Weather?"},)"
      R"({"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},)"
      R"({"type":"message","role":"assistant","content":"Let me see."},)"
      R"({"type":"function_call","call_id":"c1","name":"get_weather","arguments":"{\"city\":  \"Rome\"}"},)"
      R"({"type":"function_call","call_id":"c2","name":"get_weather","arguments":"{}"},)"
      R"({"type":"function_call_output","call_id":"c1","output":"sunny"},)"
      R"({"type":"function_call_output","call_id":"c2","output":"rain"},)"
      R"({"type":"message","role":"user","content":"Thanks \"you\""}],)"
      R"("tools":[{"type":"function","name":"get_weather","parameters":{"type":"object"},"strict":false}],)"
      R"("tool_choice":{"type":"function","name":"f"},"seed":3,)"
      R"("max_output_tokens":9,"reasoning":{"effort":"low"},"text":{"format":{"type":"json_schema","name":"x","schema":{}}},)"
      R"("store":false,"stream":false})");
  EXPECT_EQ(body.find("previous_response_id"), std::string::npos);
  const auto lenient = write_conversation(Wire::kResponses, conversation, Silent::kLenient);
  EXPECT_EQ(lenient.find("strict"), std::string::npos);
}

TEST(Conversation, what_was_asked_of_reasoning_goes_up_where_it_has_its_word) {
  auto conversation = weather();
  conversation.parameters = {
      {"reasoning_effort", "\"medium\""},
      {std::string(kAskedReasoning), R"({"summary":"auto","effort":"low","context":"all"})"}};
  EXPECT_NE(write_conversation(Wire::kResponses, conversation)
                .find(R"("reasoning":{"effort":"medium","summary":"auto","context":"all"})"),
            std::string::npos);
  EXPECT_NE(write_conversation(Wire::kChat, conversation).find(R"("reasoning_effort":"medium")"),
            std::string::npos);
  for (const auto wire : {Wire::kChat, Wire::kMessages}) {
    EXPECT_TRUE(check_conversation(wire, conversation).ok());
    EXPECT_EQ(write_conversation(wire, conversation).find("summary"), std::string::npos);
  }
}

TEST(Conversation, goes_up_as_blocks) {
  auto conversation = weather();
  conversation.parameters = {{"stop", "\"END\""},
                             {"tool_choice", "\"required\""},
                             {"parallel_tool_calls", "false"},
                             {"user", "\"u\""},
                             {"top_k", "5"}};
  EXPECT_EQ(
      write_conversation(Wire::kMessages, conversation),
      R"({"model":"m","max_tokens":4096,"system":[{"type":"text","text":"Be brief."}],)"
      R"("messages":[{"role":"user","content":"Weather?"},)"
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""},)"
      R"({"type":"text","text":"Let me see."},)"
      R"({"type":"tool_use","id":"c1","name":"get_weather","input":{"city":  "Rome"}},)"
      R"({"type":"tool_use","id":"c2","name":"get_weather","input":{}}]},)"
      R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"sunny"},)"
      R"({"type":"tool_result","tool_use_id":"c2","content":"rain"}]},)"
      R"({"role":"user","content":"Thanks \"you\""}],)"
      R"("tools":[{"name":"get_weather","input_schema":{"type":"object"}}],)"
      R"("tool_choice":{"type":"any","disable_parallel_tool_use":true},)"
      R"("stop_sequences":["END"],"metadata":{"user_id":"u"},"top_k":5,"stream":false})");
}

TEST(Conversation, is_read_back_as_the_messages_it_was) {
  const auto conversation = weather();
  const auto items = json::Document::parse(write_conversation(Wire::kResponses, conversation));
  ASSERT_TRUE(items.ok());
  const auto from_items = read_input(*items->root().get("input"));
  ASSERT_TRUE(from_items.ok()) << from_items.error().field << from_items.error().message;
  EXPECT_EQ(*from_items, conversation.messages);
  const auto blocks = json::Document::parse(write_conversation(Wire::kMessages, conversation));
  ASSERT_TRUE(blocks.ok());
  const auto from_blocks = read_messages_input(blocks->root());
  ASSERT_TRUE(from_blocks.ok()) << from_blocks.error().field << from_blocks.error().message;
  EXPECT_EQ(*from_blocks, conversation.messages);
  const auto chat = read_chat_request(write_conversation(Wire::kChat, conversation));
  ASSERT_TRUE(chat.ok()) << chat.error().field << chat.error().message;
  EXPECT_EQ(chat->messages, conversation.messages);
}

TEST(Conversation, what_a_server_said_goes_back_over_its_own_protocol_only) {
  Conversation conversation;
  conversation.model = "m";
  Message answer = said(Role::kAssistant, "hi");
  answer.unknown = {{std::string(kItems), R"([{"type":"message","id":"msg_1","phase":null}])"},
                    {std::string(kContentBlocks), R"([{"type":"text","text":"hi","x":1}])"},
                    {"reasoning_details", "[1]"}};
  conversation.messages = {said(Role::kUser, "a"), answer, said(Role::kUser, "b")};
  const auto has = [&](Wire wire, std::string_view text) {
    return write_conversation(wire, conversation).find(text) != std::string::npos;
  };
  EXPECT_TRUE(has(Wire::kResponses, R"({"type":"message","id":"msg_1"})"));
  EXPECT_TRUE(has(Wire::kMessages, R"("content":[{"type":"text","text":"hi","x":1}])"));
  EXPECT_TRUE(has(Wire::kChat, R"("content":"hi","reasoning_details":[1]})"));
  for (const auto reserved : {kItems, kContentBlocks}) {
    for (const Wire wire : {Wire::kChat, Wire::kResponses, Wire::kMessages})
      EXPECT_FALSE(has(wire, reserved)) << reserved;
  }
  drop_reserved(answer);
  EXPECT_EQ(answer.unknown.size(), 1U);
}

TEST(Conversation, the_wire_keeps_the_engines_spelling_of_reasoning) {
  Conversation conversation;
  Message answer = said(Role::kAssistant, "hi");
  answer.reasoning = "hm";
  conversation.messages = {answer};
  EXPECT_NE(write_conversation(Wire::kChat, conversation).find(R"("reasoning_content":"hm")"),
            std::string::npos);
  conversation.messages[0].unknown = {{"reasoning", "\"hm\""}};
  const auto body = write_conversation(Wire::kChat, conversation);
  EXPECT_NE(body.find(R"("reasoning":"hm")"), std::string::npos) << body;
  EXPECT_EQ(body.find("reasoning_content"), std::string::npos) << body;
}

struct Refused {
  Wire wire;
  RawMember parameter;
};

TEST(Conversation, what_a_protocol_has_no_word_for_is_refused_by_name) {
  const Refused kRefused[] = {{Wire::kResponses, {"previous_response_id", "\"resp_1\""}},
                              {Wire::kResponses, {"input", "\"x\""}},
                              {Wire::kResponses, {"conversation", "\"conv_1\""}},
                              {Wire::kResponses, {"background", "true"}},
                              {Wire::kMessages, {"system", "\"x\""}},
                              {Wire::kMessages, {"response_format", R"({"type":"json_object"})"}},
                              {Wire::kMessages, {"frequency_penalty", "0.5"}},
                              {Wire::kMessages, {"repetition_penalty", "1.1"}},
                              {Wire::kMessages, {"min_p", "0.1"}},
                              {Wire::kMessages, {"stop_token_ids", "[7]"}},
                              {Wire::kMessages, {"reasoning_effort", "\"low\""}},
                              {Wire::kMessages, {"logit_bias", R"({"1":2})"}}};
  for (const auto& row : kRefused) {
    auto conversation = weather();
    EXPECT_TRUE(check_conversation(row.wire, conversation).ok());
    conversation.parameters = {row.parameter};
    const auto status = check_conversation(row.wire, conversation);
    ASSERT_FALSE(status.ok()) << row.parameter.first;
    EXPECT_EQ(status.error().field, row.parameter.first);
    EXPECT_TRUE(check_conversation(Wire::kChat, conversation).ok());
  }
  auto conversation = weather();
  conversation.parameters = {{"response_format", R"({"type": "text"})"},
                             {"logit_bias", "{}"},
                             {"frequency_penalty", "0.0"},
                             {"repetition_penalty", "1.0"},
                             {"min_p", "0"},
                             {"reasoning_effort", "\"medium\""},
                             {"verbosity", "\"medium\""},
                             {"stop_token_ids", "[ ]"}};
  EXPECT_TRUE(check_conversation(Wire::kMessages, conversation).ok());
  conversation.messages[2].tool_calls[1].arguments = "{\"a\"";
  EXPECT_EQ(check_conversation(Wire::kMessages, conversation).error().field,
            "messages[2].tool_calls[1].function.arguments");
  conversation = weather();
  conversation.messages.push_back(said(Role::kDeveloper, "x"));
  EXPECT_EQ(check_conversation(Wire::kMessages, conversation).error().field, "messages[6].role");
}

TEST(ChatRequest, keeps_what_it_does_not_act_on_where_it_goes_up) {
  const char* body =
      R"({"model":"m","messages":[{"role":"user","content":"x"}],"temperature":0.50,"n":1,)"
      R"("tool_choice":"required","response_format":{"type":"json_object"},"x_new":[1],)"
      R"("stream":true,"stream_options":{"include_usage":true},"logprobs":false,"seed":null})";
  const auto kept = read_chat_request(body, {.unserved = Unserved::kKeep});
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  const std::vector<RawMember> expected = {{"temperature", "0.50"},
                                           {"tool_choice", "\"required\""},
                                           {"response_format", R"({"type":"json_object"})"},
                                           {"x_new", "[1]"}};
  EXPECT_EQ(kept->parameters, expected);
  EXPECT_FALSE(read_chat_request(body).ok());
  // What is wrong in itself stays so.
  EXPECT_FALSE(
      read_chat_request(R"({"messages":[{"role":"user","content":"x"}],"temperature":"hot"})",
                        {.unserved = Unserved::kKeep})
          .ok());
}

}  // namespace
}  // namespace verbatim::protocol
