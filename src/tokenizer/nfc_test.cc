#include "tokenizer/nfc.h"

#include <gtest/gtest.h>

#include "tokenizer/unicode.h"

namespace verbatim::tokenizer {
namespace {

// All code points and random sequences are compared in tests/oracle/check_tokenizer.py.

std::string nfc(std::string_view text) {
  Normalized out;
  normalize_nfc(text, out);
  return out.text;
}

TEST(Nfc, marks_join_their_base) {
  EXPECT_EQ(nfc("e\u0301x"), "\u00E9x");
}

TEST(Nfc, marks_are_put_in_order_before_they_join) {
  EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(nfc("a\u0302\u0323"), "\u1EAD");
}

TEST(Nfc, hangul_is_composed_by_arithmetic) {
  EXPECT_EQ(nfc("\u1112\u1161\u11AB"), "\uD55C");
  EXPECT_EQ(nfc("\uD558\u11AB"), "\uD55C");
}

TEST(Nfc, singletons_are_replaced_and_exclusions_stay_apart) {
  EXPECT_EQ(nfc("\u212B"), "\u00C5");
  EXPECT_EQ(nfc("\u0958"), "\u0915\u093C");
}

TEST(Nfc, a_mark_behind_one_of_its_class_is_blocked) {
  EXPECT_EQ(nfc("a\u0315\u0300\u0301"), "\u00E0\u0301\u0315");
}

TEST(Nfc, a_character_newer_than_the_oracle_s_tables_stays_as_it_is) {
  EXPECT_EQ(nfc("\U00011935\U00011930"), "\U00011935\U00011930");
}

TEST(Nfc, settled_text_is_recognised_without_copying) {
  const std::string_view text = "plain \u00E9 \u4E2D\u6587 \uD55C \U0001F600";
  EXPECT_EQ(first_unsettled(text), text.size());
  EXPECT_EQ(first_unsettled("ab\u0301"), 2U);
}

TEST(Nfc, each_byte_knows_the_character_it_came_from) {
  Normalized out;
  normalize_nfc("xe\u0301y", out);
  EXPECT_EQ(out.text, "x\u00E9y");
  EXPECT_EQ(out.origin, (std::vector<std::uint32_t>{0, 1, 1, 4}));
}

TEST(Nfc, a_long_run_of_marks_takes_no_quadratic_time) {
  std::string text = "a";
  for (int i = 0; i < 200'000; ++i) text += i % 2 == 0 ? "\u0323" : "\u0301";
  EXPECT_EQ(nfc(text).substr(0, 3), "\u1EA1");
}

}  // namespace
}  // namespace verbatim::tokenizer
