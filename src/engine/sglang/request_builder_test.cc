#include "engine/sglang/request_builder.h"

#include <limits>

#include "base/random.h"
#include "gtest/gtest.h"
#include "json/value.h"

namespace verbatim::engine::sglang {
namespace {

TEST(RequestBuilder, writes_every_parameter_under_the_name_sglang_knows) {
  const TokenIds head = {1, 22}, tail = {333, 0, 4294967295u};
  TokenRequest request;
  request.request_id = "ab\"c";
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
  s.stop = {"\n\n", "END"};
  s.stop_token_ids = {8, 7};
  s.logprobs = true;
  s.top_logprobs = 5;
  EXPECT_EQ(generate_body(request),
            R"({"rid":"ab\"c","input_ids":[1,22,333,0,4294967295],"sampling_params":{)"
            R"("max_new_tokens":17,"temperature":0,"top_p":0.9,"top_k":-1,"min_p":0.05,)"
            R"("frequency_penalty":-1.5,"presence_penalty":2,"repetition_penalty":1.1,)"
            R"("sampling_seed":-3,"stop":["\n\n","END"],"stop_token_ids":[9,8,7],)"
            R"("skip_special_tokens":false,"spaces_between_special_tokens":false,)"
            R"("no_stop_trim":true},"return_logprob":true,"logprob_start_len":-1,)"
            R"("top_logprobs_num":5,"stream":true})");
}

TEST(RequestBuilder, leaves_out_what_nobody_asked_for) {
  const TokenIds prompt = {1};
  TokenRequest request;
  request.request_id = "r";
  request.prompt = {prompt};
  request.max_new_tokens = 1;
  request.sampling.top_logprobs = 5;  // without logprobs it says nothing
  EXPECT_EQ(generate_body(request),
            R"({"rid":"r","input_ids":[1],"sampling_params":{"max_new_tokens":1,)"
            R"("skip_special_tokens":false,"spaces_between_special_tokens":false,)"
            R"("no_stop_trim":true},"return_logprob":true,"logprob_start_len":-1,)"
            R"("top_logprobs_num":0,"stream":true})");
}

TEST(RequestBuilder, writes_priority_and_salt_beside_the_sampling_parameters) {
  const TokenIds prompt = {1};
  TokenRequest request;
  request.request_id = "r";
  request.prompt = {prompt};
  request.max_new_tokens = 1;
  request.sampling.priority = -3;
  request.sampling.cache_salt = "a\"b";
  const std::string body = generate_body(request);
  EXPECT_TRUE(body.ends_with(R"(},"return_logprob":true,"logprob_start_len":-1,)"
                             R"("top_logprobs_num":0,"priority":-3,"cache_salt":"a\"b",)"
                             R"("stream":true})"))
      << body;
}

TEST(RequestBuilder, a_salt_needs_a_release_that_keeps_to_it) {
  for (const char* good : {"0.5.18", "0.5.18.post1", "0.5.20", "0.6.0rc1", "1.0.0"})
    EXPECT_TRUE(check_salting(good).ok()) << good;
  for (const char* bad : {"", "0.5.17", "0.5", "0.4.99", "main", "0.5.x", "0.0.0.dev1"}) {
    const auto status = check_salting(bad);
    ASSERT_FALSE(status.ok()) << bad;
    EXPECT_EQ(status.error().field, "cache_salt");
    EXPECT_EQ(status.error().kind, base::ErrorKind::kUnsupported);
  }
}

TEST(RequestBuilder, prints_long_prompts_in_any_pieces) {
  base::SeededRandom random(2);
  TokenIds ids;
  for (int i = 0; i < 20000; ++i)
    ids.push_back(static_cast<TokenId>(random.next() >> (32 + random.below(32))));
  TokenRequest request;
  request.request_id = "r";
  request.max_new_tokens = 1;
  for (std::size_t at = 0; at < ids.size();) {
    const auto n = std::min<std::size_t>(random.below(900), ids.size() - at);
    request.prompt.push_back(std::span(ids).subspan(at, n));
    at += n;
  }
  const auto body = json::Document::parse(generate_body(request));
  ASSERT_TRUE(body.ok());
  TokenIds read;
  const auto list = *body->root().find("input_ids");
  for (const auto& member : list) read.push_back(static_cast<TokenId>(*member.value.integer()));
  EXPECT_EQ(read, ids);
}

TEST(RequestBuilder, an_abort_names_its_request) {
  EXPECT_EQ(abort_body("r1"), R"({"rid":"r1"})");
}

}  // namespace
}  // namespace verbatim::engine::sglang
