#include "gateway/native_ids.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chat/testing/toy_chat.h"
#include "gateway/handles.h"
#include "gateway/testing/scene.h"

namespace verbatim::gateway {
namespace {

using testing::Scene;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

message::Message result_of(std::string id) {
  auto message = result("r");
  message.tool_call_id = std::move(id);
  return message;
}

TEST(NativeIds, are_derived_by_the_form_of_the_family) {
  EXPECT_EQ(derived_native_id("functions.{name}:{count}", "look", 3), "functions.look:3");
  EXPECT_EQ(derived_native_id("{count:9}", "look", 12), "000000012");
  EXPECT_EQ(derived_native_id("{count:9}", "look", 1234567890), "1234567890");
  EXPECT_EQ(derived_native_id("{name}:{count}", "{count}", 1), "{count}:1");
}

TEST(NativeIds, results_are_told_by_id_and_else_by_position) {
  NativeIds ids("{name}:{count}");
  const std::vector<message::ToolCall> recorded{{"h1", "a", "{}", "a:2"}, {"h2", "b", "{}", "b:3"}};
  ids.know_answer(3, recorded, recorded);
  ids.know("h9", "written");
  ids.start(4, 4);
  ids.open(recorded, recorded);
  EXPECT_EQ(ids.shown(result_of("h2")).tool_call_id, "b:3");
  EXPECT_EQ(ids.shown(result_of("made up")).tool_call_id, "a:2");
  EXPECT_EQ(ids.shown(result_of("nobody's")).tool_call_id, "nobody's");
  EXPECT_EQ(ids.shown(result_of("h2")).tool_call_id, "b:3") << "a second result of one call";
  const auto call = ids.shown(calling("", "look", "{}"));
  EXPECT_EQ(call.tool_calls[0].id, "look:4");
  auto known = calling("", "look", "{}");
  known.tool_calls[0].id = "h9";
  EXPECT_EQ(ids.shown(known).tool_calls[0].id, "written");
  EXPECT_EQ(ids.shown(result_of("h9")).tool_call_id, "written");
  EXPECT_EQ(ids.shown(result_of("call_1")).tool_call_id, "look:4");
}

// A family that prints ids and derives them by `form`, "" for the model's own alone.
struct Printing {
  const char* form;
  const char* chat_template;
  // What a model of the family calls its calls, other than by the form.
  const char* first;
  const char* second;
};
const std::vector<Printing> kFamilies{
    {"functions.{name}:{count}", "callids", "functions.look:7", "functions.hear:7"},
    {"{count:9}", "nineids", "aB3dE5gH9", "Zz00000yY"}};

class PrintingFamilies : public ::testing::TestWithParam<Printing> {
 protected:
  PrintingFamilies() {
    auto family = family_named("chatml");
    family.native_id = GetParam().form;
    family.cut = {"reasoning", "name"};
    auto renderer = renderer_of(toy_template(GetParam().chat_template), family);
    if (renderer.ok()) scene_.model->renderer = *renderer;
    made_ = renderer.ok() ? "" : renderer.error().message;
  }
  void SetUp() override { ASSERT_EQ(made_, ""); }

  // A turn whose calls the engine's parser named as the model wrote them; "": it wrote no id.
  trajectory::TurnPtr calls(TurnRequest request, std::vector<message::ToolCall> written) {
    message::Message parsed;
    parsed.role = message::Role::kAssistant;
    parsed.tool_calls = std::move(written);
    auto said = testing::FakeEngine::says(encoded("x<|im_end|>"));
    said.steps[0].parsed = parsed;
    scene_.engine.scripts.push_front(std::move(said));
    auto turn = scene_.turn(std::move(request));
    EXPECT_TRUE(turn.ok()) << (turn.ok() ? "" : turn.error().message);
    return turn.ok() ? *turn : nullptr;
  }
  trajectory::TurnPtr two_calls() {
    return calls(Scene::request({user("q")}), {{"", "look", "{}"}, {"", "hear", "{}"}});
  }
  [[nodiscard]] static std::string derived(const std::string& name, std::size_t count) {
    return derived_native_id(GetParam().form, name, count);
  }
  // What of a request stands behind its parent's row, or all of it for a root.
  std::string shown(const TurnRequest& request, trajectory::TurnPtr parent) {
    const auto plan = scene_.plan(request);
    EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().message);
    if (!plan) return {};
    EXPECT_EQ(plan->parent, parent);
    return decoded(plan->rendered.ids);
  }
  static std::string call_text(const std::string& id, const std::string& name) {
    return "<tool_call>" + id + "|" + name + "|";
  }
  static std::string result_text(const std::string& id) { return "r[" + id + "]"; }
  static bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  // Each of `parts` behind the one before it.
  static void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
    std::size_t at = 0;
    for (const auto& part : parts) {
      const auto found = text.find(part, at);
      ASSERT_NE(found, std::string::npos) << part << " in " << text;
      at = found + part.size();
    }
  }

  Scene scene_;
  std::string made_;
};

TEST_P(PrintingFamilies, templates_see_native_ids_and_agents_see_handles) {
  const auto turn = two_calls();
  const auto& calls = turn->answer.tool_calls;
  ASSERT_EQ(calls.size(), 2U);
  Handles handles(Scene::kKey);
  for (std::uint8_t i = 0; i < 2; ++i) {
    EXPECT_LE(calls[i].id.size(), 40U);
    EXPECT_EQ(handles.read(calls[i].id, "session:s1"), (Handle{turn->id, i}));
    EXPECT_EQ(calls[i].native_id, derived(calls[i].name, i));
  }
  // Answered out of order, by handle.
  auto next = Scene::continued(turn, result_of(calls[1].id));
  next.messages.push_back(result_of(calls[0].id));
  const auto text = shown(next, turn);
  expect_in_order(text, {result_text(derived("hear", 1)), result_text(derived("look", 0))});
  EXPECT_FALSE(holds(text, calls[0].id)) << "no handle reaches the model";
  // Ids that the agent made up: by position, and the same prompt.
  auto renamed = next;
  for (std::size_t i = 0; i < 2; ++i)
    renamed.messages[1].tool_calls[i].id = "x" + std::to_string(i);
  renamed.messages[2].tool_call_id = "x1";
  renamed.messages[3].tool_call_id = "x0";
  EXPECT_EQ(shown(renamed, turn), text);
}

TEST_P(PrintingFamilies, what_the_model_wrote_is_what_the_template_is_shown) {
  const auto turn = calls(Scene::request({user("q")}),
                          {{GetParam().first, "look", "{}"}, {GetParam().second, "hear", "{}"}});
  const auto& given = turn->answer.tool_calls;
  EXPECT_EQ(given[0].native_id, GetParam().first);
  EXPECT_NE(given[0].id, GetParam().first) << "agents see a handle";
  auto next = Scene::continued(turn, result_of(given[1].id));
  EXPECT_TRUE(holds(shown(next, turn), result_text(GetParam().second)));
  next.messages[0].text = "another question";
  expect_in_order(shown(next, nullptr),
                  {call_text(GetParam().first, "look"), call_text(GetParam().second, "hear"),
                   result_text(GetParam().second)});
}

// An id that is no handle here is the client's text: the call is named as one that it made up.
TEST_P(PrintingFamilies, forged_foreign_expired_and_uncommitted_handles_are_none) {
  const auto turn = calls(Scene::request({user("q")}), {{GetParam().first, "look", "{}"}});
  scene_.add_session("s2");
  auto elsewhere = Scene::request({user("q")});
  elsewhere.session_id = "s2";
  const auto foreign = calls(elsewhere, {{GetParam().first, "look", "{}"}});
  Handles handles(Scene::kKey);
  std::string forged = turn->answer.tool_calls[0].id;
  forged.back() = forged.back() == 'a' ? 'b' : 'a';
  const std::vector<std::string> ids{
      forged,
      foreign->answer.tool_calls[0].id,
      handles.make("call_", "session:s1", {turn->id + 1, 0}),  // never committed, or gone
      handles.make("call_", "session:s1", {turn->id, 9}),      // no such call
      Handles("another store").make("call_", "session:s1", {turn->id, 0}),
      GetParam().first,  // native ids are none of the client's business
      std::string(5000, 'x')};
  for (const auto& id : ids) {
    // The history itself is recorded, so it is gone on behind whatever the ids are.
    auto next = Scene::continued(turn, result_of(id));
    next.messages[1].tool_calls[0].id = id;
    EXPECT_TRUE(holds(shown(next, turn), result_text(GetParam().first))) << id;
    next.messages[0].text = "another question";
    const auto text = shown(next, nullptr);
    expect_in_order(text, {call_text(derived("look", 0), "look"), result_text(derived("look", 0))});
    EXPECT_FALSE(holds(text, "|" + id) || holds(text, "[" + id + "]")) << text;
  }
}

TEST_P(PrintingFamilies, parallel_calls_are_answered_in_any_order) {
  const auto turn = calls(Scene::request({user("q")}),
                          {{"", "look", "{}"}, {"", "look", "{}"}, {"", "look", "{}"}});
  const auto& given = turn->answer.tool_calls;
  std::vector<std::size_t> order{0, 1, 2};
  do {
    auto next = Scene::continued(turn, user("and?"));
    next.messages.pop_back();
    std::vector<std::string> expected;
    for (const auto i : order) {
      next.messages.push_back(result_of(given[i].id));
      expected.push_back(result_text(derived("look", i)));
    }
    expect_in_order(shown(next, turn), expected);
  } while (std::next_permutation(order.begin(), order.end()));
}

// Models count anew in each turn, and agents use one id for all calls.
TEST_P(PrintingFamilies, an_id_that_is_there_twice_is_told_by_its_place) {
  const auto first = calls(Scene::request({user("q")}), {{GetParam().first, "look", "{}"}});
  auto next = Scene::continued(first, result_of(first->answer.tool_calls[0].id));
  const auto second = calls(next, {{GetParam().first, "look", "{}"}, {"", "hear", "{}"}});
  EXPECT_NE(first->answer.tool_calls[0].id, second->answer.tool_calls[0].id);
  auto third = Scene::continued(second, result_of("x"));
  third.messages.push_back(result_of("x"));
  for (auto& message : third.messages) {
    for (auto& call : message.tool_calls) call.id = "x";
    if (!message.tool_call_id.empty()) message.tool_call_id = "x";
  }
  expect_in_order(shown(third, second),
                  {result_text(GetParam().first), result_text(derived("hear", 2))});
}

// Where recorded calls are rendered anew, each keeps its own id whatever the agent calls it.
TEST_P(PrintingFamilies, a_recorded_history_that_is_rendered_anew_is_told_by_its_places) {
  const auto first = calls(Scene::request({user("q")}), {{"", "look", "{}"}});
  auto next = Scene::continued(first, result_of(first->answer.tool_calls[0].id));
  const auto second = calls(next, {{GetParam().second, "hear", "{}"}});
  auto third = Scene::continued(second, result_of("x"));
  for (auto& message : third.messages) {
    for (auto& call : message.tool_calls) call.id = "x";
    if (!message.tool_call_id.empty()) message.tool_call_id = "x";
  }
  // No base for what follows: a fresh render of everything.
  auto family = scene_.model->renderer->family();
  family.no_query_bases.clear();
  scene_.model->renderer = renderer_of(toy_template(GetParam().chat_template), family).value();
  expect_in_order(shown(third, nullptr),
                  {call_text(derived("look", 0), "look"), result_text(derived("look", 0)),
                   call_text(GetParam().second, "hear"), result_text(GetParam().second)});
}

TEST_P(PrintingFamilies, calls_that_the_client_puts_in_another_order_keep_their_ids) {
  const auto turn = calls(Scene::request({user("q")}), {{"", "look", "{}"}, {"", "look", "{}"}});
  const auto& given = turn->answer.tool_calls;
  auto next = Scene::continued(turn, result_of(given[1].id));
  next.messages.push_back(result_of(given[0].id));
  auto& sent = next.messages[1].tool_calls;
  std::swap(sent[0], sent[1]);  // equal in value, so the turn is still the same
  expect_in_order(shown(next, turn),
                  {result_text(derived("look", 1)), result_text(derived("look", 0))});
  const auto other = two_calls();
  auto swapped = Scene::continued(other, result_of(other->answer.tool_calls[1].id));
  std::swap(swapped.messages[1].tool_calls[0], swapped.messages[1].tool_calls[1]);
  expect_in_order(shown(swapped, nullptr),
                  {call_text(derived("hear", 1), "hear"), call_text(derived("look", 0), "look"),
                   result_text(derived("hear", 1))});
}

// What an agent carries over from another branch stands behind the parent, or in a new root.
TEST_P(PrintingFamilies, a_call_that_is_carried_over_keeps_its_own_id) {
  const auto branch = calls(Scene::request({user("one")}), {{GetParam().first, "look", "{}"}});
  const auto parent = scene_.recorded(Scene::request({user("two")}), "fine<|im_end|>");
  auto next = Scene::continued(parent, branch->answer);
  next.messages.push_back(result_of(branch->answer.tool_calls[0].id));
  expect_in_order(shown(next, parent),
                  {call_text(GetParam().first, "look"), result_text(GetParam().first)});
}

TEST_P(PrintingFamilies, a_late_result_is_that_of_its_call) {
  const auto first = two_calls();
  const auto& given = first->answer.tool_calls;
  const auto second = calls(Scene::continued(first, result_of(given[0].id)), {{"", "feel", "{}"}});
  auto next = Scene::continued(second, result_of(given[1].id));
  next.messages.push_back(result_of(second->answer.tool_calls[0].id));
  const auto text = shown(next, second);
  expect_in_order(text, {result_text(derived("hear", 1)), result_text(derived("feel", 2))});
  EXPECT_FALSE(holds(text, given[1].id));
}

INSTANTIATE_TEST_SUITE_P(Forms, PrintingFamilies, ::testing::ValuesIn(kFamilies),
                         [](const auto& form) { return std::string(form.param.chat_template); });

constexpr const char* kTwoCalls =
    "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>\n"
    "<tool_call>\n{\"name\": \"hear\", \"arguments\": {}}\n</tool_call><|im_end|>";

TEST(NativeIds, the_handle_tells_equal_siblings_apart) {
  Scene scene;
  const auto first = scene.recorded(Scene::request({user("q")}), kTwoCalls);
  const auto second = scene.recorded(Scene::request({user("q")}), kTwoCalls);
  ASSERT_EQ(first->digest, second->digest);
  for (const auto& turn : {first, second}) {
    const auto plan =
        scene.plan(Scene::continued(turn, result_of(turn->answer.tool_calls[0].id))).value();
    EXPECT_EQ(plan.parent, turn);
    EXPECT_FALSE(plan.attach.ambiguous);
  }
}

}  // namespace
}  // namespace verbatim::gateway
