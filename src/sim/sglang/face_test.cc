// What differs between the releases of SGLang that are played, by the pull requests that profile.h
// names. No server was recorded.

#include <string>

#include <gtest/gtest.h>

#include "json/value.h"
#include "sim/testing/scene.h"

namespace verbatim::sim::sglang {
namespace {

using testing::Answered;

constexpr const char* kChat =
    R"({"messages":[{"role":"user","content":"hello"}],"input_ids":[1,2,3],"logprobs":true,)"
    R"("return_meta_info":true,"return_prompt_token_ids":true,"return_token_ids":true})";

Answered ask(const char* profile, const char* path, const char* body) {
  return testing::answer_to(
      [&](SimOptions& options) {
        options.profile = profile;
        options.behaviour = Behaviour::kFixedText;
      },
      path, body);
}

// A member of the only choice, as it is written; "" where there is none.
std::string in_choice(const Answered& answered, const char* name) {
  const auto document = json::Document::parse(answered.body);
  if (!document.ok() || answered.status != 200) return "";
  const json::Value choice = (*document->root().get("choices")->begin()).value;
  const auto member = choice.get(name);
  return member ? std::string(member->raw()) : "";
}

TEST(SglangProfiles, chat_takes_ids_from_0_5_13_on_and_ignores_them_before) {
  const auto old = ask("0.5.10", "/v1/chat/completions", kChat);
  EXPECT_EQ(old.status, 200) << "without a word";
  EXPECT_EQ(in_choice(old, "prompt_token_ids"), "");
  EXPECT_EQ(in_choice(old, "meta_info"), "");
  EXPECT_EQ(old.body.find("\"prompt_tokens\":3,"), std::string::npos) << old.body;
  for (const char* profile : {"0.5.13", "0.5.16", "0.5.18"}) {
    const auto now = ask(profile, "/v1/chat/completions", kChat);
    EXPECT_EQ(in_choice(now, "prompt_token_ids"), "[1,2,3]") << profile;
    EXPECT_NE(in_choice(now, "meta_info"), "") << profile;
    EXPECT_NE(now.body.find("\"prompt_tokens\":3,"), std::string::npos) << now.body;
  }
}

TEST(SglangProfiles, a_chat_without_ids_is_streamed) {
  const auto answer =
      ask("0.5.18", "/v1/chat/completions",
          R"({"model":"sim","messages":[{"role":"user","content":"x"}],"stream":true})");
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.body.ends_with("data: [DONE]\n\n")) << answer.body;
}

TEST(SglangProfiles, meta_info_comes_where_it_is_asked_for) {
  const auto plain = ask("0.5.18", "/v1/chat/completions",
                         R"({"messages":[{"role":"user","content":"x"}],"input_ids":[1]})");
  EXPECT_EQ(plain.status, 200);
  EXPECT_EQ(in_choice(plain, "meta_info"), "");
}

TEST(SglangProfiles, chat_names_its_ids_from_0_5_16_on) {
  EXPECT_EQ(in_choice(ask("0.5.13", "/v1/chat/completions", kChat), "token_ids"), "");
  EXPECT_NE(in_choice(ask("0.5.16", "/v1/chat/completions", kChat), "token_ids"), "");
}

TEST(SglangProfiles, weights_come_as_spans_from_0_5_18_on) {
  const char* body = R"({"input_ids":[1,2,3],"return_logprob":true})";
  const auto old = ask("0.5.16", "/generate", body);
  EXPECT_EQ(old.body.find("weight_versions"), std::string::npos);
  EXPECT_NE(old.body.find(R"("weight_version":"default")"), std::string::npos);
  const auto now = ask("0.5.18", "/generate", body);
  EXPECT_NE(now.body.find(R"("weight_versions":[{"version":"default","start":0,"end":)"),
            std::string::npos)
      << now.body;
  EXPECT_NE(now.body.find(R"("weight_version":"default")"), std::string::npos);
}

TEST(SglangProfiles, a_cache_salt_is_known_from_0_5_18_on) {
  const char* body = R"({"input_ids":[1,2,3],"cache_salt":"tenant"})";
  EXPECT_EQ(ask("0.5.16", "/generate", body).status, 400);
  EXPECT_EQ(ask("0.5.18", "/generate", body).status, 200);
}

TEST(SglangProfiles, each_says_its_release) {
  for (const char* profile : {"0.5.10", "0.5.13", "0.5.16", "0.5.18"}) {
    testing::Scene scene;
    scene.options.profile = profile;
    Answered info;
    ASSERT_TRUE(scene.run([&](testing::Scene& s) -> base::Task<void> {
      info = co_await s.call("GET", "/server_info");
    }));
    EXPECT_NE(info.body.find("\"version\":\"" + std::string(profile) + "\""), std::string::npos);
  }
}

}  // namespace
}  // namespace verbatim::sim::sglang
