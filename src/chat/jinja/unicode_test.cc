#include "chat/jinja/unicode.h"

#include <gtest/gtest.h>

#include "chat/jinja/testing/render.h"

namespace verbatim::chat::jinja {
namespace {

using testing::text_of;

TEST(unicode, bytes_that_are_no_utf8_count_as_one_character_each) {
  const std::string_view text = "a\xc3\xa9\xff\xe2\x82\xf0\x9f\x98\x80";
  EXPECT_EQ(count_characters(text), 6U);
  EXPECT_EQ(decode(text, 3).size, 1U);
  EXPECT_EQ(decode_before(text, text.size()).value, U'\U0001F600');
}

TEST(unicode, case_changes_follow_the_special_rules) {
  EXPECT_EQ(text_of("{{ 'ß ŉ ﬁ'.upper() }}"), "SS ʼN FI");
  EXPECT_EQ(text_of("{{ 'ΟΔΟΣ ΑΣ.Σ'.lower() }}"), "οδος ασ.ς");
  EXPECT_EQ(text_of("{{ 'ǆ ﬁ'.title() }}{{ 'İ'.lower()|length }}"), "ǅ Fi2");
}

TEST(unicode, strip_and_split_know_pythons_white_space) {
  EXPECT_EQ(text_of("{{ '\\u3000x\\u00a0\\x1f'.strip() }}{{ '\\u200bx'.strip()|length }}"), "x2");
  EXPECT_EQ(text_of("{{ 'a\\x1cb\\u2028c'.split() }}{{ 'a\\x0bb\\r\\nc\\x85d'.splitlines() }}"),
            "['a', 'b', 'c']['a', 'b', 'c', 'd']");
}

TEST(unicode, repr_escapes_what_can_not_be_printed) {
  EXPECT_EQ(text_of("{{ ['\\x00\\x7f\\u00ad\\u200b\\ue000é😀\\\\'] }}"),
            "['\\x00\\x7f\\xad\\u200b\\ue000é😀\\\\']");
}

TEST(unicode, strings_are_indexed_by_characters) {
  EXPECT_EQ(text_of("{{ x[1] }}{{ x[-1] }}{{ x[1:3] }}{{ x[::-1] }}{{ x|length }}{{ x.find('c') }}",
                    R"({"x": "aé😀c"})"),
            "écé😀c😀éa43");
}

}  // namespace
}  // namespace verbatim::chat::jinja
