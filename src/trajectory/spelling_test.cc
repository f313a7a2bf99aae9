#include "trajectory/spelling.h"

#include <gtest/gtest.h>

#include "trajectory/equality.h"

namespace verbatim::trajectory {
namespace {

using message::Message;
using message::Role;
using message::ToolCall;

Spelling shell() {
  Spelling spelling;
  spelling.scalars_in_strings = true;
  spelling.prefixes = {{"command", "cd ", " && "}};
  return spelling;
}

Spelling dated() {
  Spelling spelling;
  spelling.volatile_lines = {"Date:", "Build:"};
  return spelling;
}

Message said(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

Digest digest(const Message& message, const Spelling* spelling) {
  DigestBuilder builder("key");
  return extend(builder, Digest{}, message, spelling);
}

TEST(Spelling, a_value_loses_what_it_may_begin_with_in_one_line_as_often_as_it_does) {
  const Spelling spelling = shell();
  struct Row {
    const char* value;
    const char* left;
  };
  for (const auto& [value, left] : std::vector<Row>{{"ls", "ls"},
                                                    {"cd /a && ls", "ls"},
                                                    {"cd '/a b' && cd c && ls", "ls"},
                                                    {"cd /a && ", ""},
                                                    {"cd /a", "cd /a"},
                                                    {"cd /a\nls && pwd", "cd /a\nls && pwd"},
                                                    {" cd /a && ls", " cd /a && ls"},
                                                    {"cd  && ls", "ls"},
                                                    {"", ""}}) {
    const auto found = without_prefixes(spelling, "command", value);
    EXPECT_EQ(found, left) << value;
    EXPECT_EQ(without_prefixes(spelling, "command", found), found) << "once is enough: " << value;
  }
  EXPECT_EQ(without_prefixes(spelling, "description", "cd /a && ls"), "cd /a && ls");
}

TEST(Spelling, of_volatile_lines_the_beginning_counts) {
  const Spelling spelling = dated();
  struct Row {
    const char* text;
    const char* settled;
  };
  for (const auto& [text, settled] :
       std::vector<Row>{{"", ""},
                        {"a\nb", "a\nb"},
                        {"Date: Monday", "Date:"},
                        {"a\n  Date: Monday\n\nBuild: 7\n", "a\n  Date:\n\nBuild:\n"},
                        {"The Date: Monday", "The Date: Monday"},
                        {"date: Monday", "date: Monday"}}) {
    EXPECT_EQ(settled_text(spelling, text), settled) << text;
  }
}

TEST(Spelling, other_rules_are_other_words_and_no_rule_is_none) {
  std::vector<std::string> all{shell().rules(), dated().rules()};
  Spelling other = shell();
  other.scalars_in_strings = false;
  all.push_back(other.rules());
  other.prefixes[0].argument = "cmd";
  all.push_back(other.rules());
  Spelling lines;
  lines.volatile_lines = {"Date:Build:"};
  all.push_back(lines.rules());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NE(all[i], "");
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(all[i], all[k]);
  }
  EXPECT_EQ(Spelling{}.rules(), "");
}

TEST(Spelling, arguments_are_equal_where_the_agent_says_so) {
  const Spelling spelling = shell();
  const auto same = [&](const char* a, const char* b) {
    return canonical_arguments(a, &spelling) == canonical_arguments(b, &spelling);
  };
  EXPECT_TRUE(same(R"({"timeout":"1000","command":"cd /a && ls"})",
                   R"({"command":"ls","timeout":1000.0})"));
  EXPECT_TRUE(same(R"({"all":"false"})", R"({"all":false})"));
  EXPECT_TRUE(same(R"({"x":"-1.50e1"})", R"({"x":-15})"));
  EXPECT_FALSE(same(R"({"x":"1 "})", R"({"x":1})")) << "no number";
  EXPECT_FALSE(same(R"({"x":"007"})", R"({"x":7})")) << "no number of JSON";
  EXPECT_FALSE(same(R"({"x":"null"})", R"({"x":null})"));
  EXPECT_FALSE(same(R"({"x":["1"]})", R"({"x":[1]})")) << "arguments alone";
  EXPECT_FALSE(same(R"({"command":"cd /a && ls"})", R"({"command":"pwd"})"));
  EXPECT_FALSE(same(R"({"a":1,"a":2})", R"({"a":2})"));
  EXPECT_TRUE(same("", "{}"));
  EXPECT_NE(canonical_arguments(R"({"x":"1"})"), canonical_arguments(R"({"x":1})"));
}

TEST(Spelling, a_call_with_another_value_must_have_its_id) {
  const Spelling spelling = shell();
  const ToolCall given{"call_1", "Bash", R"({"command":"cd /a && ls"})"};
  ToolCall sent{"call_1", "Bash", R"({"command": "ls"})"};
  EXPECT_EQ(match_arguments(given, sent, &spelling), Match::kSpelled);
  EXPECT_EQ(match_arguments(given, sent, nullptr), Match::kDifferent);
  sent.id = "call_2";
  EXPECT_EQ(match_arguments(given, sent, &spelling), Match::kDifferent);
  sent.arguments = R"({ "command": "cd /a && ls" })";
  EXPECT_EQ(match_arguments(given, sent, &spelling), Match::kEqual) << "the value is the same";
}

TEST(Spelling, volatile_lines_are_those_of_system_and_developer_messages) {
  const Spelling spelling = dated();
  for (const auto role : {Role::kSystem, Role::kDeveloper, Role::kUser, Role::kTool}) {
    const bool once = role == Role::kSystem || role == Role::kDeveloper;
    const auto monday = said(role, "Be kind.\nDate: Monday");
    const auto tuesday = said(role, "Be kind.\nDate: Tuesday");
    EXPECT_EQ(match_texts(monday, tuesday, &spelling), once ? Match::kSpelled : Match::kDifferent);
    EXPECT_EQ(digest(monday, &spelling) == digest(tuesday, &spelling), once);
    EXPECT_EQ(match_texts(monday, tuesday, nullptr), Match::kDifferent);
    EXPECT_EQ(match_texts(monday, said(role, "Be kind."), &spelling), Match::kDifferent)
        << "the line is missing";
  }
}

// Where digests under a spelling are equal, messages match; where messages match, digests are
// equal.
TEST(Spelling, digests_and_matches_agree) {
  Spelling spelling = shell();
  spelling.volatile_lines = dated().volatile_lines;
  std::vector<Message> all;
  for (const char* text : {"", "a", "Date: 1", "Date: 2", " Date: 1", "Date:\nx", "Date: y\nx"}) {
    all.push_back(said(Role::kSystem, text));
  }
  for (const char* arguments :
       {"", "{}", R"({"command":"ls"})", R"({"command":"cd /a && ls"})",
        R"({"command":"cd /b && ls"})", R"({"command":"1"})", R"({"command":1.0})",
        R"({"command":"cd /a && true"})", R"({"command":true})", R"({"command":"cd"})"}) {
    all.push_back(said(Role::kAssistant, "x"));
    all.back().tool_calls = {{"call_1", "Bash", arguments}};
  }
  for (const auto& one : all) {
    for (const auto& other : all) {
      if (one.role != other.role) continue;
      const bool calls = !one.tool_calls.empty();
      const Match match = calls ? match_arguments(one.tool_calls[0], other.tool_calls[0], &spelling)
                                : match_texts(one, other, &spelling);
      EXPECT_EQ(digest(one, &spelling) == digest(other, &spelling), match != Match::kDifferent)
          << (calls ? one.tool_calls[0].arguments + other.tool_calls[0].arguments
                    : one.text + other.text);
    }
  }
}

}  // namespace
}  // namespace verbatim::trajectory
