#include "gateway/plan.h"

#include <gtest/gtest.h>

#include "gateway/testing/scene.h"

namespace verbatim::gateway {
namespace {

using base::ErrorKind;
using testing::Scene;
using trajectory::Attach;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

TEST(Plan, a_first_request_is_a_root_with_the_whole_render_as_its_prompt) {
  Scene scene;
  const auto plan = scene.plan(Scene::request({system("be brief"), user("hello")}));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->parent, nullptr);
  EXPECT_EQ(plan->attach, (Attach{Attach::Kind::kRoot, "first", false}));
  const auto full =
      scene.model->renderer->full(std::vector{system("be brief"), user("hello")}, {}).value();
  EXPECT_EQ(testing::prompt_of(*plan), full.ids);
  EXPECT_EQ(plan->prompt_size, full.ids.size());
  EXPECT_EQ(plan->session_id, Scene::kSession);
  EXPECT_EQ(plan->session_use, store::SessionUse::kExisting);
  EXPECT_EQ(scene.store.finds, 0) << "nothing can be continued, so nothing is looked up";
}

TEST(Plan, a_root_says_with_what_it_was_rendered) {
  Scene scene;
  auto request = Scene::request({user("hello")});
  request.tools = {tool("look")};
  const auto plan = scene.plan(std::move(request)).value();
  EXPECT_EQ(plan.root->model, "toy");
  EXPECT_EQ(plan.root->family, "chatml");
  EXPECT_EQ(plan.root->encoding_policy, "injection_safe");
  EXPECT_EQ(plan.root->tokenizer, toy_tokenizer()->fingerprint());
  EXPECT_EQ(plan.root->chat_template, scene.model->renderer->template_fingerprint());
  EXPECT_EQ(plan.root->tools, std::vector{tool("look")});
}

TEST(Plan, a_request_that_ends_with_the_assistant_is_refused) {
  Scene scene;
  const auto plan = scene.plan(Scene::request({user("hello"), assistant("hi")}));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::kInvalidRequest);
  EXPECT_EQ(plan.error().field, "messages");
}

TEST(Plan, developer_messages_are_what_the_family_says) {
  auto developer = system("be brief");
  developer.role = message::Role::kDeveloper;
  EXPECT_TRUE(Scene("chatml").plan(Scene::request({developer, user("hello")})).ok());
  const auto plan = Scene("roletok").plan(Scene::request({developer, user("hello")}));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().field, "messages[0].role");
}

// More equal calls than a look-up brings: the handle that the client gives back tells which it is.
TEST(Plan, of_calls_that_are_alike_beyond_count_the_one_is_gone_on_behind_whose_id_comes_back) {
  Scene scene;
  const auto ask = [] {
    auto request = Scene::request({user("hello")});
    request.tools = {tool("look")};
    request.wants_tools = true;
    return request;
  };
  constexpr std::string_view kCall =
      "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call><|im_end|>";
  const auto first = scene.recorded(ask(), kCall);
  for (std::size_t i = 0; i <= trajectory::kMostAlike; ++i) (void)scene.recorded(ask(), kCall);
  const auto next = [&](const std::string& id) {
    auto request = Scene::continued(first, result("seen"));
    request.messages[1].tool_calls[0].id = id;
    request.messages[2].tool_call_id = id;
    return scene.plan(std::move(request));
  };
  const auto known = next(first->answer.tool_calls[0].id);
  ASSERT_TRUE(known.ok()) << known.error().message;
  EXPECT_EQ(known->parent, first);
  EXPECT_FALSE(known->attach.ambiguous);
  const auto foreign = next("call_of_nobody");
  ASSERT_TRUE(foreign.ok()) << foreign.error().message;
  EXPECT_EQ(foreign->parent, nullptr) << "any of them could be meant";
}

TEST(Plan, a_recorded_history_is_continued_behind_its_row) {
  Scene scene;
  const auto parent = scene.recorded(Scene::request({user("hello")}), "hi<|im_end|>");
  const std::string before = scene.store.dump();
  const int finds = scene.store.finds;
  const int newests = scene.store.newests;
  const auto plan = scene.plan(Scene::continued(parent, user("go on")));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->parent, parent);
  EXPECT_EQ(plan->suffix, 2U);
  EXPECT_EQ(plan->root, parent->root);
  EXPECT_EQ(plan->attach, (Attach{Attach::Kind::kChild, "history", false}));
  auto ids = trajectory::row_of(parent);
  for (const auto id : encoded("\n<|im_start|>user\ngo on<|im_end|>\n<|im_start|>assistant\n"))
    ids.push_back(id);
  EXPECT_EQ(testing::prompt_of(*plan), ids);
  EXPECT_EQ(plan->prompt_size, ids.size());
  EXPECT_EQ(scene.store.newests, newests + 1) << "one query";
  EXPECT_EQ(scene.store.finds, finds);
  EXPECT_EQ(scene.store.dump(), before) << "a plan changes nothing";
}

TEST(Plan, the_deepest_recorded_turn_is_the_parent) {
  Scene scene;
  const auto first = scene.recorded(Scene::request({user("one")}), "1<|im_end|>");
  const auto second = scene.recorded(Scene::continued(first, user("two")), "2<|im_end|>");
  const auto plan = scene.plan(Scene::continued(second, user("three"))).value();
  EXPECT_EQ(plan.parent, second);
  auto edited = Scene::continued(second, user("three"));
  edited.messages[3].text = "another answer";
  EXPECT_EQ(scene.plan(edited).value().parent, first);
}

TEST(Plan, of_two_equal_siblings_the_newest_is_taken_and_the_tie_is_told) {
  Scene scene;
  (void)scene.recorded(Scene::request({user("one")}), "1<|im_end|>");
  const auto newer = scene.recorded(Scene::request({user("one")}), "1<|im_end|>");
  const auto plan = scene.plan(Scene::continued(newer, user("two"))).value();
  EXPECT_EQ(plan.parent, newer);
  EXPECT_TRUE(plan.attach.ambiguous);
}

TEST(Plan, an_unrecorded_history_is_a_new_root_that_says_so) {
  Scene scene;
  (void)scene.recorded(Scene::request({user("one")}), "1<|im_end|>");
  const auto plan =
      scene.plan(Scene::request({user("other"), assistant("1"), user("two")})).value();
  EXPECT_EQ(plan.parent, nullptr);
  EXPECT_EQ(plan.attach,
            (Attach{Attach::Kind::kRoot, "history", false, trajectory::Difference{0, "content"}}));
}

TEST(Plan, other_tools_make_a_new_root_that_says_so) {
  Scene scene;
  auto first = Scene::request({user("one")});
  first.tools = {tool("look")};
  const auto parent = scene.recorded(std::move(first), "1<|im_end|>");
  auto same = Scene::continued(parent, user("two"));
  EXPECT_EQ(scene.plan(same).value().parent, parent);
  same.tools = {tool("look"), tool("listen")};
  const auto plan = scene.plan(std::move(same)).value();
  EXPECT_EQ(plan.parent, nullptr);
  EXPECT_EQ(plan.attach, (Attach{Attach::Kind::kRoot, "tools", false}));
}

TEST(Plan, an_argument_that_only_changes_the_opener_does_not_cut) {
  Scene scene;
  const auto parent = scene.recorded(Scene::request({user("one")}), "1<|im_end|>");
  auto request = Scene::continued(parent, user("two"));
  request.template_kwargs = R"({"enable_thinking": false})";
  const auto plan = scene.plan(std::move(request)).value();
  EXPECT_EQ(plan.parent, parent);
  EXPECT_TRUE(decoded(testing::prompt_of(plan)).ends_with("<think>\n\n</think>\n\n"));
}

TEST(Plan, any_other_argument_makes_another_history) {
  Scene scene;
  auto first = Scene::request({user("one")});
  first.template_kwargs = R"({"keep_thinking": true, "x": 1})";
  const auto parent = scene.recorded(std::move(first), "1<|im_end|>");
  auto request = Scene::continued(parent, user("two"));
  EXPECT_EQ(scene.plan(request).value().parent, nullptr);
  request.template_kwargs = R"({"x": 1, "enable_thinking": true, "keep_thinking": true})";
  EXPECT_EQ(scene.plan(request).value().parent, parent) << "order is nothing";
  request.template_kwargs = R"({"x": 2, "keep_thinking": true})";
  EXPECT_EQ(scene.plan(request).value().parent, nullptr);
}

TEST(Plan, template_arguments_that_are_not_json_are_refused) {
  Scene scene;
  auto request = Scene::request({user("one")});
  request.template_kwargs = "{";
  const auto plan = scene.plan(std::move(request));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().field, "chat_template_kwargs");
}

TEST(Plan, turns_of_other_sessions_and_owners_are_not_found) {
  Scene scene;
  scene.add_session("s2");
  const auto parent = scene.recorded(Scene::request({user("one")}), "1<|im_end|>");
  auto other = Scene::continued(parent, user("two"));
  other.session_id = "s2";
  EXPECT_EQ(scene.plan(other).value().parent, nullptr);
  other.session_id = "";
  EXPECT_EQ(scene.plan(other).value().parent, nullptr);

  auto mine = Scene::request({user("one")});
  mine.session_id = "";
  mine.owner = "ann";
  const auto stateless = scene.recorded(mine, "1<|im_end|>");
  auto next = Scene::continued(stateless, user("two"));
  next.session_id = "";
  next.owner = "ann";
  const auto plan = scene.plan(next).value();
  EXPECT_EQ(plan.parent, stateless);
  EXPECT_EQ(plan.session_use, store::SessionUse::kImplicit);
  EXPECT_EQ(plan.session_id, stateless->session_id);
  next.owner = "bob";
  EXPECT_EQ(scene.plan(next).value().parent, nullptr);
}

TEST(Plan, a_trimmed_stop_leaves_the_parents_row_short_by_one) {
  Scene scene("roletok");
  const auto parent = scene.recorded(Scene::request({user("one")}), "1<|observation|>");
  const auto plan = scene.plan(Scene::continued(parent, user("two"))).value();
  EXPECT_EQ(plan.trim, 1U);
  EXPECT_TRUE(decoded(testing::prompt_of(plan)).ends_with("1<|user|>\ntwo<|assistant|>\n"));
  EXPECT_EQ(plan.prompt_size, testing::prompt_of(plan).size());
}

TEST(Plan, a_trim_further_up_stays_trimmed) {
  Scene scene("roletok");
  const auto first = scene.recorded(Scene::request({user("one")}), "1<|observation|>");
  const auto second = scene.recorded(Scene::continued(first, user("two")), "2<|user|>");
  ASSERT_EQ(second->parent_trim, 1U);
  const auto plan = scene.plan(Scene::continued(second, user("three"))).value();
  EXPECT_EQ(plan.trim, 0U);
  EXPECT_EQ(decoded(testing::prompt_of(plan)),
            "<|user|>\none<|assistant|>\n1<|user|>\ntwo<|assistant|>\n2<|user|>\nthree"
            "<|assistant|>\n");
  EXPECT_EQ(plan.prompt_size, testing::prompt_of(plan).size());
}

TEST(Plan, a_suffix_that_cannot_be_appended_starts_a_new_root) {
  Scene scene;
  auto family = family_named("chatml");
  family.query_bases.clear();  // nothing with a user query is proved
  scene.model->renderer = renderer_of(toy_template("chatml"), family).value();
  const auto parent = scene.recorded(Scene::request({user("one")}), "1<|im_end|>");
  const auto plan = scene.plan(Scene::continued(parent, user("two"))).value();
  EXPECT_EQ(plan.parent, nullptr);
  EXPECT_EQ(plan.suffix, 0U);
  EXPECT_EQ(plan.attach, (Attach{Attach::Kind::kRoot, "suffix", false}));
  EXPECT_EQ(testing::prompt_of(plan), encoded("<|im_start|>user\none<|im_end|>\n<|im_start|>"
                                              "assistant\n1<|im_end|>\n<|im_start|>user\ntwo"
                                              "<|im_end|>\n<|im_start|>assistant\n"));
}

TEST(Plan, a_cut_turn_that_cannot_be_closed_is_a_conflict) {
  Scene scene;
  auto family = family_named("chatml");
  family.synthetic_close.reset();
  scene.model->renderer = renderer_of(toy_template("chatml"), family).value();
  const auto parent = scene.recorded(Scene::request({user("one")}), "cut");
  const auto plan = scene.plan(Scene::continued(parent, user("two")));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::kConflict);
}

TEST(Plan, what_the_renderer_refuses_fails_the_plan) {
  Scene scene;
  auto request = Scene::request({user("one")});
  request.template_kwargs = R"({"messages": []})";
  const auto plan = scene.plan(std::move(request));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().field, "chat_template_kwargs.messages");
}

TEST(Plan, a_store_that_cannot_be_asked_fails_the_plan) {
  Scene scene;
  scene.store.find_fails = base::error(ErrorKind::kUnavailable, "the disk is gone");
  EXPECT_TRUE(scene.plan(Scene::request({user("one")})).ok());
  const auto plan = scene.plan(Scene::request({user("one"), assistant("1"), user("two")}));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::kUnavailable);
}

TEST(Plan, completion_tokens_are_what_is_asked_within_the_room_left) {
  Scene scene;
  auto request = Scene::request({user("hello")});
  const auto plan = scene.plan(request).value();
  EXPECT_EQ(plan.max_new_tokens, 32768U) << "nobody says";
  request.sampling.max_tokens = 100'000;
  EXPECT_EQ(scene.plan(request).value().max_new_tokens, 100'000U);
  scene.model->max_model_len = plan.prompt_size + 9;
  EXPECT_EQ(scene.plan(request).value().max_new_tokens, 9U);
  request.sampling.max_tokens = 5;
  EXPECT_EQ(scene.plan(request).value().max_new_tokens, 5U);
  request.sampling.max_tokens.reset();
  EXPECT_EQ(scene.plan(request).value().max_new_tokens, 9U);
}

TEST(Plan, a_prompt_without_room_for_an_answer_is_refused_naming_the_context) {
  Scene scene;
  const auto size = scene.plan(Scene::request({user("hello")})).value().prompt_size;
  scene.model->max_model_len = size + 1;
  EXPECT_TRUE(scene.plan(Scene::request({user("hello")})).ok());
  scene.model->max_model_len = size;
  const auto plan = scene.plan(Scene::request({user("hello")}));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::kInvalidRequest);
  EXPECT_EQ(plan.error().code, "context_length_exceeded");
  EXPECT_NE(plan.error().message.find(std::to_string(size)), std::string::npos);
}

}  // namespace
}  // namespace verbatim::gateway
