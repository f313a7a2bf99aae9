#include "gateway/native_ids.h"

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
  NativeIds ids("{name}:{count}", 4);
  ids.open("h1", "a:2");
  ids.open("h2", "b:3");
  EXPECT_EQ(ids.shown(result_of("h2")).tool_call_id, "b:3");
  EXPECT_EQ(ids.shown(result_of("made up")).tool_call_id, "a:2");
  EXPECT_EQ(ids.shown(result_of("nobody's")).tool_call_id, "nobody's");
  const auto call = ids.shown(calling("", "look", "{}"));
  EXPECT_EQ(call.tool_calls[0].id, "look:4");
  ids.know("h9", "written");
  auto known = calling("", "look", "{}");
  known.tool_calls[0].id = "h9";
  EXPECT_EQ(ids.shown(known).tool_calls[0].id, "written");
  EXPECT_EQ(ids.shown(result_of("h9")).tool_call_id, "written");
  EXPECT_EQ(ids.shown(result_of("call_1")).tool_call_id, "look:4");
}

// Families that print the ids of calls: as Kimi does, and with ids of nine characters alone.
std::string printing_template(const std::string& check) {
  return "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
         "{% for c in m.tool_calls or [] %}" +
         check +
         "<tool_call>{{ c.id }}|{{ c.function.name }}|{{ c.function.arguments }}</tool_call>"
         "{% endfor %}{% if m.tool_call_id %}[{{ m.tool_call_id }}]{% endif %}<|im_end|>\n"
         "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
}

void use_family(Scene& scene, const std::string& form) {
  auto family = family_named("chatml");
  family.native_id = form;
  family.cut = {"reasoning", "name"};
  const std::string check =
      form == "{count:9}"
          ? "{% if c.id|length != 9 %}{{ raise_exception('ids have 9 letters') }}{% endif %}"
          : "";
  auto renderer = renderer_of(printing_template(check), family);
  ASSERT_TRUE(renderer.ok()) << renderer.error().message;
  scene.model->renderer = *renderer;
}

constexpr const char* kTwoCalls =
    "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call>\n"
    "<tool_call>\n{\"name\": \"hear\", \"arguments\": {}}\n</tool_call><|im_end|>";

std::string native(const std::string& form, const std::string& name, std::size_t count) {
  return derived_native_id(form, name, count);
}

TEST(NativeIds, templates_see_native_ids_and_agents_see_handles) {
  for (const std::string form : {"functions.{name}:{count}", "{count:9}"}) {
    Scene scene;
    use_family(scene, form);
    const auto turn = scene.recorded(Scene::request({user("q")}), kTwoCalls);
    const auto& calls = turn->answer.tool_calls;
    ASSERT_EQ(calls.size(), 2U);
    Handles handles(Scene::kKey);
    for (std::uint8_t i = 0; i < 2; ++i) {
      EXPECT_LE(calls[i].id.size(), 40U);
      EXPECT_EQ(handles.read(calls[i].id, "session:s1"), (Handle{turn->id, i}));
      EXPECT_EQ(calls[i].native_id, native(form, calls[i].name, i));
    }
    // Answered out of order, by handle.
    auto next = Scene::continued(turn, result_of(calls[1].id));
    next.messages.push_back(result_of(calls[0].id));
    const auto plan = scene.plan(next).value();
    EXPECT_EQ(plan.parent, turn);
    const std::string text = decoded(testing::prompt_of(plan));
    EXPECT_NE(text.find("r[" + native(form, "hear", 1) + "]<|im_end|>\n<|im_start|>tool\nr[" +
                        native(form, "look", 0) + "]"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find(calls[0].id), std::string::npos) << "no handle reaches the model";
    // Ids that the agent made up: by position, and the same prompt.
    auto renamed = next;
    for (std::size_t i = 0; i < 2; ++i)
      renamed.messages[1].tool_calls[i].id = "x" + std::to_string(i);
    renamed.messages[2].tool_call_id = "x1";
    renamed.messages[3].tool_call_id = "x0";
    EXPECT_EQ(testing::prompt_of(scene.plan(renamed).value()), testing::prompt_of(plan));
  }
}

TEST(NativeIds, a_history_that_is_rendered_anew_has_native_ids_too) {
  Scene scene;
  use_family(scene, "functions.{name}:{count}");
  const auto turn = scene.recorded(Scene::request({user("q")}), kTwoCalls);
  const auto& calls = turn->answer.tool_calls;
  auto next = Scene::continued(turn, result_of(calls[0].id));
  next.messages[0].text = "another question";
  const auto plan = scene.plan(next).value();
  EXPECT_EQ(plan.parent, nullptr);
  const std::string text = decoded(testing::prompt_of(plan));
  EXPECT_NE(text.find("<tool_call>functions.look:0|look|"), std::string::npos) << text;
  EXPECT_NE(text.find("[functions.look:0]"), std::string::npos) << text;
  EXPECT_EQ(text.find(calls[0].id), std::string::npos);
}

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
