#include "protocol/chat_request.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "protocol/openai_error.h"

namespace verbatim::protocol {
namespace {

using base::ErrorKind;

ChatRequest read(const std::string& body) {
  auto request = read_chat_request(body);
  EXPECT_TRUE(request.ok()) << body << ": " << (request ? "" : request.error().message);
  return request ? std::move(*request) : ChatRequest{};
}

// A body with one user message and `rest` behind it.
std::string with(const std::string& rest) {
  return R"({"messages":[{"role":"user","content":"hi"}],)" + rest + "}";
}

// A body whose second message is `message`.
std::string second(const std::string& message) {
  return R"({"messages":[{"role":"user","content":"hi"},)" + message + "]}";
}

// "field: message" of the refusal.
std::string refusal(const std::string& body, ErrorKind kind = ErrorKind::kInvalidRequest) {
  auto request = read_chat_request(body);
  if (request.ok()) return "accepted";
  EXPECT_EQ(request.error().kind, kind) << body;
  const auto& error = request.error();
  return error.field.empty() ? error.message : error.field + ": " + error.message;
}

std::string not_served(const std::string& body) {
  return refusal(body, ErrorKind::kUnsupported);
}

TEST(ChatRequest, reads_priority_and_cache_salt) {
  const auto request = read(with(R"("priority": -7, "cache_salt": "tenant/1")"));
  EXPECT_EQ(request.sampling.priority, -7);
  EXPECT_EQ(request.sampling.cache_salt, "tenant/1");
  const auto none = read(with(R"("priority": null, "cache_salt": null)"));
  EXPECT_EQ(none.sampling, message::Sampling{});
  EXPECT_EQ(read(with(R"("priority": 2147483647)")).sampling.priority, 2147483647);
}

TEST(ChatRequest, refuses_priorities_and_salts_that_no_engine_takes) {
  const std::pair<std::string, std::string> table[] = {
      {R"("priority": "high")", "priority: expected an integer of 32 bits, found \"high\""},
      {R"("priority": 1.5)", "priority: expected an integer of 32 bits, found 1.5"},
      {R"("priority": 2147483648)", "priority: expected an integer of 32 bits, found 2147483648"},
      {R"("priority": -2147483649)", "priority: expected an integer of 32 bits, found -2147483649"},
      {R"("cache_salt": 1)", "cache_salt: expected a string, found a number"},
      {R"("cache_salt": "")", "cache_salt: expected 1 to 1024 bytes, found 0"},
      {R"("cache_salt": ")" + std::string(1025, 'a') + "\"",
       "cache_salt: expected 1 to 1024 bytes, found 1025"},
  };
  for (const auto& [parameter, refused] : table) EXPECT_EQ(refusal(with(parameter)), refused);
}

TEST(ChatRequest, reads_what_an_sdk_sends) {
  const auto request = read(R"({
    "model": "m", "stream": true, "stream_options": {"include_usage": true},
    "messages": [
      {"role": "system", "content": "S"},
      {"role": "user", "name": "ann", "content": [{"type": "text", "text": "a"},
                                                  {"type": "text", "text": "b"}]},
      {"role": "assistant", "content": null, "refusal": null, "function_call": null,
       "reasoning": "hm", "tool_calls": [{"id": "c1", "index": 0, "type": "function",
         "function": {"name": "f", "arguments": "{\"a\": 0.30}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "ok"}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type":  "object"}}}],
    "tool_choice": "auto", "parallel_tool_calls": false,
    "temperature": 0, "top_p": 0.9, "max_completion_tokens": 20, "stop": "X", "seed": -1,
    "logprobs": true, "top_logprobs": 2, "user": "u", "metadata": {"k": "v"}, "n": 1,
    "top_k": 5, "min_p": 0.1, "repetition_penalty": 1.1, "stop_token_ids": [7],
    "chat_template_kwargs": {"enable_thinking": false}})");
  EXPECT_EQ(request.model, "m");
  EXPECT_TRUE(request.stream && request.include_usage && request.wants_tools());
  EXPECT_FALSE(request.parallel_tool_calls);
  ASSERT_EQ(request.messages.size(), 4u);
  EXPECT_EQ(request.messages[1].text, "a\nb");
  EXPECT_EQ(request.messages[1].name, "ann");
  EXPECT_EQ(request.messages[2].reasoning, "hm");
  EXPECT_EQ(request.messages[2].tool_calls,
            (std::vector<message::ToolCall>{{"c1", "f", "{\"a\": 0.30}"}}));
  EXPECT_TRUE(request.messages[2].unknown.empty());
  EXPECT_EQ(request.messages[3].tool_call_id, "c1");
  EXPECT_EQ(request.tools[0].name, "f");
  EXPECT_EQ(
      request.tools[0].raw,
      R"({"type": "function", "function": {"name": "f", "parameters": {"type":  "object"}}})");
  const auto& s = request.sampling;
  EXPECT_EQ(s.temperature, 0.0);
  EXPECT_EQ(s.max_tokens, 20u);
  EXPECT_EQ(s.stop, std::vector<std::string>{"X"});
  EXPECT_EQ(s.stop_token_ids, base::TokenIds{7});
  EXPECT_EQ(s.seed, -1);
  EXPECT_EQ(s.top_k, 5);
  EXPECT_TRUE(s.logprobs);
  EXPECT_EQ(s.top_logprobs, 2u);
  EXPECT_EQ(request.chat_template_kwargs, R"({"enable_thinking": false})");
  EXPECT_EQ(request.metadata, R"({"k": "v"})");
}

TEST(ChatRequest, null_is_absent_everywhere) {
  const auto request = read(with(
      R"("model":null,"tools":null,"tool_choice":null,"temperature":null,"stop":null,"n":null,
         "stream":null,"stream_options":null,"max_tokens":null,"response_format":null,
         "logit_bias":null,"audio":null,"functions":null,"made_up":null)"));
  EXPECT_FALSE(request.sampling.temperature.has_value());
  EXPECT_FALSE(request.stream);
}

TEST(ChatRequest, empty_and_absent_texts_of_an_assistant_are_one_class) {
  for (const auto* content : {R"(,"content":null)", R"(,"content":"")", "", R"(,"content":[])"}) {
    const auto request =
        read(second(R"({"role":"assistant","tool_calls":[])" + std::string(content) + "}"));
    EXPECT_EQ(request.messages[1].text, "");
    EXPECT_TRUE(request.messages[1].tool_calls.empty());
  }
}

TEST(ChatRequest, keeps_unknown_fields_of_messages_raw_and_in_order) {
  const auto request =
      read(second(R"({"role":"user","content":"a","z":{"q": 1.50},"none":null,"a":[1]})"));
  EXPECT_EQ(request.messages[1].unknown, (std::vector<std::pair<std::string, std::string>>{
                                             {"z", "{\"q\": 1.50}"}, {"a", "[1]"}}));
}

TEST(ChatRequest, of_equal_names_the_last_counts) {
  EXPECT_EQ(read(with(R"("temperature":1,"temperature":0.5)")).sampling.temperature, 0.5);
  EXPECT_EQ(
      read(second(R"({"role":"user","x":1,"content":"a","content":"b","x":2})")).messages[1].text,
      "b");
}

TEST(ChatRequest, a_body_that_is_not_json_names_line_and_column) {
  EXPECT_EQ(refusal("{\"messages\":\n  oops}").substr(0, 33), "invalid JSON at line 2, column 3:");
  EXPECT_NE(refusal(""), "accepted");
  EXPECT_EQ(refusal("[]"), "expected the body to be an object, found an array");
}

TEST(ChatRequest, type_errors_name_the_field_what_was_expected_and_what_was_found) {
  const std::pair<std::string, std::string> cases[] = {
      {R"({})", "messages: missing; expected an array of messages"},
      {R"({"messages":null})", "messages: missing; expected an array of messages"},
      {R"({"messages":[]})", "messages: must not be empty"},
      {R"({"messages":"hi"})", "messages: expected an array of messages, found a string"},
      {R"({"messages":[1]})", "messages[0]: expected an object, found a number"},
      {R"({"messages":["a"]})", "messages[0]: expected an object, found a string"},
      {second(R"({"content":"a"})"),
       "messages[1].role: missing; expected one of system, developer, user, assistant, tool"},
      {second(R"({"role":7})"), "messages[1].role: expected a string, found a number"},
      {second(R"({"role":"boss"})"),
       "messages[1].role: expected one of system, developer, user, assistant, tool, found "
       "\"boss\""},
      {second(R"({"role":"user","content":5})"),
       "messages[1].content: expected a string or an array of text parts, found a number"},
      {second(R"({"role":"user","content":["a"]})"),
       "messages[1].content[0]: expected an object with a type, found a string"},
      {second(R"({"role":"user","content":[{"type":"text","text":1}]})"),
       "messages[1].content[0].text: expected a string, found a number"},
      {second(R"({"role":"assistant","tool_calls":{}})"),
       "messages[1].tool_calls: expected an array, found an object"},
      {second(R"({"role":"assistant","tool_calls":[{"id":1}]})"),
       "messages[1].tool_calls[0].id: expected a string, found a number"},
      {second(R"({"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{}}}]})"),
       "messages[1].tool_calls[0].function.arguments: expected a string that holds JSON, found an "
       "object"},
      {second(R"({"role":"user","tool_calls":[{"function":{"name":"f"}}]})"),
       "messages[1].tool_calls: only an assistant message has calls"},
      {second(R"({"role":"assistant","reasoning":["a"]})"),
       "messages[1].reasoning: expected a string, found an array"},
      {second(R"({"role":"assistant","reasoning":"a","reasoning_content":"b"})"),
       "messages[1].reasoning_content: differs from the reasoning under another name"},
      {with(R"("model":1)"), "model: expected a string, found a number"},
      {with(R"("stream":"yes")"), "stream: expected a boolean, found a string"},
      {with(R"("tools":{})"), "tools: expected an array of tools, found an object"},
      {with(R"("tools":[{"type":"function","name":"f"}])"),
       "tools[0].function: missing; expected an object"},
      {with(R"("tools":[{"type":"function","function":{"name":1}}])"),
       "tools[0].function.name: expected a string, found a number"},
      {with(R"("temperature":"hot")"), "temperature: expected a number >= 0, found \"hot\""},
      {with(R"("temperature":-0.1)"), "temperature: expected a number >= 0, found -0.1"},
      {with(R"("top_p":0)"), "top_p: expected a number in (0, 1], found 0"},
      {with(R"("top_k":1.5)"), "top_k: expected -1 (off) or an integer >= 1, found 1.5"},
      {with(R"("max_tokens":0)"), "max_tokens: expected an integer >= 1, found 0"},
      {with(R"("max_tokens":true)"), "max_tokens: expected an integer >= 1, found true"},
      {with(R"("max_tokens":1e400)"), "max_tokens: expected an integer >= 1, found 1e400"},
      {with(R"("max_tokens":5,"max_completion_tokens":6)"),
       "max_completion_tokens: max_tokens and max_completion_tokens are both given and differ (5, "
       "6)"},
      {with(R"("stop":[1])"), "stop[0]: expected a string, found a number"},
      {with(R"("stop":"")"), "stop: a stop string must not be empty"},
      {with(R"("stop_token_ids":[-1])"), "stop_token_ids[0]: expected a token id, found -1"},
      {with(R"("top_logprobs":3)"), "top_logprobs: needs logprobs: true"},
      {with(R"("logprobs":true,"top_logprobs":21)"),
       "top_logprobs: expected an integer in [0, 20], found 21"},
      {with(R"("tool_choice":"maybe")"),
       "tool_choice: expected auto, none, required or an object, found \"maybe\""},
      {with(R"("n":0)"), "n: expected an integer in [1, 128], found 0"},
      {with(R"("chat_template_kwargs":[])"),
       "chat_template_kwargs: expected an object, found an array"},
      {with(R"("stream_options":{"include_usage":1})"),
       "stream_options.include_usage: expected a boolean, found a number"},
  };
  for (const auto& [body, wanted] : cases) EXPECT_EQ(refusal(body), wanted) << body;
}

TEST(ChatRequest, the_number_of_messages_is_bounded) {
  const auto body = [](std::size_t count) {
    std::string text = R"({"messages":[{"role":"user","content":"a"})";
    for (std::size_t i = 1; i < count; ++i) text += R"(,{"role":"user","content":"a"})";
    return text + "]}";
  };
  EXPECT_TRUE(read_chat_request(body(60'000)).ok());
  const auto refused = read_chat_request(body(60'001));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kTooLarge);
  EXPECT_EQ(refused.error().field, "messages");
}

TEST(ChatRequest, what_would_change_the_answer_and_is_not_served_is_refused_by_name) {
  for (const auto* parameter :
       {R"("tool_choice":"required")", R"("tool_choice":{"type":"function"})",
        R"("response_format":{"type":"json_object"})", R"("logit_bias":{"1":2})",
        R"("functions":[])", R"("audio":{})", R"("modalities":["text","audio"])",
        R"("prediction":{})", R"("store":true)", R"("reasoning_effort":"low")",
        R"("verbosity":"high")", R"("ignore_eos":true)", R"("skip_special_tokens":false)",
        R"("made_up":1)", R"("tools":[{"type":"custom","custom":{"name":"x"}}])"}) {
    const std::string text = not_served(with(parameter));
    const std::string name(parameter + 1, std::string_view(parameter).find('"', 1) - 1);
    EXPECT_TRUE(text.starts_with(name)) << text;
    EXPECT_NE(text.find("unsupported"), text.npos) << text;
  }
  for (const auto* message :
       {R"({"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]})",
        R"({"role":"user","content":[{"type":"input_audio","input_audio":{}}]})",
        R"({"role":"assistant","function_call":{"name":"f","arguments":"{}"}})",
        R"({"role":"assistant","audio":{"id":"a"}})", R"({"role":"assistant","refusal":"no"})"}) {
    EXPECT_TRUE(not_served(second(message)).starts_with("messages[1]")) << message;
  }
}

TEST(ChatRequest, what_asks_for_nothing_is_accepted) {
  for (const auto* parameter :
       {R"("store":false)", R"("response_format":{"type":"text"})", R"("logit_bias":{})",
        R"("modalities":["text"])", R"("service_tier":"auto")", R"("prompt_cache_key":"k")",
        R"("safety_identifier":"s")", R"("top_logprobs":0)", R"("tools":[])", R"("stop":[])",
        R"("ignore_eos":false)", R"("tool_choice":"none")", R"("reasoning_effort":"medium")",
        R"("verbosity":"medium")", R"("max_tokens":5,"max_completion_tokens":5)",
        R"("stream_options":{"include_usage":false})", R"("max_tokens":5.0)"}) {
    EXPECT_TRUE(read_chat_request(with(parameter)).ok()) << parameter;
  }
}

TEST(ChatRequest, arguments_of_the_history_are_kept_whatever_they_hold) {
  const auto request = read(second(
      R"({"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"city\": "}}]})"));
  EXPECT_EQ(request.messages[1].tool_calls[0].arguments, "{\"city\": ");
}

TEST(ChatRequest, a_stop_string_is_bounded) {
  const auto body = [](std::size_t size) {
    return R"({"messages":[{"role":"user","content":"x"}],"stop":")" + std::string(size, 's') +
           "\"}";
  };
  EXPECT_TRUE(read_chat_request(body(1024)).ok());
  const auto refused = read_chat_request(body(1025));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().field, "stop");
}

TEST(ChatRequest, an_object_with_endless_members_is_refused) {
  std::string body = R"({"messages":[{"role":"user")";
  for (int i = 0; i < 1000; ++i) body += ",\"k" + std::to_string(i) + "\":1";
  refusal(body + "}]}", ErrorKind::kTooLarge);
}

TEST(OpenAiError, the_body_names_field_type_and_code) {
  EXPECT_EQ(openai_error_body(base::invalid("n", "expected 1, found 0")),
            R"({"error":{"message":"n: expected 1, found 0","type":"invalid_request_error",)"
            R"("code":null,"param":"n"}})");
  auto error = base::error(ErrorKind::kEngine, "the engine closed the connection");
  error.code = "engine_gone";
  EXPECT_EQ(openai_error_body(error),
            R"({"error":{"message":"the engine closed the connection","type":"upstream_error",)"
            R"("code":"engine_gone","param":null}})");
}

}  // namespace
}  // namespace verbatim::protocol
