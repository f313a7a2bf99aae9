#include "net/http_types.h"

#include <gtest/gtest.h>

namespace verbatim::net {
namespace {

std::string printed(const Headers& headers) {
  std::string text;
  for (const auto field : headers)
    text += std::string(field.name) + "=" + std::string(field.value) + ";";
  return text;
}

TEST(Headers, fields_keep_their_order_and_spelling) {
  Headers headers;
  headers.add("B", "1").add("a", "2").add("b", "3");
  EXPECT_EQ(printed(headers), "B=1;a=2;b=3;");
  EXPECT_EQ(headers.find("B"), "1");
  EXPECT_EQ(headers.find("A"), "2");
  EXPECT_EQ(headers.count("b"), 2U);
  EXPECT_FALSE(headers.has("c"));
}

TEST(Headers, an_empty_value_is_there) {
  Headers headers;
  headers.add("a", "");
  EXPECT_TRUE(headers.has("A"));
  EXPECT_EQ(headers.find("a"), "");
}

TEST(Headers, set_replaces_all_of_a_name_in_place) {
  Headers headers;
  headers.add("a", "1").add("b", "2").add("A", "3").set("a", "4").set("c", "5");
  EXPECT_EQ(printed(headers), "a=4;b=2;c=5;");
  headers.set("b", headers.find("a"));  // a view into itself
  EXPECT_EQ(printed(headers), "a=4;b=4;c=5;");
}

TEST(Headers, remove_takes_every_field_of_a_name) {
  Headers headers;
  headers.add("a", "1").add("b", "2").add("A", "3").remove("a");
  EXPECT_EQ(printed(headers), "b=2;");
  headers.remove("x");
  headers.clear();
  EXPECT_TRUE(headers.empty());
}

TEST(HttpDate, is_written_as_the_standard_wants_it) {
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(http_date(1709210096), "Thu, 29 Feb 2024 12:34:56 GMT");
}

TEST(HttpText, tokens_and_values_are_told_from_what_breaks_lines) {
  EXPECT_TRUE(is_token("X-a_1!"));
  EXPECT_FALSE(is_token(""));
  EXPECT_FALSE(is_token("a b"));
  EXPECT_FALSE(is_token("a:"));
  EXPECT_TRUE(is_field_value("a\tb \xc3\xa9"));
  EXPECT_FALSE(is_field_value("a\r"));
  EXPECT_FALSE(is_field_value(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace verbatim::net
