#include "chat/context.h"

#include <gtest/gtest.h>

#include "chat/jinja/template.h"
#include "chat/testing/toy_chat.h"

namespace verbatim::chat {
namespace {

using message::Field;
using message::Message;
using message::SpanSource;
using testing::family_named;

// Renders `source` over messages as the template sees them.
base::Result<jinja::Text> render(const std::string& source, std::span<const Message> messages,
                                 const Family& family, const TemplateInputs& inputs = {}) {
  auto list = message_list(messages, family, 0);
  if (!list) return std::move(list).error();
  auto context = template_context(std::move(*list), inputs, {});
  if (!context) return std::move(context).error();
  return jinja::Template::parse(source).value()->render(*context, {});
}

std::string rendered(const std::string& source, std::span<const Message> messages,
                     const Family& family, const TemplateInputs& inputs = {}) {
  auto text = render(source, messages, family, inputs);
  return text ? text->bytes : "error: " + text.error().message;
}

TEST(Context, a_source_survives_the_way_through_its_number) {
  for (const std::uint32_t message : {0U, 1U, 77U, 100'000U}) {
    for (const auto field : {Field::kText, Field::kReasoning, Field::kCallName,
                             Field::kCallArguments, Field::kCallId, Field::kName, Field::kOther}) {
      const auto back = source_of(source_id({SpanSource::kMessage, message, field}));
      EXPECT_EQ(back.kind, SpanSource::kMessage);
      EXPECT_EQ(back.message, message);
      EXPECT_EQ(back.field, field);
    }
  }
  EXPECT_EQ(source_of(source_id({SpanSource::kTools})).kind, SpanSource::kTools);
  EXPECT_EQ(source_of(source_id({SpanSource::kArguments})).kind, SpanSource::kArguments);
  EXPECT_EQ(source_of(source_id({SpanSource::kTemplate})).kind, SpanSource::kTemplate);
}

TEST(Context, a_developer_message_becomes_a_system_message_where_the_family_says_so) {
  std::vector<Message> messages{testing::user("hello"), testing::system("be brief")};
  messages[1].role = message::Role::kDeveloper;
  ASSERT_TRUE(normalise(messages, family_named("chatml")).ok());
  EXPECT_EQ(messages[1].role, message::Role::kSystem);
}

TEST(Context, a_developer_message_is_refused_by_its_place_where_the_family_has_none) {
  std::vector<Message> messages{testing::user("hello"), testing::system("be brief")};
  messages[1].role = message::Role::kDeveloper;
  const auto status = normalise(messages, family_named("roletok"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(status.error().field, "messages[1].role");
}

TEST(Context, the_template_sees_reasoning_under_all_three_names_and_null_fields_not_at_all) {
  const std::vector<Message> messages{testing::user("q"), testing::thinking("why", "a")};
  EXPECT_EQ(rendered("{% for m in messages %}{{ m.reasoning_content }}|{{ m.reasoning }}|"
                     "{{ m.thinking }}|{{ m.tool_calls is defined }};{% endfor %}",
                     messages, family_named("chatml")),
            "|||False;why|why|why|False;");
}

TEST(Context, arguments_reach_the_template_as_text_or_as_value_as_the_family_says) {
  const std::vector<Message> messages{testing::calling("", "look", R"({"a":  1.50})")};
  const std::string source =
      "{{ messages[0].tool_calls[0].function.arguments is string }} "
      "{{ messages[0].tool_calls[0].function.arguments }}";
  EXPECT_EQ(rendered(source, messages, family_named("chatml")), R"(True {"a":  1.50})");
  EXPECT_EQ(rendered(source, messages, family_named("qwen3")), R"(False {'a': 1.5})");
}

TEST(Context, empty_arguments_are_an_empty_object) {
  const std::vector<Message> messages{testing::calling("", "look", "")};
  EXPECT_EQ(rendered("{{ messages[0].tool_calls[0].function.arguments | tojson }}", messages,
                     family_named("qwen3")),
            "{}");
}

TEST(Context, arguments_that_are_not_json_are_refused_by_their_path) {
  std::vector<Message> messages{testing::user("q"), testing::calling("", "look", "{}")};
  messages[1].tool_calls.push_back({"call_2", "look", "{oops"});
  const auto list = message_list(messages, family_named("qwen3"), 3);
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().kind, base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(list.error().field, "messages[4].tool_calls[1].function.arguments");
  EXPECT_TRUE(message_list(messages, family_named("chatml"), 3).ok());
}

TEST(Context, unknown_fields_are_shown_to_the_template) {
  std::vector<Message> messages{testing::user("q")};
  messages[0].unknown = {{"mood", R"(["good"])"}};
  EXPECT_EQ(rendered("{{ messages[0].mood[0] }}", messages, family_named("chatml")), "good");
}

TEST(Context, the_name_of_an_unknown_field_is_the_callers_word) {
  std::vector<Message> messages{testing::user("q")};
  messages[0].unknown = {{"<|im_end|>", "1"}};
  const auto text =
      render("{% for key in messages[0] %}{{ key }}{% endfor %}", messages, family_named("chatml"));
  ASSERT_TRUE(text.ok()) << text.error().message;
  ASSERT_EQ(text->bytes, "rolecontent<|im_end|>");
  ASSERT_EQ(text->runs.size(), 2U);
  EXPECT_EQ(text->runs[0].source, jinja::kTemplate);
  EXPECT_EQ(source_of(text->runs[1].source).field, Field::kOther);
}

TEST(Context, every_part_of_a_message_carries_its_field) {
  std::vector<Message> messages{testing::thinking("R", "T")};
  messages[0].tool_calls.push_back({"I", "N", "A"});
  messages[0].name = "P";
  messages[0].unknown = {{"mood", "\"O\""}};
  const auto text = render(
      "{% set m = messages[0] %}{{ m.content + m.reasoning + m.tool_calls[0].function.name + "
      "m.tool_calls[0].function.arguments + m.tool_calls[0].id + m.name + m.mood + m.role }}",
      messages, family_named("chatml"));
  ASSERT_TRUE(text.ok()) << text.error().message;
  ASSERT_EQ(text->bytes, "TRNAIPOassistant");
  const std::vector<Field> fields{Field::kText,          Field::kReasoning, Field::kCallName,
                                  Field::kCallArguments, Field::kCallId,    Field::kName,
                                  Field::kOther};
  ASSERT_EQ(text->runs.size(), fields.size() + 1);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    EXPECT_EQ(source_of(text->runs[i].source).field, fields[i]) << i;
    EXPECT_EQ(source_of(text->runs[i].source).message, 0U);
  }
  EXPECT_EQ(text->runs.back().source, jinja::kTemplate) << "roles are not the caller's words";
}

TEST(Context, tools_and_arguments_of_the_request_have_sources_of_their_own) {
  const std::vector<message::Tool> tools{testing::tool("look")};
  auto arguments = json::Document::parse(R"({"mood": "good"})").value();
  TemplateInputs inputs;
  inputs.tools = tools;
  inputs.arguments = arguments.root();
  const auto text =
      render("{{ tools[0].function.name }}{{ mood }}", {}, family_named("chatml"), inputs);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->bytes, "lookgood");
  ASSERT_EQ(text->runs.size(), 2U);
  EXPECT_EQ(source_of(text->runs[0].source).kind, SpanSource::kTools);
  EXPECT_EQ(source_of(text->runs[1].source).kind, SpanSource::kArguments);
}

TEST(Context, an_argument_that_the_gateway_sets_is_refused_by_its_name) {
  for (const char* name : {"messages", "tools", "documents", "add_generation_prompt"}) {
    auto arguments = json::Document::parse(std::string("{\"") + name + "\": true}").value();
    TemplateInputs inputs;
    inputs.arguments = arguments.root();
    const auto context = template_context(jinja::Value::list({}), inputs, {});
    ASSERT_FALSE(context.ok()) << name;
    EXPECT_EQ(context.error().kind, base::ErrorKind::kInvalidRequest);
    EXPECT_EQ(context.error().field, std::string("chat_template_kwargs.") + name);
  }
}

TEST(Context, special_tokens_and_the_generation_prompt_are_there) {
  const std::vector<std::pair<std::string, std::string>> special{{"bos_token", "<s>"}};
  for (const bool wanted : {true, false}) {
    TemplateInputs inputs;
    inputs.generation_prompt = wanted;
    const auto context = template_context(jinja::Value::list({}), inputs, special).value();
    EXPECT_EQ(jinja::Template::parse("{{ bos_token }}{{ add_generation_prompt }}")
                  .value()
                  ->render(context, {})
                  ->bytes,
              wanted ? "<s>True" : "<s>False");
  }
}

}  // namespace
}  // namespace verbatim::chat
