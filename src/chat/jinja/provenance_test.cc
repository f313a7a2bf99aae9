#include <random>

#include <gtest/gtest.h>

#include "chat/jinja/testing/render.h"

namespace verbatim::chat::jinja {
namespace {

using testing::runs_of;

// x from source 1, y from source 2, n and d from source 3.
Value inputs() {
  return Value::dict(std::vector<std::pair<std::string, Value>>{
      {"x", Value::string("Abc dé", 1)},
      {"y", Value::string("<y>", 2)},
      {"n", Value::integer(42, 3)},
      {"d",
       Value::dict(std::vector<std::pair<std::string, Value>>{{"k", Value::string("v\n", 2)}}, 3)},
      {"mixed", Value::string(Text{"aBcDe", {{2, 1}, {3, 2}}})},
  });
}
std::string runs(std::string_view source) {
  return runs_of(source, inputs());
}

TEST(provenance, text_belongs_to_the_template_and_values_to_their_source) {
  EXPECT_EQ(runs("a{{ x }}b{{ y }}"), "0:a|1:Abc dé|0:b|2:<y>");
}

TEST(provenance, neighbours_of_one_source_are_one_run) {
  EXPECT_EQ(runs("{{ x }}{{ x }}a{{ 'b' }}"), "1:Abc déAbc dé|0:ab");
}

TEST(provenance, joined_strings_keep_their_parts) {
  EXPECT_EQ(runs("{{ '[' + x + ']' + y }}"), "0:[|1:Abc dé|0:]|2:<y>");
  EXPECT_EQ(runs("{% set z = x ~ '-' ~ n %}{{ z }}"), "1:Abc dé|0:-|3:42");
  EXPECT_EQ(runs("{{ [x, y]|join(', ') }}{{ '/'.join([x, y]) }}"),
            "1:Abc dé|0:, |2:<y>|1:Abc dé|0:/|2:<y>");
  EXPECT_EQ(runs("{{ '%s=%d' % (x, n) }}{{ '{}:{:>4}'.format(y, n) }}"),
            "1:Abc dé|0:=|3:42|2:<y>|0::  |3:42");
}

TEST(provenance, parts_of_a_string_keep_their_source) {
  EXPECT_EQ(runs("{{ mixed[1:4] }}{{ mixed[::-1] }}{{ mixed.split('c')|join }}"),
            "1:B|2:cDeDc|1:BaaB|2:De");
  EXPECT_EQ(runs("{{ mixed.strip('ae') }}{{ mixed|replace('D', x) }}"),
            "1:B|2:cD|1:aB|2:c|1:Abc dé|2:e");
}

TEST(provenance, changed_case_keeps_the_source_of_each_character) {
  EXPECT_EQ(runs("{{ mixed.upper() }}{{ mixed|title }}"), "1:AB|2:CDE|1:Ab|2:cde");
  EXPECT_EQ(runs("{{ x|upper }}"), "1:ABC DÉ");
}

TEST(provenance, text_made_of_a_value_has_the_values_source) {
  EXPECT_EQ(runs("{{ n }}{{ n|string|length }}{{ n + 1 }}{{ x|length }}"), "3:42243|1:6");
  EXPECT_EQ(runs("{{ d }}"), "3:{'k': |2:'v\\n'|3:}");
}

TEST(provenance, json_keeps_the_source_of_strings_and_gives_the_rest_to_the_container) {
  EXPECT_EQ(runs("{{ d|tojson }}"), "3:{\"k\": |2:\"v\\n\"|3:}");
  EXPECT_EQ(runs("{{ {'name': x}|tojson }}"), "0:{\"name\": |1:\"Abc dé\"|0:}");
  EXPECT_EQ(runs("{{ mixed|tojson }}"), "1:\"aB|2:cDe\"");
}

TEST(provenance, escaped_characters_stay_with_their_source) {
  EXPECT_EQ(runs("{{ '<'|safe + y }}"), "0:<|2:&lt;y&gt;");
}

TEST(provenance, macros_blocks_and_loops_pass_it_on) {
  EXPECT_EQ(runs("{% macro m(a) %}({{ a }}){% endmacro %}{% set z = m(x) %}{{ z }}"),
            "0:(|1:Abc dé|0:)");
  EXPECT_EQ(runs("{% set z %}[{{ y }}]{% endset %}{{ z|trim('[') }}"), "2:<y>|0:]");
  EXPECT_EQ(runs("{% for k, v in d.items() %}{{ k }}{{ v|indent }}{% endfor %}"), "3:k|2:v\n");
}

// Random operations on random texts: the runs always tile the text, and the same operations on
// plain texts give the same bytes.
TEST(provenance, runs_tile_the_text_whatever_is_done_to_it) {
  constexpr std::string_view kSteps[] = {"|upper",     "[1:]",
                                         "[::-1]",     "|replace('a', y)",
                                         " ~ y",       ".split(' ')[0]",
                                         "|title",     "|indent(2, true)",
                                         "|tojson",    "[:-1]",
                                         "|center(9)", ".strip()",
                                         " + x",       "|string|list|join('é')",
                                         "|e"};
  std::mt19937 random(20260102);
  for (int round = 0; round < 500; ++round) {
    std::string expression = "x";
    for (int i = 0; i < 6; ++i)
      expression.insert(0, "(").append(kSteps[random() % std::size(kSteps)]).append(")");
    const std::string source = "{{ " + expression + " }}";
    const auto marked = testing::render(source, inputs());
    ASSERT_TRUE(marked) << source << marked.error().message;
    EXPECT_NE(runs_of(*marked), "the runs do not tile the text") << source;
    const auto plain =
        testing::render(source, testing::context(R"({"x": "Abc dé", "y": "<y>"})", 0));
    EXPECT_EQ(plain->bytes, marked->bytes) << source;
    EXPECT_LE(plain->runs.size(), 1U) << source;
  }
}

}  // namespace
}  // namespace verbatim::chat::jinja
