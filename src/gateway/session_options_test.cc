#include "gateway/session_options.h"

#include <gtest/gtest.h>

#include "gateway/testing/toy_model.h"

namespace verbatim::gateway {
namespace {

const Model& model() {
  static const auto kModel = testing::toy_model();
  return *kModel;
}

SessionRequest accepted(const std::string& body) {
  auto request = read_session_request(body, model());
  EXPECT_TRUE(request.ok()) << body << ": " << (request ? "" : request.error().message);
  return request ? *request : SessionRequest{};
}

TEST(SessionOptions, nothing_asked_is_all_as_usual) {
  for (const char* body : {"", " \r\n", "{}", R"({"mode":null,"limits":null,"metadata":null})",
                           R"({"mode":"tree","retention":"keep","equality":"value"})",
                           R"({"model":"toy","encoding_policy":"injection_safe"})"}) {
    const auto request = accepted(body);
    EXPECT_EQ(request.options, SessionOptions{}) << body;
    EXPECT_EQ(request.options.text(), "") << body;
    EXPECT_EQ(request.metadata, "") << body;
    EXPECT_FALSE(request.secret);
  }
}

TEST(SessionOptions, what_is_kept_as_text_reads_back_as_it_was) {
  const auto request = accepted(R"({"mode":"linear","mode":"strict","equality":"exact",
    "retention":"template","client_profile":"none","chat_template_kwargs":{"enable_thinking":false,"x":[1]},
    "sampling":{"temperature":0.70,"max_tokens":9,"stop":["a"],"seed":null},
    "limits":{"turns":1,"tokens":2,"bytes":3,"seconds":4},"metadata":{"run": 1},"secret":true})");
  EXPECT_EQ(request.options.rules.mode, SessionMode::kStrict) << "of equal names the last counts";
  EXPECT_EQ(request.options.rules.equality, trajectory::Equality::kExact);
  EXPECT_EQ(request.options.rules.retention, Retention::kTemplate);
  EXPECT_EQ(request.options.client_profile, "none");
  EXPECT_EQ(request.options.sampling, R"({"temperature":0.70,"max_tokens":9,"stop":["a"]})");
  EXPECT_EQ(request.options.limits.seconds, 4U);
  EXPECT_EQ(request.metadata, R"({"run": 1})");
  EXPECT_TRUE(request.secret);
  const auto back = options_from_text(request.options.text());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, request.options);
  EXPECT_EQ(back->text(), request.options.text());
}

// As json has it: the last counts, what stands before it is as if it were not there.
TEST(SessionOptions, of_equal_names_the_last_counts_at_every_depth) {
  struct Row {
    const char* body;
    const char* plain;
  };
  const std::vector<Row> rows{
      {R"({"mode":"linear","mode":"tree"})", "{}"},
      {R"({"mode":"linear","mode":null})", "{}"},
      {R"({"mode":"graph","mode":"strict"})", R"({"mode":"strict"})"},
      {R"({"limits":{"turns":5},"limits":{"tokens":6}})", R"({"limits":{"tokens":6}})"},
      {R"({"limits":{"turns":5,"turns":7}})", R"({"limits":{"turns":7}})"},
      {R"({"limits":{"turns":5,"turns":null}})", "{}"},
      {R"({"limits":{"turns":"x","turns":7}})", R"({"limits":{"turns":7}})"},
      {R"({"sampling":{"seed":1,"seed":2}})", R"({"sampling":{"seed":2}})"},
      {R"({"sampling":{"seed":"x","seed":null}})", "{}"},
      {R"({"secret":true,"secret":false})", "{}"},
      {R"({"metadata":7,"metadata":{"a":1}})", R"({"metadata":{"a":1}})"}};
  for (const auto& row : rows) {
    const auto request = accepted(row.body);
    const auto plain = accepted(row.plain);
    EXPECT_EQ(request.options, plain.options) << row.body;
    EXPECT_EQ(request.metadata, plain.metadata) << row.body;
    EXPECT_EQ(request.secret, plain.secret) << row.body;
  }
}

TEST(SessionOptions, what_is_wrong_is_refused_naming_the_option_and_what_is_allowed) {
  struct Row {
    const char* body;
    const char* field;
    const char* allowed;
  };
  const std::vector<Row> rows{
      {"[]", "", "an object"},
      {R"({"mod":"tree"})", "mod", "mode, equality"},
      {R"({"mode":"graph"})", "mode", "tree, linear, strict"},
      {R"({"mode":1})", "mode", "tree, linear, strict"},
      {R"({"equality":"loose"})", "equality", "value, exact"},
      {R"({"retention":true})", "retention", "keep, template"},
      {R"({"client_profile":"cursor"})", "client_profile", "auto, none, claude-code, opencode"},
      {R"({"client_profile":""})", "client_profile", "auto, none"},
      {R"({"client_profile":{}})", "client_profile", "a string"},
      {R"({"client_profile":"auto","equality":"exact"})", "client_profile", "none"},
      {R"({"encoding_policy":"none"})", "encoding_policy", "injection_safe, hf_exact"},
      {R"({"encoding_policy":"hf_exact"})", "encoding_policy", "injection_safe for all sessions"},
      {R"({"model":"other"})", "model", "toy"},
      {R"({"chat_template_kwargs":[]})", "chat_template_kwargs", "an object"},
      {R"({"chat_template_kwargs":{"messages":[]}})", "chat_template_kwargs.messages", ""},
      {R"({"sampling":{"messages":[]}})", "sampling.messages", "temperature"},
      {R"({"sampling":{"n":2}})", "sampling.n", "temperature"},
      {R"({"sampling":{"temperature":-1}})", "sampling.temperature", ">= 0"},
      {R"({"sampling":7})", "sampling", "an object"},
      {R"({"limits":{"turn":1}})", "limits.turn", "turns, tokens, bytes, seconds"},
      {R"({"limits":{"turns":0}})", "limits.turns", ">= 1"},
      {R"({"limits":{"tokens":1.5}})", "limits.tokens", "integer"},
      {R"({"metadata":"x"})", "metadata", "an object"},
      {R"({"secret":"mine"})", "secret", "boolean"},
  };
  for (const auto& row : rows) {
    const auto request = read_session_request(row.body, model());
    ASSERT_FALSE(request.ok()) << row.body;
    EXPECT_EQ(request.error().field, row.field) << row.body << ": " << request.error().message;
    EXPECT_NE(request.error().message.find(row.allowed), std::string::npos)
        << row.body << ": " << request.error().message;
  }
}

TEST(SessionOptions, a_body_that_is_no_json_or_too_large_is_refused) {
  EXPECT_FALSE(read_session_request("{", model()).ok());
  EXPECT_FALSE(read_session_request("\xff", model()).ok());
  const std::string long_text(70'000, 'x');
  const auto metadata =
      read_session_request(R"({"metadata":{"a":")" + long_text + R"("}})", model());
  ASSERT_FALSE(metadata.ok());
  EXPECT_EQ(metadata.error().field, "metadata");
  EXPECT_FALSE(read_session_request(std::string(300'000, ' ') + "{}", model()).ok());
}

TEST(SessionOptions, the_sessions_values_take_the_place_of_the_clients) {
  const auto options = accepted(R"({"sampling":{"temperature":1.0,"max_tokens":5},
                                    "chat_template_kwargs":{"a":1}})")
                           .options;
  const auto body = with_session_values(
      R"({"messages":[],"temperature":0.1,"max_completion_tokens":99,"n":3,"top_p":0.5,)"
      R"("chat_template_kwargs":{"a":2,"b":3}})",
      options);
  EXPECT_EQ(body.value(), R"({"messages":[],"top_p":0.5,"temperature":1.0,"max_tokens":5,)"
                          R"("chat_template_kwargs":{"a":1,"b":3}})");
  const auto plain = with_session_values(R"({"messages":[],"n":2,"x":1})", SessionOptions{});
  EXPECT_EQ(plain.value(), R"({"messages":[],"x":1})");
}

TEST(SessionOptions, a_server_without_prompts_refuses_what_needs_them) {
  Model messages;
  messages.name = "toy";
  ASSERT_TRUE(messages.by_messages());
  for (const char* body : {R"({"encoding_policy":"injection_safe"})", R"({"retention":"template"})",
                           R"({"limits":{"tokens":5}})"}) {
    const auto refused = read_session_request(body, messages);
    ASSERT_FALSE(refused.ok()) << body;
    EXPECT_EQ(refused.error().kind, base::ErrorKind::kUnsupported);
  }
  EXPECT_TRUE(read_session_request(R"({"mode":"linear","limits":{"turns":5}})", messages).ok());
}

TEST(SessionOptions, text_that_is_none_of_ours_is_an_error) {
  for (const char* text : {"{", "[]", R"({"mode":"graph"})", R"({"metadata":{}})"})
    EXPECT_FALSE(options_from_text(text).ok()) << text;
}

}  // namespace
}  // namespace verbatim::gateway
