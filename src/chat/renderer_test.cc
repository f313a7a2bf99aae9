#include "chat/renderer.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "chat/testing/toy_chat.h"

namespace verbatim::chat {
namespace {

using base::ErrorKind;
using message::Message;
using message::SpanSource;
using namespace testing;  // NOLINT(google-build-using-namespace)

using Messages = std::vector<Message>;

std::size_t total(std::span<const message::TokenSpan> spans) {
  std::size_t n = 0;
  for (const auto& span : spans) n += span.count;
  return n;
}

TurnEnd ended_with(std::string_view token, std::span<const message::ToolCall> calls = {}) {
  TurnEnd end;
  end.last_id = added(token);
  end.calls = calls;
  return end;
}

// A delta that must come about, decoded.
std::string delta_text(const Renderer& renderer, const TurnEnd& end, const Messages& suffix,
                       const TemplateInputs& inputs = {}) {
  const auto delta = renderer.delta(end, suffix, 3, inputs);
  if (!delta) return "error: " + delta.error().message;
  EXPECT_EQ(total(delta->rendered.spans), delta->rendered.ids.size());
  return decoded(delta->rendered.ids);
}

TEST(Renderer, a_chatml_conversation_becomes_the_ids_of_its_text) {
  const auto renderer = toy_renderer("chatml");
  const auto rendered = renderer->full(Messages{system("be brief"), user("hello there")}, {});
  ASSERT_TRUE(rendered.ok()) << rendered.error().message;
  const std::string text =
      "<|im_start|>system\nbe brief<|im_end|>\n<|im_start|>user\nhello there<|im_end|>\n"
      "<|im_start|>assistant\n";
  EXPECT_EQ(rendered->ids, encoded(text));
  EXPECT_EQ(total(rendered->spans), rendered->ids.size());
  EXPECT_EQ(rendered->opener, "<|im_start|>assistant\n");
  EXPECT_EQ(rendered->spans.back().source, SpanSource::kOpener);
}

TEST(Renderer, a_roletok_conversation_becomes_the_ids_of_its_text) {
  const auto renderer = toy_renderer("roletok");
  const auto rendered = renderer->full(
      Messages{user("hello"), calling("", "look", "{\"a\": 1}"), result("there")}, {});
  ASSERT_TRUE(rendered.ok()) << rendered.error().message;
  EXPECT_EQ(decoded(rendered->ids),
            "<|user|>\nhello<|assistant|>\n\n<tool_call>\n{\"name\": \"look\", \"arguments\": "
            "{\"a\": 1}}\n</tool_call><|observation|>\n<tool_response>\nthere\n</tool_response>"
            "<|assistant|>\n");
}

TEST(Renderer, template_arguments_change_the_generation_prompt) {
  const auto renderer = toy_renderer("chatml");
  auto arguments = json::Document::parse(R"({"enable_thinking": false})").value();
  TemplateInputs inputs;
  inputs.arguments = arguments.root();
  const auto rendered = renderer->full(Messages{user("q")}, inputs);
  ASSERT_TRUE(rendered.ok());
  EXPECT_EQ(rendered->opener, "<|im_start|>assistant\n<think>\n\n</think>\n\n");
}

TEST(Renderer, a_chatml_delta_begins_behind_the_close_token) {
  const auto renderer = toy_renderer("chatml");
  EXPECT_EQ(delta_text(*renderer, ended_with("<|im_end|>"), {user("and now")}),
            "\n<|im_start|>user\nand now<|im_end|>\n<|im_start|>assistant\n");
  const auto called = calling("", "look", "{}");
  EXPECT_EQ(delta_text(*renderer, ended_with("<|im_end|>", called.tool_calls),
                       {result("a"), result("b")}),
            "\n<|im_start|>user\n<tool_response>\na\n</tool_response>\n<tool_response>\nb\n"
            "</tool_response><|im_end|>\n<|im_start|>assistant\n");
}

TEST(Renderer, a_delta_says_where_its_ids_come_from) {
  const auto renderer = toy_renderer("chatml");
  const auto delta = renderer->delta(ended_with("<|im_end|>"), Messages{user("and now")}, 3, {});
  ASSERT_TRUE(delta.ok());
  EXPECT_EQ(delta->trim, 0U);
  const auto& spans = delta->rendered.spans;
  EXPECT_EQ(spans.front(), (message::TokenSpan{1, SpanSource::kBoundary}));
  EXPECT_EQ(spans.back().source, SpanSource::kOpener);
  EXPECT_TRUE(std::any_of(spans.begin(), spans.end(), [](const auto& span) {
    return span.source == SpanSource::kMessage && span.message == 3 &&
           span.field == message::Field::kText;
  }));
}

TEST(Renderer, row_and_delta_together_are_the_render_of_everything) {
  for (const char* family : {"chatml", "roletok"}) {
    const auto renderer = toy_renderer(family);
    const std::string close = family == std::string("chatml") ? "<|im_end|>" : "<|user|>";
    const Messages history{system("s"), user("one")};
    const auto prompt = renderer->full(history, {}).value();
    auto row = prompt.ids;
    for (const auto id : encoded("fine" + close)) row.push_back(id);
    const auto delta = renderer->delta(ended_with(close), Messages{user("two")}, 3, {}).value();
    row.resize(row.size() - delta.trim);
    row.insert(row.end(), delta.rendered.ids.begin(), delta.rendered.ids.end());
    Messages all = history;
    all.push_back(assistant("fine"));
    all.push_back(user("two"));
    EXPECT_EQ(row, renderer->full(all, {}).value().ids) << family;
  }
}

TEST(Renderer, a_cut_turn_is_closed_before_it_goes_on) {
  const auto renderer = toy_renderer("chatml");
  const std::string rest = "\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n";
  TurnEnd cut;
  cut.last_id = encoded("x").front();
  EXPECT_EQ(delta_text(*renderer, cut, {user("q")}), "<|im_end|>" + rest);
  cut.reasoning_open = true;
  EXPECT_EQ(delta_text(*renderer, cut, {user("q")}), "</think>\n\n<|im_end|>" + rest);
  EXPECT_EQ(delta_text(*renderer, ended_with("<|endoftext|>"), {user("q")}), "<|im_end|>" + rest);
  EXPECT_EQ(delta_text(*renderer, TurnEnd{}, {user("q")}), "<|im_end|>" + rest)
      << "nothing was sampled";
}

TEST(Renderer, a_synthetic_close_is_a_span_of_its_own) {
  const auto delta =
      toy_renderer("chatml")->delta(ended_with("<|endoftext|>"), Messages{user("q")}, 3, {});
  ASSERT_TRUE(delta.ok());
  EXPECT_EQ(delta->rendered.spans[0], (message::TokenSpan{1, SpanSource::kClose}));
  EXPECT_EQ(delta->rendered.spans[1], (message::TokenSpan{1, SpanSource::kBoundary}));
  EXPECT_EQ(total(delta->rendered.spans), delta->rendered.ids.size());
}

TEST(Renderer, a_turn_that_a_family_cannot_close_is_a_conflict) {
  Family family = family_named("chatml");
  family.synthetic_close.reset();
  const auto renderer = renderer_of(toy_template("chatml"), family).value();
  const auto delta = renderer->delta(ended_with("<|endoftext|>"), Messages{user("q")}, 3, {});
  ASSERT_FALSE(delta.ok());
  EXPECT_EQ(delta.error().kind, ErrorKind::kConflict);
  EXPECT_TRUE(renderer->delta(ended_with("<|im_end|>"), Messages{user("q")}, 3, {}).ok());
}

TEST(Renderer, a_sampled_opener_stands_once_when_the_next_message_needs_it) {
  const auto renderer = toy_renderer("roletok");
  const auto delta = renderer->delta(ended_with("<|user|>"), Messages{user("q")}, 3, {});
  ASSERT_TRUE(delta.ok()) << delta.error().message;
  EXPECT_EQ(delta->trim, 0U);
  EXPECT_EQ(decoded(delta->rendered.ids), "\nq<|assistant|>\n");
  EXPECT_EQ(total(delta->rendered.spans), delta->rendered.ids.size());
}

TEST(Renderer, a_sampled_opener_is_trimmed_when_the_next_message_needs_another) {
  const auto renderer = toy_renderer("roletok");
  const auto delta = renderer->delta(ended_with("<|observation|>"), Messages{user("q")}, 3, {});
  ASSERT_TRUE(delta.ok()) << delta.error().message;
  EXPECT_EQ(delta->trim, 1U);
  EXPECT_LE(delta->trim, renderer->family().max_trim());
  EXPECT_EQ(decoded(delta->rendered.ids), "<|user|>\nq<|assistant|>\n");
}

TEST(Renderer, a_cut_roletok_turn_is_ended_by_the_next_opener_alone) {
  const auto renderer = toy_renderer("roletok");
  TurnEnd cut;
  cut.last_id = encoded("x").front();
  auto delta = renderer->delta(cut, Messages{user("q")}, 3, {});
  ASSERT_TRUE(delta.ok());
  EXPECT_EQ(delta->trim, 0U);
  EXPECT_EQ(decoded(delta->rendered.ids), "<|user|>\nq<|assistant|>\n");
  cut.reasoning_open = true;
  EXPECT_EQ(delta_text(*renderer, cut, {user("q")}), "</think><|user|>\nq<|assistant|>\n");
}

TEST(Renderer, knows_stops_closes_and_queries) {
  const auto chatml = toy_renderer("chatml");
  EXPECT_TRUE(chatml->closes(added("<|im_end|>")));
  EXPECT_FALSE(chatml->closes(added("<|endoftext|>")));
  EXPECT_TRUE(chatml->is_stop(added("<|endoftext|>")));
  EXPECT_FALSE(chatml->is_stop(added("<|im_start|>")));
  const auto roletok = toy_renderer("roletok");
  EXPECT_TRUE(roletok->closes(added("<|observation|>")));
  EXPECT_FALSE(roletok->closes(added("<|endoftext|>")));

  Family family = family_named("chatml");
  family.not_a_query_start = "<r>";
  family.not_a_query_end = "</r>";
  const auto renderer = renderer_of(toy_template("chatml"), family).value();
  EXPECT_TRUE(renderer->is_query(user("<r> and more")));
  EXPECT_FALSE(renderer->is_query(user("<r>data</r>")));
  EXPECT_FALSE(renderer->is_query(result("data")));
}

TEST(Renderer, a_template_that_does_not_parse_and_a_missing_token_are_errors) {
  EXPECT_FALSE(renderer_of("{% if %}", family_named("chatml")).ok());
  Family family = family_named("chatml");
  family.close = "<|nowhere|>";
  const auto renderer = renderer_of(toy_template("chatml"), family);
  ASSERT_FALSE(renderer.ok());
  EXPECT_NE(renderer.error().message.find("<|nowhere|>"), std::string::npos);
}

TEST(Renderer, a_template_argument_of_the_gateway_is_refused_in_roots_and_deltas) {
  const auto renderer = toy_renderer("chatml");
  auto arguments = json::Document::parse(R"({"add_generation_prompt": false})").value();
  TemplateInputs inputs;
  inputs.arguments = arguments.root();
  const auto root = renderer->full(Messages{user("q")}, inputs);
  ASSERT_FALSE(root.ok());
  EXPECT_EQ(root.error().field, "chat_template_kwargs.add_generation_prompt");
  const auto delta = renderer->delta(ended_with("<|im_end|>"), Messages{user("q")}, 3, inputs);
  ASSERT_FALSE(delta.ok());
  EXPECT_EQ(delta.error().kind, ErrorKind::kInvalidRequest);
}

TEST(Renderer, what_the_template_refuses_is_the_callers_error) {
  const auto renderer =
      renderer_of("{{ raise_exception('no such thing') }}", family_named("chatml")).value();
  const auto root = renderer->full(Messages{user("q")}, {});
  ASSERT_FALSE(root.ok());
  EXPECT_EQ(root.error().kind, ErrorKind::kInvalidRequest);
  EXPECT_NE(root.error().message.find("no such thing"), std::string::npos);
}

}  // namespace
}  // namespace verbatim::chat
