#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "json/value.h"
#include "sim/behaviour.h"
#include "sim/completion.h"
#include "sim/faults.h"
#include "sim/sampler.h"
#include "sim/script.h"
#include "sim/testing/toy_tokenizer.h"

namespace verbatim::sim {
namespace {

const std::string kText =
    "<think>\nIs it sunny in Rome?\n</think>\n\nÄpfel, 東京 and \U0001F468\u200D\U0001F469: the "
    "weather.<tool_call>\n{\"name\": \"f\"}\n</tool_call><|im_end|>";

TEST(Sampler, spells_the_text_in_ids_that_are_not_its_canonical_encoding) {
  const auto tokenizer = testing::toy_tokenizer();
  const Sampler sampler(*tokenizer);
  TokenIds canonical;
  tokenizer->encode(kText, canonical);
  std::set<TokenIds> spellings;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    base::SeededRandom random(seed);
    const auto ids = sampler.sample(kText, random);
    EXPECT_EQ(tokenizer->decode(ids), kText);
    EXPECT_NE(ids, canonical) << "seed " << seed;
    EXPECT_EQ(ids.back(), tokenizer->added("<|im_end|>")->id);
    spellings.insert(ids);
  }
  EXPECT_GT(spellings.size(), 45u);
}

TEST(Sampler, the_same_seed_samples_the_same_ids_and_logprobs) {
  const auto tokenizer = testing::toy_tokenizer();
  const Sampler sampler(*tokenizer);
  base::SeededRandom a(5), b(5);
  EXPECT_EQ(sampler.sample(kText, a), sampler.sample(kText, b));
  EXPECT_EQ(logprob(1, 2, 3), logprob(1, 2, 3));
  EXPECT_NE(logprob(1, 2, 3), logprob(2, 2, 3));
  EXPECT_LE(logprob(9, 9, 9), 0);
}

TEST(Completion, ends_at_the_limit_then_at_stop_ids_then_at_stop_strings) {
  const auto tokenizer = testing::toy_tokenizer();
  TokenIds ids;
  tokenizer->encode("one two three four", ids);
  const auto limited = sample_within(*tokenizer, ids, {2, {}, {}});
  EXPECT_EQ(limited.ids.size(), 2u);
  EXPECT_EQ(limited.finish.type, "length");
  const auto stopped = sample_within(*tokenizer, ids, {100, {ids[1]}, {}});
  EXPECT_EQ(stopped.ids.size(), 2u);
  EXPECT_EQ(stopped.finish.matched_id, ids[1]);
  const auto both = sample_within(*tokenizer, ids, {2, {ids[1]}, {}});
  EXPECT_EQ(both.finish.type, "length");
  const auto text = sample_within(*tokenizer, ids, {100, {}, {"o th"}});
  EXPECT_EQ(text.finish.matched_string, "o th");
  EXPECT_NE(tokenizer->decode(text.ids).find("o th"), std::string::npos);
  EXPECT_LT(text.ids.size(), ids.size());
}

const std::string kTool =
    R"({"type":"function","function":{"name":"get_weather","parameters":{"type":"object",)"
    R"("properties":{"city":{"type":"string"},"days":{"type":"integer"},"unit":{"enum":["C","F"]},)"
    R"("more":{"type":"array","items":{"type":"number"}}},"required":["city","days","unit"]}}})";

std::string chatml(const std::string& last_turn, const std::string& opener) {
  return "<|im_start|>system\nBe kind.\n\n# Tools\n" + kTool + "<|im_end|>\n<|im_start|>user\n" +
         last_turn + "<|im_end|>\n<|im_start|>assistant\n" + opener;
}

TEST(Behaviour, calls_the_first_tool_with_arguments_that_fit) {
  EXPECT_EQ(reply_text(chatml("How is Rome today?", ""), {.thinks = true}),
            "<think>\nI need the tool for that.\n</think>\n\n<tool_call>\n{\"name\": "
            "\"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": 3, \"unit\": "
            "\"C\"}}\n</tool_call>");
}

TEST(Behaviour, answers_with_what_the_tool_said) {
  const auto prompt = chatml("\n<tool_response>\nsunny, 20 C\n</tool_response>", "");
  EXPECT_EQ(reply_text(prompt, {}), "The tool says: sunny, 20 C");
}

TEST(Behaviour, does_not_think_where_the_prompt_has_closed_the_thought) {
  const auto closed = chatml("Hi", "<think>\n\n</think>\n\n");
  EXPECT_TRUE(reply_text(closed, {.thinks = true}).starts_with("<tool_call>"));
  const auto opened = chatml("Hi", "<think>\n");
  EXPECT_TRUE(reply_text(opened, {.thinks = true}).starts_with("I need"));
}

TEST(Behaviour, without_tools_it_says_something) {
  EXPECT_EQ(reply_text("<|system|>\nx<|user|>\nhello<|assistant|>\n", {}), "You said: hello");
  EXPECT_EQ(reply_text("<|user|>\nhello<|assistant|>\n", {.behaviour = Behaviour::kEcho}), "hello");
  EXPECT_EQ(reply_text("", {.behaviour = Behaviour::kFixedText, .fixed_text = "x"}), "x");
}

TEST(Behaviour, arguments_are_an_object_whatever_the_schema) {
  for (const char* schema :
       {"{}", "null", "[", R"({"properties":{"a":{"$ref":"#"}}})", R"({"properties":7})",
        R"({"properties":{"a":{"type":["null","object"],"properties":{"b":{}}}}})",
        R"({"properties":{"\"q\"":{"type":"string"}}})"}) {
    const auto text = plausible_arguments(schema, "say \"x\"");
    const auto parsed = json::Document::parse(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_TRUE(parsed->root().is_object());
  }
}

TEST(Faults, each_has_a_name_that_leads_back) {
  for (std::size_t i = 0; i < kFaults; ++i)
    EXPECT_EQ(fault_named(name(static_cast<Fault>(i))), static_cast<Fault>(i));
}

TEST(Faults, fire_as_often_as_asked) {
  const auto rates = FaultRates::parse("stall=100,http_429=300");
  ASSERT_TRUE(rates.ok());
  base::SeededRandom random(3);
  int stalls = 0, refusals = 0, none = 0;
  for (int i = 0; i < 10000; ++i) {
    const auto fault = rates->draw(random);
    stalls += fault == Fault::kStall;
    refusals += fault == Fault::kHttp429;
    none += !fault;
  }
  EXPECT_NEAR(stalls, 1000, 150);
  EXPECT_NEAR(refusals, 3000, 300);
  EXPECT_EQ(stalls + refusals + none, 10000);
}

TEST(Faults, bad_rates_are_refused) {
  for (const char* text : {"stall", "stall=x", "stall=1001", "stal=1", "stall=600,closed=600"})
    EXPECT_FALSE(FaultRates::parse(text).ok()) << text;
  EXPECT_TRUE(FaultRates::parse("").ok());
  EXPECT_TRUE(FaultRates::parse("all=3,stall=0").ok());
}

TEST(Script, serves_steps_in_order_and_by_what_they_wait_for) {
  auto script = Script::parse(R"({"steps":[
    {"text":"one"}, {"when":{"tail":"Rome"},"text":"weather","repeat":true},
    {"when":{"prompt_ids":[1,2]},"output_ids":[7],"logprobs":[-1.5],"finish":null}]})");
  ASSERT_TRUE(script.ok()) << script.error().message;
  const TokenIds prompt = {1, 2}, other = {1, 2, 3};
  EXPECT_EQ(script->next(other, "")->text, "one");
  EXPECT_EQ(script->next(other, "in Rome?")->text, "weather");
  EXPECT_EQ(script->next(other, ""), nullptr);
  const Reply* ids = script->next(prompt, "");
  ASSERT_NE(ids, nullptr);
  EXPECT_EQ(ids->ids, TokenIds{7});
  EXPECT_EQ(ids->finish->type, "");
  EXPECT_EQ(script->next(prompt, ""), nullptr);
  EXPECT_EQ(script->next(prompt, "in Rome?")->text, "weather");
}

TEST(Script, a_bad_step_is_named) {
  const std::vector<std::pair<const char*, const char*>> rows = {
      {R"([])", "steps"},
      {R"({"steps":[{"text":"a"},{}]})", "steps[1]"},
      {R"({"steps":[{"tekst":"a"}]})", "steps[0].tekst"},
      {R"({"steps":[{"text":3}]})", "steps[0].text"},
      {R"({"steps":[{"output_ids":[1,-1]}]})", "steps[0].output_ids"},
      {R"({"steps":[{"output_ids":[1],"logprobs":[]},{"output_ids":[1],"logprobs":[1,2]}]})",
       "steps[1].logprobs"},
      {R"({"steps":[{"fault":"tired"}]})", "steps[0].fault"},
      {R"({"steps":[{"text":"x","when":{"tale":"y"}}]})", "steps[0].when.tale"},
      {R"({"steps":[{"status":99}]})", "steps[0].status"}};
  for (const auto& [text, field] : rows) {
    const auto script = Script::parse(text);
    ASSERT_FALSE(script.ok()) << text;
    EXPECT_EQ(script.error().field, field);
  }
}

}  // namespace
}  // namespace verbatim::sim
