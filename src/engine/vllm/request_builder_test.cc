#include "engine/vllm/request_builder.h"

#include "gtest/gtest.h"
#include "json/value.h"

namespace verbatim::engine::vllm {
namespace {

const TokenIds kPrompt = {1, 2, 3};

TokenRequest request() {
  TokenRequest r;
  r.request_id = "r1";
  r.prompt = {std::span(kPrompt).first(1), std::span(kPrompt).subspan(1)};
  r.max_new_tokens = 10;
  r.stop_token_ids = {9};
  return r;
}

TEST(VllmRequest, generate_says_only_what_it_must) {
  EXPECT_EQ(token_body(Route::kGenerate, request(), ""),
            R"({"request_id":"r1","token_ids":[1,2,3],"sampling_params":{"max_tokens":10,)"
            R"("stop_token_ids":[9],"logprobs":0,"skip_special_tokens":false,)"
            R"("spaces_between_special_tokens":false,"output_kind":1,"detokenize":false},)"
            R"("stream":true,"stream_options":{"include_usage":true}})");
}

TEST(VllmRequest, completions_ask_for_the_ids_of_their_answer) {
  EXPECT_EQ(token_body(Route::kCompletions, request(), "m"),
            R"({"request_id":"r1","model":"m","prompt":[1,2,3],"max_tokens":10,)"
            R"("stop_token_ids":[9],"logprobs":0,"skip_special_tokens":false,)"
            R"("spaces_between_special_tokens":false,"add_special_tokens":false,)"
            R"("return_token_ids":true,"return_tokens_as_token_ids":true,"stream":true,)"
            R"("stream_options":{"include_usage":true}})");
}

TEST(VllmRequest, every_sampling_parameter_has_its_key_on_both_routes) {
  auto r = request();
  r.sampling.temperature = 0.5;
  r.sampling.top_p = 0.9;
  r.sampling.top_k = 40;
  r.sampling.min_p = 0.1;
  r.sampling.frequency_penalty = -1;
  r.sampling.presence_penalty = 1;
  r.sampling.repetition_penalty = 1.1;
  r.sampling.seed = 7;
  r.sampling.stop = {"a\"", "b"};
  r.sampling.stop_token_ids = {9, 4};
  r.sampling.logprobs = true;
  r.sampling.top_logprobs = 5;
  for (const Route route : {Route::kGenerate, Route::kCompletions}) {
    const auto body = json::Document::parse(token_body(route, r, "m"));
    ASSERT_TRUE(body.ok());
    const auto at =
        route == Route::kGenerate ? *body->root().find("sampling_params") : body->root();
    EXPECT_EQ(at.find("temperature")->raw(), "0.5");
    EXPECT_EQ(at.find("top_p")->raw(), "0.9");
    EXPECT_EQ(at.find("top_k")->raw(), "40");
    EXPECT_EQ(at.find("min_p")->raw(), "0.1");
    EXPECT_EQ(at.find("frequency_penalty")->number(), -1);
    EXPECT_EQ(at.find("presence_penalty")->number(), 1);
    EXPECT_EQ(at.find("repetition_penalty")->raw(), "1.1");
    EXPECT_EQ(at.find("seed")->raw(), "7");
    EXPECT_EQ(at.find("stop")->raw(), R"(["a\"","b"])");
    EXPECT_EQ(at.find("stop_token_ids")->raw(), "[9,4]");
    EXPECT_EQ(at.find("logprobs")->raw(), route == Route::kGenerate ? "6" : "5");
  }
  r.sampling.logprobs = false;
  const auto hidden = json::Document::parse(token_body(Route::kGenerate, r, "m"));
  EXPECT_EQ(hidden->root().find("sampling_params")->find("logprobs")->raw(), "0");
  EXPECT_TRUE(hidden->root().find("sampling_params")->find("detokenize")->boolean())
      << "stop strings are looked for in text";
}

TEST(VllmRequest, generate_makes_room_for_the_sampled_id_among_the_alternatives) {
  const auto asked = [](Route route, bool logprobs, unsigned tops) {
    message::Sampling sampling;
    sampling.logprobs = logprobs;
    sampling.top_logprobs = tops;
    return logprobs_asked(route, sampling);
  };
  EXPECT_EQ(asked(Route::kGenerate, true, 1), 2U);
  EXPECT_EQ(asked(Route::kGenerate, true, 19), 20U);
  EXPECT_EQ(asked(Route::kGenerate, true, 20), 20U) << "vLLM refuses more";
  EXPECT_EQ(asked(Route::kCompletions, true, 5), 5U) << "it stands beside them there";
  EXPECT_EQ(asked(Route::kGenerate, true, 0), 0U);
  EXPECT_EQ(asked(Route::kGenerate, false, 5), 0U);
}

TEST(VllmRequest, a_higher_priority_is_a_lower_number_beside_the_salt) {
  auto r = request();
  r.sampling.priority = 3;
  r.sampling.cache_salt = "tenant";
  for (const Route route : {Route::kGenerate, Route::kCompletions}) {
    const auto body = json::Document::parse(token_body(route, r, "m"));
    ASSERT_TRUE(body.ok());
    EXPECT_EQ(body->root().find("priority")->raw(), "-3");
    EXPECT_EQ(body->root().find("cache_salt")->raw(), "\"tenant\"");
  }
}

TEST(VllmRequest, refuses_a_salt_that_vllm_would_refuse) {
  EXPECT_TRUE(check_salt("").ok());
  EXPECT_TRUE(check_salt(std::string(128, 'a')).ok());
  std::string wide;
  for (int i = 0; i < 128; ++i) wide += "\xC3\xA9";
  EXPECT_TRUE(check_salt(wide).ok()) << "characters are counted";
  EXPECT_FALSE(check_salt(wide + "a").ok());
  for (const char bad : {'@', '/', '\\', '\0'}) {
    const auto status = check_salt(std::string("a") + bad);
    ASSERT_FALSE(status.ok()) << bad;
    EXPECT_EQ(status.error().field, "cache_salt");
  }
}

TEST(VllmRequest, an_abort_names_the_request_as_vllm_knows_it) {
  EXPECT_EQ(abort_body("r1"), R"({"request_ids":["generate-tokens-r1"]})");
}

}  // namespace
}  // namespace verbatim::engine::vllm
