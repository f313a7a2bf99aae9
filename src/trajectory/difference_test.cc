#include "trajectory/difference.h"

#include <gtest/gtest.h>

namespace verbatim::trajectory {
namespace {

using message::Message;
using message::Role;

Message said(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

// user "u1", assistant with reasoning and a call, tool, assistant "a2".
TurnPtr recorded() {
  auto first = std::make_shared<Turn>();
  first->messages = {said(Role::kUser, "u1")};
  first->answer = said(Role::kAssistant, "a1");
  first->answer.reasoning = "hm";
  first->answer.tool_calls = {{"call_1", "look", R"({"a": 1, "b": [2]})"}};
  auto second = std::make_shared<Turn>();
  second->parent = first;
  second->messages = {said(Role::kTool, "42")};
  second->answer = said(Role::kAssistant, "a2");
  return second;
}

std::vector<Message> history() {
  return messages_of(recorded());
}

std::string where(const std::vector<Message>& sent) {
  const auto found = first_difference(recorded(), sent);
  return found ? std::to_string(found->message) + "." + found->field : "";
}

TEST(Difference, there_is_none_where_spellings_alone_differ) {
  auto sent = history();
  EXPECT_EQ(where(sent), "");
  sent[1].reasoning.reset();
  sent[1].text = " a1\n";
  sent[1].tool_calls[0].id = "another";
  sent[1].tool_calls[0].arguments = R"({"b":[2.0],"a":1})";
  sent.push_back(said(Role::kUser, "more"));
  EXPECT_EQ(where(sent), "");
}

TEST(Difference, names_the_first_message_and_its_field) {
  struct Row {
    const char* expected;
    void (*edit)(std::vector<Message>&);
  };
  const std::vector<Row> rows{
      {"0.role", [](auto& m) { m[0].role = Role::kSystem; }},
      {"0.content", [](auto& m) { m[0].text = "u1 "; }},
      {"0.content", [](auto& m) { m[0].unknown = {{std::string(message::kParts), "[1]"}}; }},
      {"0.name", [](auto& m) { m[0].name = "ann"; }},
      {"1.content", [](auto& m) { m[1].text = "b"; }},
      {"1.reasoning_content", [](auto& m) { m[1].reasoning = "no"; }},
      {"1.tool_calls[0].function.name", [](auto& m) { m[1].tool_calls[0].name = "see"; }},
      {"1.tool_calls[0].function.arguments", [](auto& m) { m[1].tool_calls[0].arguments = "{}"; }},
      {"1.tool_calls", [](auto& m) { m[1].tool_calls.clear(); }},
      {"1.tool_calls", [](auto& m) { m[1].tool_calls.push_back({"", "x", "{}"}); }},
      {"2.content", [](auto& m) { m[2].text = "43"; }},
      {"3.missing", [](auto& m) { m.pop_back(); }},
      {"0.missing", [](auto& m) { m.clear(); }},
  };
  for (const auto& row : rows) {
    auto sent = history();
    row.edit(sent);
    EXPECT_EQ(where(sent), row.expected);
  }
}

}  // namespace
}  // namespace verbatim::trajectory
