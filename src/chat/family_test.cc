#include "chat/family.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chat/families_embedded.h"
#include "chat/testing/toy_chat.h"

namespace verbatim::chat {
namespace {

const char* const kWhole = R"({
  "name": "n", "about": "a test",
  "recognise": {"template_contains": ["t"], "added_tokens": ["<|im_start|>"]},
  "grammar": "hermes", "arguments": "object", "developer": "system", "boundary": "after_close",
  "close": "<|im_end|>", "stop": ["<|im_end|>"], "message_openers": [],
  "opener": "<|im_start|>",
  "reasoning": {"open": "<think>", "close": "</think>"},
  "synthetic_close": {"plain": "<|im_end|>", "in_reasoning": "</think><|im_end|>"},
  "not_a_query": {"starts": "<r>", "ends": "</r>"},
  "bases": {"query": [["system", "assistant+reasoning"]], "no_query": [["user", "assistant"]]},
  "cut": ["reasoning", "call_id", "name"], "opener_arguments": ["enable_thinking"]})";

// kWhole with one piece of text in place of another.
std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = kWhole;
  const auto at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return text.replace(at, old_text.size(), new_text);
}

TEST(Family, every_family_of_the_build_parses) {
  ASSERT_FALSE(kFamilyFiles.empty());
  for (const auto text : kFamilyFiles) {
    const auto family = parse_family(text);
    ASSERT_TRUE(family.ok()) << family.error().message << "\n" << text;
    EXPECT_FALSE(family->name.empty());
    EXPECT_FALSE(family->query_bases.empty()) << family->name;
    EXPECT_FALSE(family->no_query_bases.empty()) << family->name;
  }
  EXPECT_EQ(families().size(), kFamilyFiles.size());
}

TEST(Family, a_whole_file_is_read_field_by_field) {
  const auto f = parse_family(kWhole);
  ASSERT_TRUE(f.ok()) << f.error().message;
  EXPECT_EQ(f->name, "n");
  EXPECT_EQ(f->template_contains, std::vector<std::string>{"t"});
  EXPECT_EQ(f->added_tokens, std::vector<std::string>{"<|im_start|>"});
  EXPECT_EQ(f->arguments, Family::Arguments::kObject);
  EXPECT_EQ(f->developer, Family::Developer::kSystem);
  EXPECT_EQ(f->boundary, Family::Boundary::kAfterClose);
  EXPECT_EQ(f->max_trim(), 0U);
  EXPECT_EQ(f->close, "<|im_end|>");
  EXPECT_EQ(f->reasoning_open + f->reasoning_close, "<think></think>");
  EXPECT_EQ(f->synthetic_close, "<|im_end|>");
  EXPECT_EQ(f->synthetic_close_in_reasoning, "</think><|im_end|>");
  EXPECT_EQ(f->not_a_query_start + f->not_a_query_end, "<r></r>");
  ASSERT_EQ(f->query_bases.size(), 1U);
  EXPECT_EQ(f->query_bases[0][1].role, "assistant");
  EXPECT_TRUE(f->query_bases[0][1].reasoning);
  EXPECT_FALSE(f->no_query_bases[0][1].reasoning);
  EXPECT_TRUE(f->cuts("call_id"));
  EXPECT_FALSE(f->cuts("text"));
  EXPECT_TRUE(f->opener_only("enable_thinking"));
  EXPECT_FALSE(f->opener_only("tools"));
}

TEST(Family, a_broken_field_is_an_error_that_names_its_key) {
  struct Row {
    const char* was;
    const char* is;
    const char* key;
  };
  const std::vector<Row> rows{
      {R"("name": "n")", R"("name": 5)", "name"},
      {R"("name": "n",)", "", "name"},
      {R"("name": "n")", R"("name": "")", "name"},
      {R"("about": "a test")", R"("about": [])", "about"},
      {R"({"template_contains": ["t"], "added_tokens": ["<|im_start|>"]})", "[]", "recognise"},
      {R"("recognise")", R"("recognize")", "recognize"},
      {R"(["t"])", R"("t")", "recognise.template_contains"},
      {R"(["t"])", "[]", "recognise.template_contains"},
      {R"(["t"])", "[1]", "recognise.template_contains"},
      {R"("added_tokens": ["<|im_start|>"])", R"("added_tokens": {})", "recognise.added_tokens"},
      {R"("added_tokens")", R"("tokens")", "recognise.tokens"},
      {R"("hermes")", R"("hermez")", "grammar"},
      {R"("grammar": "hermes",)", "", "grammar"},
      {R"("arguments": "object")", R"("arguments": "text")", "arguments"},
      {R"("developer": "system")", R"("developer": "drop")", "developer"},
      {R"("after_close")", R"("behind")", "boundary"},
      {R"("after_close")", R"("next_opener")", "message_openers"},
      {R"("message_openers": [])", R"("message_openers": ["<|user|>"])", "message_openers"},
      {R"("close": "<|im_end|>", "stop")", R"("stop")", "close"},
      {R"("stop": ["<|im_end|>"])", R"("stop": "<|im_end|>")", "stop"},
      {R"("stop": ["<|im_end|>"])", R"("stop": [])", "stop"},
      {R"("opener": "<|im_start|>")", R"("opener": null)", "opener"},
      {R"({"open": "<think>", "close": "</think>"})", R"("<think>")", "reasoning"},
      {R"("open": "<think>", )", "", "reasoning.open"},
      {R"("close": "</think>"})", R"("close": 1})", "reasoning.close"},
      {R"("plain": "<|im_end|>")", R"("plain": 7)", "synthetic_close.plain"},
      {R"("in_reasoning")", R"("inside")", "synthetic_close.inside"},
      {R"({"starts": "<r>", "ends": "</r>"})", "7", "not_a_query"},
      {R"("ends": "</r>")", R"("ends": {})", "not_a_query.ends"},
      {R"([["system", "assistant+reasoning"]])", R"("system")", "bases.query"},
      {R"(["system", "assistant+reasoning"])", R"("system")", "bases.query"},
      {R"("system", "assistant+reasoning")", R"("assistant", "user")", "bases.query"},
      {R"("user", "assistant")", R"("tool", "assistant")", "bases.no_query"},
      {R"("user", "assistant")", "", "bases.no_query"},
      {R"("user", "assistant")", R"(3, "assistant")", "bases.no_query"},
      {R"("bases")", R"("base")", "base"},
      {R"("cut": ["reasoning")", R"("cut": ["thoughts")", "cut"},
      {R"(["enable_thinking"])", R"("enable_thinking")", "opener_arguments"},
  };
  for (const auto& row : rows) {
    const auto family = parse_family(with(row.was, row.is));
    ASSERT_FALSE(family.ok()) << row.was << " -> " << row.is;
    EXPECT_EQ(family.error().field, row.key) << row.was << " -> " << row.is;
    EXPECT_NE(family.error().message.find(row.key), std::string::npos) << family.error().message;
  }
}

TEST(Family, what_is_no_object_is_refused) {
  EXPECT_FALSE(parse_family("[]").ok());
  EXPECT_FALSE(parse_family("{").ok());
}

TEST(Family, exactly_one_family_fits_each_toy_template) {
  for (const char* name : {"chatml", "roletok"}) {
    const auto found = recognise_family(*testing::toy_tokenizer(), testing::toy_template(name));
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->name, name);
  }
}

TEST(Family, a_template_that_fits_none_is_refused_with_the_list_of_families) {
  const auto found = recognise_family(*testing::toy_tokenizer(), "{{ messages }}");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, base::ErrorKind::kUnsupported);
  for (const auto& family : families())
    EXPECT_NE(found.error().message.find(family.name + " ("), std::string::npos)
        << found.error().message;
}

TEST(Family, a_template_that_fits_two_is_refused_with_their_names) {
  const auto both = testing::toy_template("chatml") + testing::toy_template("roletok");
  const auto found = recognise_family(*testing::toy_tokenizer(), both);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("chatml ("), std::string::npos);
  EXPECT_NE(found.error().message.find("roletok ("), std::string::npos);
  EXPECT_EQ(found.error().message.find("qwen3 ("), std::string::npos) << found.error().message;
}

}  // namespace
}  // namespace verbatim::chat
