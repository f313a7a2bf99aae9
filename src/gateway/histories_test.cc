// What agents made of their history, request by request (testing/histories): each goes on behind
// the turn before it, and what only a profile makes equal starts anew without it.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "gateway/testing/scene.h"
#include "json/object_reader.h"
#include "protocol/chat_request.h"

namespace verbatim::gateway {
namespace {

using testing::Scene;
using trajectory::TurnPtr;

struct Step {
  std::string attach;           // the reason
  std::string without_profile;  // the reason where the agent has no profile
  std::string said;
  std::string messages;  // JSON; ids of calls are "$0", "$1" ... in the order they were given
};

struct History {
  std::string user_agent;
  std::string tools;  // JSON
  std::vector<Step> steps;
};

History read_history(const std::string& name) {
  std::ifstream in("src/gateway/testing/histories/" + name + ".json");
  std::stringstream text;
  text << in.rdbuf();
  const auto document = json::Document::parse(text.str()).value();
  std::optional<base::Error> error;
  json::ObjectReader r(document.root(), name, error);
  r.only({"agent", "user_agent", "about", "tools", "turns"});
  History history;
  history.user_agent = r.required("user_agent");
  history.tools = document.root().get("tools")->raw();
  for (const auto& turn : r.elements("turns")) {
    json::ObjectReader step(turn, name, error);
    step.only({"attach", "without_profile", "said", "messages"});
    const std::string attach = step.required("attach");
    history.steps.push_back({attach, step.text("without_profile").value_or(attach),
                             step.required("said"), std::string(turn.get("messages")->raw())});
  }
  EXPECT_FALSE(error) << error->message;
  return history;
}

std::string with_ids(std::string text, const std::vector<TurnPtr>& turns) {
  std::size_t number = 0;
  for (const auto& turn : turns) {
    for (const auto& call : turn->answer.tool_calls) {
      const std::string mark = "\"$" + std::to_string(number++) + "\"";
      for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
        text.replace(at, mark.size(), "\"" + call.id + "\"");
    }
  }
  return text;
}

TurnRequest request_of(const History& history, const Step& step,
                       const std::vector<TurnPtr>& turns) {
  auto read = protocol::read_chat_request(
      "{\"messages\": " + with_ids(step.messages, turns) + ", \"tools\": " + history.tools + "}",
      {});
  EXPECT_TRUE(read.ok()) << read.error().message;
  auto request = Scene::request(std::move(read->messages));
  request.tools = std::move(read->tools);
  return request;
}

std::vector<TurnPtr> play(const History& history, const trajectory::Spelling* spelling) {
  Scene scene;
  std::vector<TurnPtr> turns;
  for (const auto& step : history.steps) {
    auto request = request_of(history, step, turns);
    request.spelling = spelling;
    turns.push_back(scene.recorded(std::move(request), step.said + "<|im_end|>"));
  }
  return turns;
}

class Histories : public ::testing::TestWithParam<const char*> {};

TEST_P(Histories, each_request_goes_on_behind_the_turn_before_it) {
  const auto history = read_history(GetParam());
  const ClientProfiles profiles;
  const auto turns = play(history, profiles.spelling("auto", history.user_agent).value());
  ASSERT_GE(turns.size(), 2U);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    EXPECT_EQ(turns[i]->parent, i == 0 ? nullptr : turns[i - 1]) << "turn " << i;
    EXPECT_EQ(turns[i]->attach.reason, history.steps[i].attach) << "turn " << i;
    EXPECT_FALSE(turns[i]->attach.difference) << "turn " << i;
  }
}

TEST_P(Histories, without_a_profile_what_it_makes_equal_starts_anew) {
  const auto history = read_history(GetParam());
  const auto turns = play(history, nullptr);
  for (std::size_t i = 0; i < turns.size(); ++i)
    EXPECT_EQ(turns[i]->attach.reason, history.steps[i].without_profile) << "turn " << i;
}

INSTANTIATE_TEST_SUITE_P(Agents, Histories,
                         ::testing::Values("claude-code", "codex", "langchain-openai",
                                           "openai-agents", "opencode", "pydantic-ai"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The tokens that were sampled stay what the model sees, whatever the agent makes of them.
TEST(HistoriesOfAgents, what_was_recorded_is_sent_up_and_kept) {
  const auto history = read_history("claude-code");
  const ClientProfiles profiles;
  const auto turns = play(history, profiles.spelling("claude-code", "").value());
  const auto row = trajectory::row_of(turns[0]);
  const auto prompt = trajectory::prompt_of(turns[1]);
  ASSERT_GT(prompt.size(), row.size());
  EXPECT_TRUE(std::equal(row.begin(), row.end(), prompt.begin()));
  const auto messages = trajectory::messages_of(turns.back());
  EXPECT_NE(messages[2].tool_calls[0].arguments.find("cd /srv/work && ls"), std::string::npos);
  EXPECT_NE(messages[0].text.find("2.1.332.a1f"), std::string::npos) << "the system text as it was";
}

TEST(HistoriesOfAgents, another_call_with_a_value_that_the_profile_makes_equal_starts_anew) {
  const auto history = read_history("claude-code");
  const ClientProfiles profiles;
  Scene scene;
  auto first = request_of(history, history.steps[0], {});
  first.spelling = profiles.spelling("claude-code", "").value();
  const std::vector<TurnPtr> turns{scene.recorded(first, history.steps[0].said + "<|im_end|>")};
  auto second = request_of(history, history.steps[1], turns);
  second.spelling = first.spelling;
  for (auto& message : second.messages) {
    for (auto& call : message.tool_calls) call.id = "call_of_its_own";
  }
  const auto plan = scene.plan(second).value();
  EXPECT_EQ(plan.parent, nullptr);
  EXPECT_EQ(plan.attach.difference,
            (trajectory::Difference{2, "tool_calls[0].function.arguments"}));
}

TEST(HistoriesOfAgents, another_profile_in_mid_session_makes_a_root_that_says_so) {
  Scene scene;
  const ClientProfiles profiles;
  const auto parent = scene.recorded(Scene::request({chat::testing::user("1")}), "a<|im_end|>");
  auto next = Scene::continued(parent, chat::testing::user("2"));
  EXPECT_EQ(scene.plan(next).value().parent, parent);
  next.spelling = profiles.spelling("opencode", "").value();
  const auto plan = scene.plan(next).value();
  EXPECT_EQ(plan.parent, nullptr);
  EXPECT_EQ(plan.attach.reason, "profile");
}

TEST(HistoriesOfAgents, a_session_of_one_line_takes_what_the_profile_makes_equal) {
  const auto history = read_history("opencode");
  const ClientProfiles profiles;
  for (const auto mode : {SessionMode::kLinear, SessionMode::kStrict}) {
    Scene scene;
    std::vector<TurnPtr> turns;
    for (const auto& step : history.steps) {
      auto request = request_of(history, step, turns);
      request.rules.mode = mode;
      request.spelling = profiles.spelling("auto", history.user_agent).value();
      turns.push_back(scene.recorded(std::move(request), step.said + "<|im_end|>"));
      EXPECT_EQ(turns.back()->attach.reason, step.attach);
    }
    auto other = request_of(history, history.steps[2], turns);
    other.rules.mode = mode;
    EXPECT_FALSE(scene.plan(other).ok()) << "without the profile";
  }
}

}  // namespace
}  // namespace verbatim::gateway
