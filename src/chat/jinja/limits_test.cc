#include <gtest/gtest.h>

#include "chat/jinja/testing/render.h"

namespace verbatim::chat::jinja {
namespace {

base::ErrorKind kind_of(std::string_view source, std::string_view json = "{}") {
  RenderOptions options;
  options.max_steps = 2'000'000;
  options.max_output_bytes = 8 << 20;
  options.max_allocated_bytes = 64 << 20;
  const auto text = testing::render(source, testing::context(json), options);
  return text ? base::ErrorKind::kInternal : text.error().kind;
}

std::string repeated(std::string_view part, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += part;
  return out;
}

TEST(limits, endless_work_is_cut) {
  EXPECT_EQ(
      kind_of("{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}"),
      base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"), base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{% for x in [[]] recursive %}{{ loop([x]) }}{% endfor %}"),
            base::ErrorKind::kTooLarge);
}

TEST(limits, big_strings_are_cut_before_they_are_made) {
  EXPECT_EQ(kind_of("{{ 'x' * 10**9 }}"), base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{{ [1] * 10**9 }}"), base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{{ 'x'.center(10**9) }}"), base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{{ '%999999999d' % 1 }}"), base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{{ '{:999999999}'.format('a') }}"), base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{{ '\t'.expandtabs(10**9) }}"), base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{{ ('x' * 10**6)|replace('', 'y' * 10**6) }}"), base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{{ ('x' * 5000).join(('y' * 5000)|list) }}"), base::ErrorKind::kTooLarge);
}

TEST(limits, doubling_is_cut) {
  const std::string twice = "{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}";
  EXPECT_EQ(kind_of("{% set n = namespace(x='ab') %}" + twice), base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x "
                    "%}{% endfor %}"),
            base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] "
                    "%}{% endfor %}{{ n.x }}"),
            base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = [n.x, n.x] "
                    "%}{% endfor %}{{ n.x|tojson }}"),
            base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{% set n = namespace(x=[1], y=[1]) %}{% for i in range(99) %}{% set n.x = "
                    "[n.x, n.x] %}{% set n.y = [n.y, n.y] %}{% endfor %}{{ n.x == n.y }}"),
            base::ErrorKind::kTooLarge);
}

TEST(limits, ranges_are_as_small_as_the_sandbox_wants_them) {
  EXPECT_EQ(kind_of("{{ range(10**9) }}"), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of("{{ range(-(2**62), 2**62, 1) }}"), base::ErrorKind::kInvalidRequest);
}

TEST(limits, values_can_not_be_nested_without_end) {
  EXPECT_EQ(kind_of("{% set n = namespace(x=1) %}{% for i in range(90000) %}{% set n.x = [n.x] "
                    "%}{% endfor %}"),
            base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{% set n = namespace(x='a') %}{% for i in range(90000) %}{% set n.x = "
                    "n.x|map('upper') %}{% endfor %}"),
            base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{% set n = namespace(x={}) %}{% for i in range(90000) %}{% set n.x = {1: n.x} "
                    "%}{% endfor %}"),
            base::ErrorKind::kTooLarge);
}

TEST(limits, namespaces_that_hold_each_other_are_freed) {
  EXPECT_EQ(testing::text_of("{% set a = namespace() %}{% set b = namespace(a=a) %}{% set a.b = b "
                             "%}{% set a.l = [a, b] %}ok"),
            "ok");
  EXPECT_EQ(testing::text_of("{% set n = namespace(x=none) %}{% for i in range(50000) %}{% set n.x "
                             "= namespace(x=n.x) %}{% endfor %}ok"),
            "ok");
  EXPECT_EQ(testing::text_of("{% set n = namespace() %}{% macro m() %}{{ n }}{% endmacro %}{% set "
                             "n.m = m %}{% for x in [n] %}{% set n.l = loop %}{% endfor %}ok"),
            "ok");
}

TEST(limits, nesting_in_a_template_is_bounded) {
  EXPECT_EQ(kind_of("{{ " + repeated("(", 100000) + " }}"), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of("{{ " + repeated("[", 100000)), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of("{{ " + repeated("not ", 100000) + "x }}"), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of("{{ " + repeated("- ", 100000) + "1 }}"), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of("{{ x" + repeated(".x", 100000) + " }}"), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of("{{ x" + repeated("|upper", 100000) + " }}"), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of("{{ x" + repeated(" if x else x", 100000) + " }}"),
            base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of("{{ x" + repeated(" - x", 100000) + " }}"), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of(repeated("{% if x %}", 100000)), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(kind_of(repeated("{% for x in y %}", 100000)), base::ErrorKind::kInvalidRequest);
}

TEST(limits, keys_made_of_shared_tuples_are_refused) {
  EXPECT_EQ(kind_of("{% set n = namespace(x=(1,)) %}{% for i in range(99) %}{% set n.x = (n.x, "
                    "n.x) %}{% endfor %}{{ {n.x: 1} }}"),
            base::ErrorKind::kInvalidRequest);
}

TEST(limits, templates_with_very_many_variables_or_branches_parse_in_time) {
  std::string names;
  for (int i = 0; i < 20000; ++i)
    names +=
        "{% if a" + std::to_string(i) + " %}{% set b" + std::to_string(i) + " = 1 %}{% endif %}";
  EXPECT_EQ(kind_of(names), base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(testing::text_of(
                repeated("{% if a %}{% set b = 1 %}{% elif c %}{% set d = 1 %}{% endif %}", 20000)),
            "");
  EXPECT_EQ(kind_of(std::string(3 << 20, 'x')), base::ErrorKind::kTooLarge);
}

TEST(limits, generators_in_generators_are_bounded) {
  std::string source = "{% set n = namespace(x=[1]) %}";
  source +=
      "{% macro m(k) %}{% for a in n.x|map('string')|map('string') if (m(k + 1) or true) %}{% "
      "endfor %}{% endmacro %}{{ m(0) }}";
  EXPECT_EQ(kind_of(source), base::ErrorKind::kTooLarge);
}

TEST(limits, long_chains_without_nesting_are_fine) {
  EXPECT_EQ(testing::text_of("{{ 1" + repeated(" + 1", 50000) + " }}"), "50001");
  EXPECT_EQ(testing::text_of("{{ 'a'" + repeated(" ~ 'a'", 5000) + " }}").size(), 5001U);
  EXPECT_EQ(
      testing::text_of("{% if x %}" + repeated("{% elif x %}", 1000) + "{% else %}ok{% endif %}"),
      "ok");
}

TEST(limits, a_deep_document_prints) {
  const std::string deep = repeated("[", 500) + repeated("]", 500);
  EXPECT_EQ(testing::text_of("{{ x|tojson }}", R"({"x": )" + deep + "}"), deep);
  EXPECT_EQ(testing::text_of("{{ x }}", R"({"x": )" + deep + "}"), deep);
}

TEST(limits, a_search_through_a_long_text_costs_steps) {
  EXPECT_EQ(kind_of("{% set x = 'a' * 4000000 %}{% for i in range(90000) %}{% if 'b' in x %}{% "
                    "endif %}{% endfor %}"),
            base::ErrorKind::kTooLarge);
  EXPECT_EQ(kind_of("{% set x = 'a' * 4000000 %}{% for i in range(90000) %}{% if x.strip('a') %}{% "
                    "endif %}{% endfor %}"),
            base::ErrorKind::kTooLarge);
}

}  // namespace
}  // namespace verbatim::chat::jinja
