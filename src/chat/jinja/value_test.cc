#include "chat/jinja/value.h"

#include <gtest/gtest.h>

#include "chat/jinja/objects.h"
#include "chat/jinja/testing/render.h"

namespace verbatim::chat::jinja {
namespace {

TEST(value, of_equal_keys_the_last_value_stands_at_the_place_of_the_first) {
  EXPECT_EQ(testing::text_of("{{ x }}", R"({"x": {"a": 1, "b": 2, "a": 3}})"), "{'a': 3, 'b': 2}");
  std::string many;
  for (int i = 0; i < 100; ++i)
    many += "\"k" + std::to_string(i % 40) + "\": " + std::to_string(i) + ", ";
  EXPECT_EQ(testing::text_of("{{ x|length }}{{ x.k7 }}{{ x['k39'] }}{{ x|list|first }}",
                             R"({"x": {)" + many + R"("z": 0}})"),
            "418779k0");
}

TEST(value, keys_that_are_equal_in_python_are_one_key) {
  EXPECT_EQ(
      testing::text_of(
          "{{ {1: 'a', 1.0: 'b', true: 'c'} }}{{ {1: 'a'}[true] }}{{ {(1, 2): 'x'}[(1, 2.0)] }}"),
      "{1: 'c'}ax");
}

TEST(value, a_dict_with_many_keys_finds_each) {
  std::vector<std::pair<Value, Value>> entries;
  for (int i = 0; i < 1000; ++i)
    entries.emplace_back(Value::string("key" + std::to_string(i * 7919 % 1000)), Value::integer(i));
  entries.emplace_back(Value::integer(5), Value::string("five"));
  entries.emplace_back(Value::none(), Value::string("none"));
  const Value dict = Value::dict(std::move(entries));
  for (int i = 0; i < 1000; ++i) {
    const Value* found = dict.dict_object().find("key" + std::to_string(i * 7919 % 1000));
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->integer(), i);
  }
  EXPECT_EQ(dict.dict_object().find("key1000"), nullptr);
  EXPECT_EQ(dict.dict_object().find(Value::floating(5.0))->text(), "five");
  EXPECT_EQ(dict.dict_object().find(Value::none())->text(), "none");
}

TEST(value, numbers_of_json_stay_what_they_are) {
  EXPECT_EQ(
      testing::text_of(
          "{% for n in x %}{{ n }} {% endfor %}",
          R"({"x": [0, -0, -0.0, 1.0, 1e2, 9223372036854775807, 9223372036854775808, -99999999999999999999, 1E400]})"),
      "0 0 -0.0 1.0 100.0 9223372036854775807 9223372036854775808 -99999999999999999999 inf ");
}

TEST(value, big_integers_compare_exactly) {
  EXPECT_EQ(testing::text_of(
                "{{ x == y }}{{ x > y }}{{ x == 1e20 }}{{ x < 2e20 }}{{ y > 9223372036854775807 }}",
                R"({"x": 100000000000000000000, "y": 99999999999999999999})"),
            "FalseTrueTrueTrueTrue");
}

TEST(value, parts_of_a_string_outlive_it) {
  Value part;
  {
    const Value whole = Value::string(std::string(1000, 'x') + "tail", 7);
    part = substring(substring(whole, 10, 1004), 900, 994);
  }
  EXPECT_EQ(part.text(), std::string(90, 'x') + "tail");
  EXPECT_EQ(part.source(), 7U);
}

TEST(value, a_moved_from_value_is_undefined) {
  Value a = Value::integer(42);
  const Value b = std::move(a);
  EXPECT_EQ(b.integer(), 42);
  EXPECT_TRUE(a.is_undefined());  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace verbatim::chat::jinja
