// Nothing vanishes: what a template leaves out of the prompt is refused, not dropped.
#include <gtest/gtest.h>

#include "chat/renderer.h"
#include "chat/testing/toy_chat.h"

namespace verbatim::chat {
namespace {

using base::ErrorKind;
using message::Message;
using namespace testing;  // NOLINT(google-build-using-namespace)

using Messages = std::vector<Message>;

// A ChatML template that prints of each message what `parts` says.
std::string printing(const std::string& parts) {
  return "{%- for m in messages -%}{{- '<|im_start|>' + m.role + '\\n' -}}" + parts +
         "{{- '<|im_end|>\\n' -}}{%- endfor -%}"
         "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}";
}

const std::string kContent = "{{- m.content -}}";
const std::string kReasoning = "{{- m.reasoning_content or '' -}}";
const std::string kNames =
    "{%- for c in m.tool_calls or [] -%}{{- c.function.name -}}{%- endfor -%}";
const std::string kCalls =
    "{%- for c in m.tool_calls or [] -%}{{- c.function.name -}}"
    "{{- c.function.arguments if c.function.arguments is string else c.function.arguments|tojson "
    "-}}{%- endfor -%}";

Family nothing_cut() {
  Family family = family_named("chatml");
  family.cut.clear();
  return family;
}

// The field named when the template that prints `parts` renders one message, "" for success.
std::string refused_field(const std::string& parts, Message message,
                          Family family = nothing_cut()) {
  const auto renderer = renderer_of(printing(parts), std::move(family)).value();
  const auto rendered = renderer->full(Messages{user("q"), std::move(message)}, {});
  if (rendered) return "";
  EXPECT_EQ(rendered.error().kind, ErrorKind::kInvalidRequest);
  return rendered.error().field;
}

TEST(RendererCoverage, dropped_text_is_refused) {
  EXPECT_EQ(refused_field(kContent, system("notice")), "");
  EXPECT_EQ(refused_field("{%- if m.role != 'system' -%}{{- m.content -}}{%- endif -%}",
                          system("notice")),
            "messages[1].content");
}

TEST(RendererCoverage, blank_text_may_vanish) {
  EXPECT_EQ(refused_field("{{- m.content.strip() -}}", system(" \n\t")), "");
}

TEST(RendererCoverage, the_refusal_says_which_role) {
  const auto renderer =
      renderer_of(printing("{%- if m.role == 'user' -%}{{- m.content -}}{%- endif -%}"),
                  nothing_cut())
          .value();
  const auto rendered = renderer->full(Messages{user("q"), result("42")}, {});
  ASSERT_FALSE(rendered.ok());
  EXPECT_NE(rendered.error().message.find("role \"tool\""), std::string::npos)
      << rendered.error().message;
}

TEST(RendererCoverage, dropped_reasoning_is_refused_unless_the_family_cuts_it) {
  EXPECT_EQ(refused_field(kContent, thinking("why", "a")), "messages[1].reasoning_content");
  EXPECT_EQ(refused_field(kContent + kReasoning, thinking("why", "a")), "");
  EXPECT_EQ(refused_field(kContent, thinking("why", "a"), family_named("chatml")), "");
}

TEST(RendererCoverage, a_dropped_call_id_is_refused_unless_the_family_cuts_it) {
  EXPECT_EQ(refused_field(kContent, result("42")), "messages[1].tool_call_id");
  EXPECT_EQ(refused_field(kContent + "{{- m.tool_call_id or '' -}}", result("42")), "");
  EXPECT_EQ(refused_field(kContent, result("42"), family_named("chatml")), "");
}

TEST(RendererCoverage, a_dropped_name_is_refused_unless_the_family_cuts_it) {
  Message named = user("hello");
  named.name = "Ann";
  EXPECT_EQ(refused_field(kContent, named), "messages[1].name");
  EXPECT_EQ(refused_field(kContent + "{{- m.name or '' -}}", named), "");
  EXPECT_EQ(refused_field(kContent, named, family_named("chatml")), "");
}

TEST(RendererCoverage, dropped_calls_are_refused) {
  Message message = calling("text", "look", "{}");
  EXPECT_EQ(refused_field(kContent, message, family_named("chatml")), "messages[1].tool_calls");
  EXPECT_EQ(refused_field(kContent + kCalls, message, family_named("chatml")), "");
}

TEST(RendererCoverage, each_of_several_calls_has_to_be_there) {
  Message message = calling("text", "look", "{}");
  message.tool_calls.push_back({"call_2", "listen", "{}"});
  const std::string first =
      "{{- (m.tool_calls or [{'function': {'name': ''}}])[0].function.name -}}";
  EXPECT_EQ(refused_field(kContent + first, message, family_named("chatml")),
            "messages[1].tool_calls");
  EXPECT_EQ(refused_field(kContent + kCalls, message, family_named("chatml")), "");
}

TEST(RendererCoverage, dropped_arguments_are_refused) {
  for (const char* family : {"chatml", "qwen3"}) {
    const auto message = calling("text", "look", R"({"at": 7})");
    EXPECT_EQ(refused_field(kContent + kNames, message, family_named(family)),
              "messages[1].tool_calls")
        << family;
    EXPECT_EQ(refused_field(kContent + kCalls, message, family_named(family)), "") << family;
    for (const char* none : {"{}", " { } ", "", "null"}) {
      EXPECT_EQ(
          refused_field(kContent + kNames, calling("text", "look", none), family_named("chatml")),
          "")
          << family << " " << none;
    }
  }
}

TEST(RendererCoverage, a_delta_names_the_place_in_the_whole_conversation) {
  const auto renderer =
      renderer_of(printing("{%- if 'secret' not in m.content -%}{{- m.content -}}{%- endif -%}"),
                  family_named("chatml"))
          .value();
  TurnEnd end;
  end.last_id = added("<|im_end|>");
  const auto delta = renderer->delta(end, Messages{user("fine"), user("a secret")}, 7, {});
  ASSERT_FALSE(delta.ok());
  EXPECT_EQ(delta.error().kind, ErrorKind::kInvalidRequest);
  EXPECT_EQ(delta.error().field, "messages[8].content");
}

TEST(RendererCoverage, arguments_that_are_not_json_are_refused_by_their_place) {
  const auto renderer = renderer_of(printing(kContent + kCalls), family_named("qwen3")).value();
  const Messages suffix{calling("", "look", "{oops"), user("q")};
  const auto root = renderer->full(suffix, {});
  ASSERT_FALSE(root.ok());
  EXPECT_EQ(root.error().field, "messages[0].tool_calls[0].function.arguments");
  TurnEnd end;
  end.last_id = added("<|im_end|>");
  const auto delta = renderer->delta(end, suffix, 5, {});
  ASSERT_FALSE(delta.ok());
  EXPECT_EQ(delta.error().field, "messages[5].tool_calls[0].function.arguments");
}

TEST(RendererCoverage, a_template_that_renders_earlier_messages_anew_is_not_appendable) {
  const auto renderer =
      renderer_of("{{- '<|im_start|>count\\n' + (messages|length)|string + '<|im_end|>\\n' -}}" +
                      printing(kContent + kReasoning + kCalls),
                  family_named("chatml"))
          .value();
  EXPECT_TRUE(renderer->describe_classes().starts_with("goes on behind a turn with: nothing"))
      << renderer->describe_classes();
  TurnEnd end;
  end.last_id = added("<|im_end|>");
  const auto delta = renderer->delta(end, Messages{user("q")}, 3, {});
  ASSERT_FALSE(delta.ok());
  EXPECT_EQ(delta.error().kind, ErrorKind::kUnsupported);
  EXPECT_TRUE(renderer->full(Messages{user("q")}, {}).ok()) << "a new root is still possible";
}

TEST(RendererCoverage, only_the_classes_that_are_proved_can_be_appended) {
  // The last system message moves to the head: whatever contains one re-renders what stands before.
  const auto renderer =
      renderer_of(
          "{%- set ns = namespace(s='') -%}{%- for m in messages -%}{%- if m.role == "
          "'system' and not loop.first -%}{%- set ns.s = m.content -%}{%- endif -%}{%- "
          "endfor -%}{{- '<|im_start|>late\\n' + ns.s + '<|im_end|>\\n' -}}" +
              printing(kContent + kReasoning + kCalls),
          family_named("chatml"))
          .value();
  TurnEnd end;
  end.last_id = added("<|im_end|>");
  EXPECT_TRUE(renderer->delta(end, Messages{user("q")}, 3, {}).ok());
  const auto delta = renderer->delta(end, Messages{system("late"), user("q")}, 3, {});
  ASSERT_FALSE(delta.ok());
  EXPECT_EQ(delta.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(renderer->describe_classes().find("New root with: system"), std::string::npos)
      << renderer->describe_classes();
}

}  // namespace
}  // namespace verbatim::chat
