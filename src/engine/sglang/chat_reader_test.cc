#include "engine/sglang/chat_reader.h"

#include <string>
#include <tuple>
#include <vector>

#include "engine/sglang/request_builder.h"
#include "gtest/gtest.h"

namespace verbatim::engine::sglang {
namespace {

const TokenIds kPrompt = {5, 6, 7};
const std::string kGood =
    R"({"id":"r","choices":[{"index":0,"message":{"role":"assistant","content":"",)"
    R"("reasoning_content":"so","tool_calls":[{"id":"call_1","index":0,"type":"function",)"
    R"("function":{"name":"f","arguments":"{\"a\": 1}"}}]},"logprobs":{"content":[]},)"
    R"("finish_reason":"tool_calls","matched_stop":9,"prompt_token_ids":[5,6,7],"meta_info":)"
    R"({"output_token_logprobs":[[-0.5,8,null],[-0.25,9,null]],"completion_tokens":2,)"
    R"("prompt_tokens":3,"cached_tokens":1,"weight_version":"w1"}}],"usage":{}})";

ChatReader reader() {
  return ChatReader(Sent{{std::span(kPrompt)}, 100, 1000});
}

// kGood with one spelling replaced by another.
std::string with(const std::string& from, const std::string& to) {
  std::string body = kGood;
  const auto at = body.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return body.replace(at, from.size(), to);
}

TEST(SglangChat, gives_the_ids_that_were_sampled_and_the_message_that_was_parsed) {
  auto chat = reader();
  const auto chunk = chat.feed(kGood);
  ASSERT_TRUE(chunk.ok()) << chunk.error().message;
  EXPECT_EQ(chunk->ids, (TokenIds{8, 9}));
  EXPECT_EQ(chunk->logprobs, (std::vector<double>{-0.5, -0.25}));
  EXPECT_EQ(chunk->parsed->reasoning, "so");
  ASSERT_EQ(chunk->parsed->tool_calls.size(), 1U);
  EXPECT_EQ(chunk->parsed->tool_calls[0].arguments, "{\"a\": 1}");
  const auto end = chat.finish();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->finish.kind, EngineFinish::Kind::kStop);
  EXPECT_EQ(end->finish.matched_id, 9U);
  EXPECT_EQ(end->cached_tokens, 1U);
  EXPECT_EQ(end->weight_versions.at(0).version, "w1");
  EXPECT_TRUE(chat.engine_is_done());
}

TEST(SglangChat, the_finish_reason_of_meta_info_goes_first) {
  auto chat = reader();
  ASSERT_TRUE(chat.feed(with(R"("prompt_tokens":3,)",
                             R"("prompt_tokens":3,"finish_reason":{"type":"length"},)"))
                  .ok());
  EXPECT_EQ(chat.finish()->finish.kind, EngineFinish::Kind::kLength);
}

TEST(SglangChat, an_answer_that_can_not_be_trusted_is_an_error_that_names_the_field) {
  const std::vector<std::tuple<std::string, std::string>> bad = {
      {"<html>", "text that is not JSON"},
      {R"({"error":{"message":"busy","code":429}})", "the engine reported an error: busy"},
      {"{}", "choices: found nothing"},
      {with(R"("index":0,"message")", R"("index":1,"message")"), "choices[0].index: found 1"},
      {with(R"("prompt_token_ids":[5,6,7],)", ""), "prompt_token_ids: found nothing"},
      {with("[5,6,7]", "[5,6,8]"), "prompt_token_ids[2]: found 8, expected 7"},
      {with("[5,6,7]", "[5,6]"), "prompt_token_ids: found an array of 2"},
      {with(R"("prompt_tokens":3)", R"("prompt_tokens":4)"), "meta_info.prompt_tokens: found 4"},
      {with(R"("meta_info":)", R"("meta":)"), "meta_info: found nothing"},
      {with(R"("completion_tokens":2)", R"("completion_tokens":3)"), "output_token_logprobs"},
      {with("[-0.25,9,null]", "[null,9,null]"), "output_token_logprobs[1]"},
      {with("[-0.25,9,null]", "[-0.25,1000,null]"), "output_token_logprobs[1]"},
      {with(R"("finish_reason":"tool_calls")", R"("finish_reason":null)"),
       "finish_reason: found nothing"},
      {with(R"("finish_reason":"tool_calls")", R"("finish_reason":"abort")"), "aborted"},
      {with(R"("arguments":"{\"a\": 1}")", R"("arguments":{})"), "tool_calls[0]"},
      {with(R"("content":"")", R"("content":7)"), "content: found 7"}};
  for (const auto& [body, error] : bad) {
    auto chat = reader();
    const auto chunk = chat.feed(body);
    ASSERT_FALSE(chunk.ok()) << body;
    EXPECT_NE(chunk.error().message.find(error), std::string::npos) << chunk.error().message;
  }
}

TEST(SglangChat, the_client_is_heard_in_everything_but_what_is_forced) {
  TokenRequest request;
  request.request_id = "r1";
  request.model = "m";
  request.prompt = {kPrompt};
  request.max_new_tokens = 10;
  request.stop_token_ids = {9};
  request.sampling.priority = 2;
  request.chat =
      R"({"model":"x:adapter","messages":[{"role":"user","content":"Hi"}],"temperature":0.30,)"
      R"("stream":true,"stream_options":{},"max_tokens":3,"input_ids":[1],"rid":"theirs",)"
      R"("top_logprobs":null,"tools":[{}],"no_stop_trim":true,"seed":7})";
  EXPECT_EQ(chat_body(request).value(),
            R"({"rid":"r1","model":"m","messages":[{"role":"user","content":"Hi"}],)"
            R"("temperature":0.30,"tools":[{}],"seed":7,"max_tokens":10,"logprobs":true,)"
            R"("top_logprobs":0,"stop_token_ids":[9],"return_meta_info":true,)"
            R"("return_prompt_token_ids":true,"no_stop_trim":false,"stream":false,"priority":2,)"
            R"("input_ids":[5,6,7]})");
  request.chat = "";
  EXPECT_FALSE(chat_body(request).ok());
}

}  // namespace
}  // namespace verbatim::engine::sglang
