// What the mode of a session makes of its requests: real-tito.md's table of histories, in all three
// modes.
#include <gtest/gtest.h>

#include "gateway/testing/scene.h"

namespace verbatim::gateway {
namespace {

using base::ErrorKind;
using testing::Scene;
using trajectory::TurnPtr;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

constexpr const char* kTool =
    "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1, \"b\": \"x\"}}\n</tool_call>"
    "<|im_end|>";

// Three turns: user, tool call; tool result, text with reasoning; user, text.
struct Recorded {
  Scene scene;
  std::vector<TurnPtr> turns;

  explicit Recorded(std::size_t count = 3) {
    if (count > 0)
      turns.push_back(scene.recorded(Scene::request({system("s"), user("u1")}), kTool));
    if (count > 1)
      turns.push_back(scene.recorded(Scene::continued(turns[0], result("42")),
                                     "<think>\nhm\n</think>\n\na2<|im_end|>"));
    if (count > 2)
      turns.push_back(scene.recorded(Scene::continued(turns[1], user("u3")), "a3<|im_end|>"));
  }
  // All that is recorded, and a next user message.
  [[nodiscard]] TurnRequest next() const { return Scene::continued(turns.back(), user("more")); }
};

// What becomes of a request in a mode: "<parent> <reason>", or the status with its code.
std::string outcome(const Recorded& r, SessionMode mode, TurnRequest request) {
  auto& scene = const_cast<Scene&>(r.scene);
  request.rules.mode = mode;
  const auto plan = scene.plan(std::move(request));
  if (!plan) {
    EXPECT_EQ(plan.error().code, "session_diverged") << plan.error().message;
    EXPECT_EQ(plan.error().field, "messages");
    return plan.error().kind == ErrorKind::kConflict ? "409" : "400";
  }
  std::string parent = "root";
  for (std::size_t i = 0; i < r.turns.size(); ++i) {
    if (r.turns[i] == plan->parent) parent = std::to_string(i + 1);
  }
  return parent + " " + plan->attach.reason;
}

struct Row {
  const char* what;
  void (*edit)(TurnRequest&);
  const char* tree;
  const char* linear;
  const char* strict;
  const char* difference;  // "message.field"; empty: none
};

// Messages: 0 system, 1 user, 2 call, 3 result, 4 answer, 5 user, 6 answer, 7 new.
const std::vector<Row> kRows{
    {"goes on", [](auto&) {}, "3 history", "3 history", "3 history", ""},
    {"reasoning dropped", [](auto& r) { r.messages[4].reasoning.reset(); }, "3 history",
     "3 history", "3 history", ""},
    {"arguments re-serialised",
     [](auto& r) { r.messages[2].tool_calls[0].arguments = R"({"b":"x","a":1.0})"; }, "3 history",
     "3 history", "3 history", ""},
    {"call ids changed",
     [](auto& r) {
       r.messages[2].tool_calls[0].id = "x";
       r.messages[3].tool_call_id = "x";
     },
     "3 history", "3 history", "3 history", ""},
    {"text trimmed", [](auto& r) { r.messages[4].text = "  a2\n"; }, "3 history", "3 history",
     "3 history", ""},
    {"last turn again", [](auto& r) { r.messages.resize(6); }, "2 history", "2 rollback", "409",
     "6.missing"},
    {"last turn with another question",
     [](auto& r) {
       r.messages.resize(6);
       r.messages[5].text = "other";
     },
     "2 history", "2 rollback", "409", "5.content"},
    {"two turns back", [](auto& r) { r.messages.resize(4); }, "1 history", "400", "409",
     "4.missing"},
    {"first user message rewritten", [](auto& r) { r.messages[1].text = "other"; }, "root history",
     "400", "409", "1.content"},
    {"another system text", [](auto& r) { r.messages[0].text = "other"; }, "root system", "400",
     "409", "0.content"},
    {"last answer edited", [](auto& r) { r.messages[6].text = "edited"; }, "2 history", "400",
     "409", "6.content"},
    {"reasoning edited", [](auto& r) { r.messages[4].reasoning = "no"; }, "1 history", "400", "409",
     "4.reasoning_content"},
    {"argument edited",
     [](auto& r) { r.messages[2].tool_calls[0].arguments = R"({"a":2,"b":"x"})"; }, "root history",
     "400", "409", "2.tool_calls[0].function.arguments"},
    {"tool result edited", [](auto& r) { r.messages[3].text = "43"; }, "1 history", "400", "409",
     "3.content"},
    {"an assistant message inserted",
     [](auto& r) { r.messages.insert(r.messages.begin() + 7, assistant("mine")); }, "3 history",
     "3 history", "3 history", ""},
    {"summary in place of the history",
     [](auto& r) { r.messages = {system("s"), user("u1"), assistant("summary"), user("go on")}; },
     "root history", "400", "409", "2.content"},
    {"tools declared", [](auto& r) { r.tools = {tool("look")}; }, "root tools", "400", "409", ""},
    {"template argument", [](auto& r) { r.template_kwargs = R"({"x":1})"; }, "root arguments",
     "400", "409", ""},
    {"sub-agent",
     [](auto& r) {
       r.messages = {system("sub"), user("task")};
       r.tools = {tool("other")};
     },
     "root first", "400", "409", "0.content"},
};

TEST(SessionRules, each_history_finds_its_place_in_each_mode) {
  const Recorded recorded;
  ASSERT_EQ(recorded.turns[1]->answer.reasoning, "hm");
  for (const auto& row : kRows) {
    auto request = recorded.next();
    row.edit(request);
    EXPECT_EQ(outcome(recorded, SessionMode::kTree, request), row.tree) << row.what;
    EXPECT_EQ(outcome(recorded, SessionMode::kLinear, request), row.linear) << row.what;
    EXPECT_EQ(outcome(recorded, SessionMode::kStrict, request), row.strict) << row.what;
  }
}

TEST(SessionRules, a_plan_names_the_first_difference_from_the_last_turn) {
  const Recorded recorded;
  for (const auto& row : kRows) {
    auto request = recorded.next();
    row.edit(request);
    if (std::string_view(row.tree) == "root first") continue;  // nothing was looked up
    const auto plan = const_cast<Scene&>(recorded.scene).plan(std::move(request));
    ASSERT_TRUE(plan.ok()) << row.what;
    const auto& found = plan->attach.difference;
    EXPECT_EQ(found ? std::to_string(found->message) + "." + found->field : "", row.difference)
        << row.what;
  }
}

TEST(SessionRules, a_refusal_says_how_far_back_and_where) {
  const Recorded recorded;
  auto request = recorded.next();
  request.messages[1].text = "other";
  request.rules.mode = SessionMode::kLinear;
  const auto plan = const_cast<Scene&>(recorded.scene).plan(std::move(request));
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().message.find("goes back 3 of the session's 3 turns (messages[1].content"),
            std::string::npos)
      << plan.error().message;
}

TEST(SessionRules, the_first_turn_may_be_taken_back_in_a_linear_session) {
  const Recorded recorded(1);
  EXPECT_EQ(outcome(recorded, SessionMode::kLinear, Scene::request({system("s"), user("u1")})),
            "root rollback");
  EXPECT_EQ(outcome(recorded, SessionMode::kLinear, Scene::request({user("other")})),
            "root rollback");
  EXPECT_EQ(outcome(recorded, SessionMode::kStrict, Scene::request({system("s"), user("u1")})),
            "409");
}

TEST(SessionRules, any_first_request_opens_a_session) {
  const Recorded empty(0);
  for (const auto mode : {SessionMode::kTree, SessionMode::kLinear, SessionMode::kStrict}) {
    EXPECT_EQ(outcome(empty, mode, Scene::request({user("u"), assistant("few"), user("shot")})),
              "root first");
  }
}

TEST(SessionRules, a_rollback_can_be_repeated_but_what_it_replaced_is_not_gone_on_behind) {
  Recorded recorded;
  auto again = recorded.next();
  again.messages.resize(6);
  again.rules.mode = SessionMode::kLinear;
  const auto replaced = recorded.scene.recorded(again, "b3<|im_end|>");
  EXPECT_EQ(replaced->parent, recorded.turns[1]);
  EXPECT_EQ(outcome(recorded, SessionMode::kLinear, again), "2 rollback");
  EXPECT_EQ(outcome(recorded, SessionMode::kLinear, recorded.next()), "400")
      << "the old answer would be an inserted one now";
}

TEST(SessionRules, exact_equality_takes_no_other_spelling) {
  const Recorded recorded;
  auto request = recorded.next();
  request.rules.equality = trajectory::Equality::kExact;
  EXPECT_EQ(outcome(recorded, SessionMode::kTree, request), "3 history");
  request.messages[2].tool_calls[0].arguments = R"({"b":"x","a":1})";
  EXPECT_EQ(outcome(recorded, SessionMode::kTree, request), "root history");
  EXPECT_EQ(outcome(recorded, SessionMode::kStrict, request), "409");
}

TEST(SessionRules, what_cannot_be_appended_is_a_new_root_in_a_tree_alone) {
  for (const auto mode : {SessionMode::kTree, SessionMode::kLinear, SessionMode::kStrict}) {
    Scene scene;
    auto family = family_named("chatml");
    family.query_bases.clear();
    scene.model->renderer = renderer_of(toy_template("chatml"), family).value();
    const auto parent = scene.recorded(Scene::request({user("one")}), "1<|im_end|>");
    auto request = Scene::continued(parent, user("two"));
    request.rules.mode = mode;
    const auto plan = scene.plan(std::move(request));
    EXPECT_EQ(plan.ok(), mode == SessionMode::kTree);
    if (!plan) {
      EXPECT_EQ(plan.error().kind, ErrorKind::kUnsupported) << plan.error().message;
    }
  }
}

// The toy template drops reasoning in front of the last user message.
TEST(SessionRules, reasoning_that_the_template_would_drop_makes_a_root_where_the_session_says_so) {
  const std::string thought = std::string("<think>\nhm\n</think>\n\n") + kTool;
  for (const auto mode : {SessionMode::kTree, SessionMode::kLinear, SessionMode::kStrict}) {
    Scene scene;
    const auto turn = scene.recorded(Scene::request({user("u1")}), thought);
    auto asked = Scene::continued(turn, user("u2"));
    asked.rules.mode = mode;
    EXPECT_EQ(scene.plan(asked)->parent, turn) << "recorded reasoning stays, as usual";
    asked.rules.retention = Retention::kTemplate;
    asked.messages[1].reasoning.reset();  // as many clients send it back
    const auto dropped = scene.plan(asked);
    ASSERT_TRUE(dropped.ok()) << dropped.error().message;
    EXPECT_EQ(dropped->parent, nullptr);
    EXPECT_EQ(dropped->attach.reason, "retention");
    EXPECT_EQ(decoded(testing::prompt_of(*dropped)).find("hm"), std::string::npos);
    auto shown = Scene::continued(turn, result("42"));
    shown.rules = asked.rules;
    shown.messages[1].reasoning.reset();
    const auto kept = scene.plan(shown);
    ASSERT_TRUE(kept.ok()) << kept.error().message;
    EXPECT_EQ(kept->parent, turn) << "behind a tool result the template shows it";
  }
}

TEST(SessionRules, a_root_by_retention_is_gone_on_behind) {
  Scene scene;
  const auto first =
      scene.recorded(Scene::request({user("u1")}), "<think>\nhm\n</think>\n\na1<|im_end|>");
  auto asked = Scene::continued(first, user("u2"));
  asked.rules = {SessionMode::kStrict, trajectory::Equality::kValue, Retention::kTemplate};
  const auto second = scene.recorded(asked, "a2<|im_end|>");
  EXPECT_EQ(second->attach.reason, "retention");
  EXPECT_EQ(second->messages.size(), 3U) << "it holds the whole history";
  EXPECT_EQ(second->messages[1].reasoning, "hm") << "as it was sampled";
  auto next = Scene::continued(second, user("u3"));
  next.rules = asked.rules;
  const auto plan = scene.plan(next);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->parent, second) << "there is no reasoning in its row that could be dropped";
}

TEST(SessionRules, a_session_that_has_used_up_its_tokens_takes_no_more) {
  Scene scene;
  auto request = Scene::request({user("hello")});
  const auto size = scene.plan(request)->rendered.ids.size();
  request.tokens_left = size + 4;
  EXPECT_EQ(scene.plan(request)->max_new_tokens, 4U);
  request.choices = 2;
  EXPECT_EQ(scene.plan(request).error().code, "session_limit") << "each choice adds the prompt";
  request.choices = 1;
  request.tokens_left = size;
  const auto plan = scene.plan(request);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, "session_limit");
}

}  // namespace
}  // namespace verbatim::gateway
