#include "gateway/conversation.h"

#include <gtest/gtest.h>

namespace verbatim::gateway {
namespace {

using message::Message;
using message::Role;

Message said(Role role, std::string text) {
  return {.role = role, .text = std::move(text)};
}

TEST(ConversationOf, the_history_is_the_recorded_one_and_new_results_have_its_ids) {
  auto parent = std::make_shared<trajectory::Turn>();
  auto root = std::make_shared<trajectory::RootInfo>();
  root->model = "m";
  parent->root = root;
  parent->messages = {said(Role::kUser, "weather?")};
  parent->answer = said(Role::kAssistant, "");
  parent->answer.reasoning = "hm";
  parent->answer.tool_calls = {{"fc_1", "f", "{}"}, {"fc_2", "f", "{}"}};
  parent->answer.unknown = {{std::string(protocol::kItems), "[]"}};
  parent->message_count = 2;

  // As an agent repeats it: without reasoning, under ids of its own.
  TurnRequest request;
  request.messages = {said(Role::kUser, "weather?"), said(Role::kAssistant, ""),
                      said(Role::kTool, "rain"), said(Role::kTool, "sun"),
                      said(Role::kTool, "what?")};
  request.messages[1].tool_calls = {{"a", "f", "{ }"}, {"b", "f", "{}"}};
  request.messages[2].tool_call_id = "b";
  request.messages[3].tool_call_id = "a";
  request.messages[4].tool_call_id = "c";
  request.parameters = {{"seed", "1"}};
  request.stream = true;
  Plan plan;
  plan.parent = parent;
  plan.root = root;
  plan.suffix = 2;

  const auto conversation = conversation_of(request, plan);
  ASSERT_EQ(conversation.messages.size(), 5U);
  EXPECT_EQ(conversation.messages[1], parent->answer);
  EXPECT_EQ(conversation.messages[2].tool_call_id, "fc_2");
  EXPECT_EQ(conversation.messages[3].tool_call_id, "fc_1");
  EXPECT_EQ(conversation.messages[4].tool_call_id, "c");
  EXPECT_EQ(conversation.model, "m");
  EXPECT_EQ(conversation.parameters, request.parameters);
  EXPECT_TRUE(conversation.stream);
}

}  // namespace
}  // namespace verbatim::gateway
