#include "engine/dynamo/request_builder.h"

#include <limits>
#include <string>

#include "gtest/gtest.h"

namespace verbatim::engine::dynamo {
namespace {

TEST(DynamoRequest, writes_every_parameter_under_the_name_dynamo_knows) {
  const TokenIds head = {1, 22}, tail = {333, 0, 4294967295u};
  TokenRequest request;
  request.model = "a \"model\"";
  request.prompt = {head, tail};
  request.max_new_tokens = 17;
  request.stop_token_ids = {9, 8};
  auto& s = request.sampling;
  s.temperature = 0;
  s.top_p = 0.9;
  s.top_k = -1;
  s.min_p = 0.05;
  s.frequency_penalty = -1.5;
  s.presence_penalty = 2;
  s.repetition_penalty = 1.1;
  s.seed = -3;
  s.max_tokens = 99;
  s.stop_token_ids = {8, 7};
  s.logprobs = true;
  s.top_logprobs = 5;
  s.cache_salt = "a/b";
  s.priority = -2;
  EXPECT_EQ(chat_body(request),
            R"({"model":"a \"model\"","messages":[{"role":"user","content":""}],"stream":true,)"
            R"("stream_options":{"include_usage":true,"continuous_usage_stats":true},)"
            R"("max_completion_tokens":17,"temperature":0,"top_p":0.9,"min_p":0.05,)"
            R"("frequency_penalty":-1.5,"presence_penalty":2,"repetition_penalty":1.1,)"
            R"("top_k":-1,"seed":-3,"stop_token_ids":[9,8,7],"skip_special_tokens":false,)"
            R"("logprobs":true,"return_tokens_as_token_ids":true,"top_logprobs":5,)"
            R"("nvext":{"extra_fields":["engine_data","completion_token_ids","stop_reason"],)"
            R"("token_data":[1,22,333,0,4294967295],"cache_salt":"a/b",)"
            R"("agent_hints":{"priority":-2}}})");
}

TEST(DynamoRequest, leaves_out_what_nobody_asked_for_and_stop_strings_always) {
  const TokenIds prompt = {1};
  TokenRequest request;
  request.model = "m";
  request.prompt = {prompt};
  request.max_new_tokens = 1;
  request.sampling.top_logprobs = 5;  // without logprobs it says nothing
  request.sampling.stop = {"END"};    // found by the gateway
  EXPECT_EQ(chat_body(request),
            R"({"model":"m","messages":[{"role":"user","content":""}],"stream":true,)"
            R"("stream_options":{"include_usage":true,"continuous_usage_stats":true},)"
            R"("max_completion_tokens":1,"skip_special_tokens":false,"logprobs":true,)"
            R"("return_tokens_as_token_ids":true,)"
            R"("nvext":{"extra_fields":["engine_data","completion_token_ids","stop_reason"],)"
            R"("token_data":[1]}})");
}

TEST(DynamoRequest, what_dynamo_would_refuse_is_refused_before_with_the_field) {
  static constexpr auto kNan = std::numeric_limits<double>::quiet_NaN();
  static constexpr auto kInfinity = std::numeric_limits<double>::infinity();
  using message::Sampling;
  struct Case {
    std::string field;
    void (*ask)(Sampling&);
  };
  const Case cases[] = {
      {"temperature", [](Sampling& s) { s.temperature = 2.1; }},
      {"temperature", [](Sampling& s) { s.temperature = kNan; }},
      {"top_p", [](Sampling& s) { s.top_p = 1.5; }},
      {"min_p", [](Sampling& s) { s.min_p = -0.5; }},
      {"frequency_penalty", [](Sampling& s) { s.frequency_penalty = -3; }},
      {"presence_penalty", [](Sampling& s) { s.presence_penalty = kInfinity; }},
      {"repetition_penalty", [](Sampling& s) { s.repetition_penalty = 2.5; }},
      {"top_k", [](Sampling& s) { s.top_k = std::int64_t{1} << 31; }},
      {"top_logprobs", [](Sampling& s) { s.top_logprobs = 21; }},
      {"stop_token_ids", [](Sampling& s) { s.stop_token_ids.assign(33, 1); }},
      {"stop_token_ids[1]", [](Sampling& s) { s.stop_token_ids = {999, 1000}; }},
  };
  for (const auto& c : cases) {
    Sampling sampling;
    c.ask(sampling);
    const auto status = check_sampling(sampling, 1000);
    ASSERT_FALSE(status.ok()) << c.field;
    EXPECT_EQ(status.error().kind, base::ErrorKind::kInvalidRequest);
    EXPECT_EQ(status.error().field, c.field);
  }
  Sampling most;
  most.temperature = 2;
  most.top_k = -1;
  most.stop = {"any", "number"};
  most.stop_token_ids.assign(32, 999);
  EXPECT_TRUE(check_sampling(most, 1000).ok());
}

TEST(DynamoRequest, the_stop_ids_of_family_and_client_are_counted_together) {
  TokenRequest request;
  request.stop_token_ids = {1, 2};
  for (TokenId id = 2; id < 33; ++id) request.sampling.stop_token_ids.push_back(id);
  EXPECT_TRUE(check_stop_ids(request).ok());
  request.sampling.stop_token_ids.push_back(33);
  const auto status = check_stop_ids(request);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().field, "stop_token_ids");
  EXPECT_NE(status.error().message.find("found 33 ids"), std::string::npos);
}

TEST(DynamoRequest, mode_generate_is_written_as_vllm_reads_it) {
  const TokenIds prompt = {1, 2};
  TokenRequest request;
  request.request_id = "r1";
  request.model = "m";
  request.prompt = {prompt};
  request.max_new_tokens = 5;
  request.stop_token_ids = {9};
  request.sampling.temperature = 0.5;
  request.sampling.seed = 3;
  request.sampling.stop = {"never sent"};
  request.sampling.priority = 2;
  request.sampling.cache_salt = "s";
  EXPECT_EQ(generate_body(request),
            R"({"request_id":"r1","model":"m","token_ids":[1,2],"sampling_params":{"max_tokens":5,)"
            R"("temperature":0.5,"seed":3,"stop_token_ids":[9],"logprobs":0},"priority":-2,)"
            R"("cache_salt":"s"})");
}

}  // namespace
}  // namespace verbatim::engine::dynamo
