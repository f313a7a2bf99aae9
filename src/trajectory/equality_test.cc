#include "trajectory/equality.h"

#include <vector>

#include <gtest/gtest.h>

namespace verbatim::trajectory {
namespace {

using message::Message;
using message::Role;

Message make(Role role, std::string text) {
  Message m;
  m.role = role;
  m.text = std::move(text);
  return m;
}

Message call(std::string name, std::string arguments, std::string id = "call_1") {
  Message m = make(Role::kAssistant, "");
  m.tool_calls.push_back({std::move(id), std::move(name), std::move(arguments)});
  return m;
}

Digest digest(const Message& message) {
  DigestBuilder builder("key");
  return extend(builder, Digest{}, message);
}

TEST(CanonicalArguments, are_equal_for_spellings_of_one_value) {
  const std::vector<std::vector<std::string>> classes{
      {R"({"city": "Rome"})", R"({"city":"Rome"})", R"({ "city" : "\u0052ome" })",
       "\n{\"city\":\"Rome\"} "},
      {R"({"a":1,"b":2})", R"({"b":2.0,"a":1e0})", R"({"b":20e-1,"a":0.1E1})"},
      {"", "null", "{}", "  {} ", "{ }"},
      {R"({"n":0})", R"({"n":-0})", R"({"n":0.000})", R"({"n":0e5})"},
      {R"({"n":1e999999})", R"({"n":10E999998})", R"({"n":0.1e1000000})"},
      {R"({"n":18446744073709551616})", R"({"n":18446744073709551616.0})"},
      {R"({"s":"\ud83d\ude00"})", "{\"s\":\"\U0001F600\"}"}};
  for (const auto& spellings : classes) {
    for (const auto& spelling : spellings)
      EXPECT_EQ(canonical_arguments(spelling), canonical_arguments(spellings.front())) << spelling;
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    for (std::size_t k = i + 1; k < classes.size(); ++k)
      EXPECT_NE(canonical_arguments(classes[i][0]), canonical_arguments(classes[k][0]));
  }
}

TEST(CanonicalArguments, tell_values_apart) {
  const std::vector<std::string> values{R"({"a":1})",
                                        R"({"a":"1"})",
                                        R"({"a":true})",
                                        R"({"a":null})",
                                        R"({"a":[1,2]})",
                                        R"({"a":[2,1]})",
                                        R"({"a":[[1],2]})",
                                        R"({"a":1.5})",
                                        R"({"a":15})",
                                        R"({"a":-1})",
                                        R"({"a":"e\u0301"})",
                                        "{\"a\":\"\u00e9\"}",
                                        R"({"A":1})",
                                        R"([1])",
                                        R"({"a":" "})",
                                        R"({"a":""})",
                                        R"({"a":{}})",
                                        R"({"a":[]})",
                                        R"("a")",
                                        R"({"a":1,"b":1})"};
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = i + 1; k < values.size(); ++k)
      EXPECT_NE(canonical_arguments(values[i]), canonical_arguments(values[k]))
          << values[i] << ' ' << values[k];
  }
}

TEST(CanonicalArguments, compare_what_is_no_unique_value_as_raw_text) {
  EXPECT_EQ(canonical_arguments("{\"city\": "), "raw:{\"city\": ");
  EXPECT_NE(canonical_arguments(R"({"a":1,"a":2})"), canonical_arguments(R"({"a":2})"));
  EXPECT_NE(canonical_arguments(R"({"a":1,"a":2})"), canonical_arguments(R"({"a":1, "a":2})"));
  EXPECT_NE(canonical_arguments(R"({"n":1e9999999999999999999})"),
            canonical_arguments(R"({"n":10e9999999999999999998})"));
}

TEST(TrimWhitespace, removes_what_javascript_and_python_remove) {
  EXPECT_EQ(trim_whitespace(" \t\n\v\f\r\u00a0\u1680\u2003\u2028\u3000\ufeff\x1c\u0085x y\u2029 "),
            "x y");
  EXPECT_EQ(trim_whitespace("\u200bx\u200b"), "\u200bx\u200b")
      << "a zero width space is no white space to either";
  EXPECT_EQ(trim_whitespace(" \u3000"), "");
  EXPECT_EQ(trim_whitespace(""), "");
}

TEST(Digests, ignore_ids_reasoning_and_outer_whitespace_of_an_answer) {
  Message a = call("look", R"({"k":1})", "call_1");
  a.text = "Looking.";
  Message b = call("look", R"({ "k": 1.0 })", "other");
  b.text = "Looking.\n ";
  b.reasoning = "hm";
  b.unknown.emplace_back("annotations", "[1]");
  EXPECT_EQ(digest(a), digest(b));
}

TEST(Digests, tell_histories_apart) {
  std::vector<Message> all{make(Role::kUser, "a"),      make(Role::kUser, "a "),
                           make(Role::kSystem, "a"),    make(Role::kTool, "a"),
                           make(Role::kAssistant, "a"), make(Role::kUser, ""),
                           call("look", R"({"k":1})"),  call("look", R"({"k":2})"),
                           call("look2", R"({"k":1})"), call("look", "{")};
  all.push_back(call("look", R"({"k":1})"));
  all.back().tool_calls.push_back(all.back().tool_calls.front());
  all.push_back(make(Role::kUser, "a"));
  all.back().name = "bob";
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k)
      EXPECT_NE(digest(all[i]), digest(all[k])) << i << ' ' << k;
  }
}

Message looking(std::string parts) {
  Message message = make(Role::kUser, "look");
  message.unknown = {{std::string(message::kParts), std::move(parts)}};
  return message;
}

TEST(Digests, tell_images_apart_and_ignore_how_their_parts_are_written) {
  const auto red = looking(R"([{"type":"image_url","image_url":{"url":"data:red"}}])");
  const auto blue = looking(R"([{"type":"image_url","image_url":{"url":"data:blue"}}])");
  const auto again = looking(R"([ {"image_url": {"url": "data:\u0072ed"}, "type": "image_url"} ])");
  EXPECT_NE(digest(red), digest(blue));
  EXPECT_NE(digest(red), digest(make(Role::kUser, "look")));
  EXPECT_EQ(digest(red), digest(again));
  EXPECT_TRUE(same_parts(red, again));
  EXPECT_FALSE(same_parts(red, blue));
  EXPECT_FALSE(same_parts(red, make(Role::kUser, "look")));
}

TEST(Digests, chain_over_the_history_and_depend_on_the_key) {
  const std::vector<Message> messages{make(Role::kUser, "a"), make(Role::kUser, "b")};
  DigestBuilder one("key");
  DigestBuilder two("another");
  const auto first = chain(one, Digest{}, messages);
  EXPECT_EQ(first, chain(one, Digest{}, messages)) << "a builder can be used again";
  EXPECT_NE(first, chain(two, Digest{}, messages));
  EXPECT_NE(chain(one, first[0], messages)[0], first[0]);
  EXPECT_EQ(extend(one, first[0], messages[1]), first[1]);
}

TEST(Digests, keep_fields_apart_whose_texts_join_alike) {
  EXPECT_NE(digest(call("ab", "c")), digest(call("a", "bc")));
}

TEST(Reasoning, that_is_absent_on_either_side_matches) {
  Message stored = make(Role::kAssistant, "x");
  Message sent = stored;
  EXPECT_EQ(match_reasoning(stored, sent), ReasoningMatch::kAbsent);
  stored.reasoning = "hm";
  EXPECT_EQ(match_reasoning(stored, sent), ReasoningMatch::kAbsent);
  sent.reasoning = "\nhm ";
  EXPECT_EQ(match_reasoning(stored, sent), ReasoningMatch::kEqual);
  sent.reasoning = "no";
  EXPECT_EQ(match_reasoning(stored, sent), ReasoningMatch::kDifferent);
}

}  // namespace
}  // namespace verbatim::trajectory
