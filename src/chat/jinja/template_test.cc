#include "chat/jinja/template.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "chat/jinja/testing/render.h"

namespace verbatim::chat::jinja {
namespace {

using testing::context;
using testing::render;
using testing::text_of;

TEST(template_, text_without_tags_is_itself) {
  EXPECT_EQ(text_of("a\nb {x} %"), "a\nb {x} %");
}

TEST(template_, one_line_end_at_the_end_of_the_template_is_dropped) {
  EXPECT_EQ(text_of("a\n\n"), "a\n");
  EXPECT_EQ(text_of("a\r\nb\r\n"), "a\nb");
}

TEST(template_, block_tags_take_their_line_with_them) {
  EXPECT_EQ(text_of("a\n  {% if true %}\n  b\n  {% endif %}\nc"), "a\n  b\nc");
  EXPECT_EQ(text_of("a  {%- if true -%}  b  {%+ endif +%}\nc"), "ab  \nc");
}

TEST(template_, names_set_in_a_loop_end_with_each_round_but_namespaces_keep) {
  EXPECT_EQ(
      text_of("{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}"),
      "231");
  EXPECT_EQ(text_of("{% set n = namespace(x=1) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}{% "
                    "endfor %}{{ n.x }}"),
            "4");
}

TEST(template_, the_special_variable_of_a_loop_knows_its_place) {
  EXPECT_EQ(text_of("{% for c in 'ab' %}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ "
                    "loop.previtem }}{{ loop.nextitem }};{% endfor %}"),
            "0TrueFalseb;1FalseTruea;");
}

TEST(template_, macros_take_defaults_names_and_callers) {
  EXPECT_EQ(text_of("{% macro m(a, b='-') %}<{{ a }}{{ b }}{{ varargs }}>{% endmacro %}{{ m(1) "
                    "}}{{ m(b=2, a=3) }}{{ m(1, 2, 3) }}"),
            "<1-()><32()><12(3,)>");
  EXPECT_EQ(
      text_of(
          "{% macro m() %}[{{ caller('x') }}]{% endmacro %}{% call(y) m() %}{{ y }}!{% endcall %}"),
      "[x!]");
}

TEST(template_, values_print_as_python_prints_them) {
  EXPECT_EQ(
      text_of(
          "{{ x }}",
          R"({"x": {"a": [1, 2.0, 1e-7, null, true, "it's", 123456789012345678901234567890]}})"),
      R"({'a': [1, 2.0, 1e-07, None, True, "it's", 123456789012345678901234567890]})");
}

TEST(template_, tojson_prints_what_json_dumps_prints) {
  EXPECT_EQ(text_of("{{ x | tojson }}", R"({"x": {"b": "<é\n", "a": [1.0, 1e22, null]}})"),
            R"({"b": "<é\n", "a": [1.0, 1e+22, null]})");
  EXPECT_EQ(text_of("{{ x | tojson(indent=2, sort_keys=true, ensure_ascii=true) }}",
                    R"({"x": {"b": "é", "a": []}})"),
            "{\n  \"a\": [],\n  \"b\": \"\\u00e9\"\n}");
}

TEST(template_, undefined_prints_nothing_and_fails_when_it_is_used) {
  EXPECT_EQ(text_of("[{{ x }}{{ '' if not x else x.y }}]"), "[]");
  EXPECT_EQ(text_of("\n{{ x.y }}"), "error: line 2: UndefinedError: 'x' is undefined");
  EXPECT_EQ(text_of("{{ d.y.z }}", R"({"d": {}})"),
            "error: line 1: UndefinedError: 'dict object' has no attribute 'y'");
}

TEST(template_, a_string_and_a_number_do_not_add_up) {
  EXPECT_EQ(text_of("{{ 'a' + 1 }}"),
            "error: line 1: TypeError: can only concatenate str (not \"int\") to str");
}

TEST(template_, the_sandbox_keeps_lists_and_dicts_as_they_are) {
  EXPECT_EQ(
      text_of("{{ x.append(1) }}", R"({"x": []})"),
      "error: line 1: SecurityError: access to attribute 'append' of 'list' object is unsafe.");
  EXPECT_EQ(text_of("{{ x.items() }}", R"({"x": {"items": 1}})"), "dict_items([('items', 1)])");
}

TEST(template_, markup_escapes_what_is_added_to_it) {
  EXPECT_EQ(text_of("{{ '<a>'|safe + '<b>' }}{{ '<' + '<'|safe }}{{ ('<'|safe) ~ '<' }}"),
            "<a>&lt;b&gt;&lt;<<<");
}

TEST(template_, raise_exception_is_the_callers_fault_in_the_templates_own_words) {
  const auto result = render("{{ raise_exception('Roles must alternate!') }}", context("{}"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, base::ErrorKind::kInvalidRequest);
  EXPECT_EQ(result.error().message, "Roles must alternate!");
}

TEST(template_, what_is_wrong_with_a_template_is_said_with_its_line) {
  EXPECT_EQ(text_of("a\n{% if x %}\n"),
            "error: template line 2: unexpected end of the template, looking for 'elif'");
  EXPECT_EQ(text_of("\n\n{{ 1 + }}"), "error: template line 3: unexpected '}}'");
  EXPECT_EQ(text_of("{% nope %}"), "error: template line 1: unknown tag 'nope'");
  EXPECT_EQ(text_of("{{ 1|nope }}"), "error: template line 1: there is no filter named 'nope'");
  EXPECT_EQ(text_of("{% include 'x' %}"),
            "error: template line 1: the tag 'include' is not supported in chat templates");
  EXPECT_EQ(text_of("{{ '\\ud800' }}"),
            "error: template line 1: surrogate escape in a string: not a character of its own");
  EXPECT_EQ(text_of("\xff"), "error: template line 1: the template is not UTF-8");
}

TEST(template_, the_host_sets_the_clock) {
  RenderOptions options;
  options.clock = {.wall_ms = 1767323045678, .offset_minutes = 60};
  EXPECT_EQ(text_of("{{ strftime_now('%Y-%m-%d %H:%M:%S %A %j %f|%Z') }}", "{}", options),
            "2026-01-02 04:04:05 Friday 002 678000|");
  options.clock = {.wall_ms = -1, .offset_minutes = 0};
  EXPECT_EQ(text_of("{{ strftime_now('%d %b %Y %H:%M:%S') }}", "{}", options),
            "31 Dec 1969 23:59:59");
}

TEST(template_, variables_of_the_host_hide_functions) {
  EXPECT_EQ(text_of("{{ range }}", R"({"range": "mine"})"), "mine");
}

TEST(template_, many_threads_render_with_one_template_and_one_context) {
  const auto parsed =
      Template::parse("{% for m in messages %}{{ m.content|upper }}{{ m|tojson }}{% endfor %}")
          .value();
  const Value shared = context(R"({"messages": [{"content": "a"}, {"content": "ü"}]})");
  const std::string expected = parsed->render(shared)->bytes;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int& count : wrong) {
    threads.emplace_back([&parsed, &shared, &expected, &count] {
      for (int i = 0; i < 500; ++i) count += parsed->render(shared)->bytes == expected ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace verbatim::chat::jinja
