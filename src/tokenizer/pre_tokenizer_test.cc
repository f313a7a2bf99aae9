#include "tokenizer/pre_tokenizer.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace verbatim::tokenizer {
namespace {

using Words = std::vector<std::string>;

Words cut(Pattern pattern, std::string_view text) {
  Words out;
  cut_words(pattern, text, [&](std::size_t begin, std::size_t end) {
    out.emplace_back(text.substr(begin, end - begin));
  });
  return out;
}

TEST(Words, a_word_takes_the_space_before_it) {
  for (const Pattern pattern : {Pattern::kGpt2, Pattern::kQwen2, Pattern::kLlama3}) {
    EXPECT_EQ(cut(pattern, "two  words"), (Words{"two", " ", " words"}));
  }
}

TEST(Words, qwen_lets_any_character_but_a_line_break_stand_before_letters) {
  EXPECT_EQ(cut(Pattern::kQwen2, "(a\tb\nc"), (Words{"(a", "\tb", "\n", "c"}));
  EXPECT_EQ(cut(Pattern::kGpt2, "(a\tb"), (Words{"(", "a", "\t", "b"}));
}

TEST(Words, numbers_come_one_by_one_in_threes_or_whole) {
  EXPECT_EQ(cut(Pattern::kQwen2, " 1234"), (Words{" ", "1", "2", "3", "4"}));
  EXPECT_EQ(cut(Pattern::kLlama3, " 1234"), (Words{" ", "123", "4"}));
  EXPECT_EQ(cut(Pattern::kGpt2, " 1234"), (Words{" 1234"}));
}

TEST(Words, contractions_fold_case_where_the_pattern_does) {
  EXPECT_EQ(cut(Pattern::kQwen2, "I'LL'\u017Fo"), (Words{"I", "'LL", "'\u017F", "o"}));
  EXPECT_EQ(cut(Pattern::kGpt2, "I'LL"), (Words{"I", "'", "LL"}));
  EXPECT_EQ(cut(Pattern::kGpt2, "I'llx"), (Words{"I", "'ll", "x"}));
}

TEST(Words, line_breaks_end_a_run_of_white_space) {
  EXPECT_EQ(cut(Pattern::kQwen2, "a \n \n  b"), (Words{"a", " \n \n", " ", " b"}));
  EXPECT_EQ(cut(Pattern::kQwen2, "!\n\nb"), (Words{"!\n\n", "b"}));
  EXPECT_EQ(cut(Pattern::kGpt2, "a \n b"), (Words{"a", " \n", " b"}));
}

TEST(Words, white_space_at_the_end_stays_whole) {
  EXPECT_EQ(cut(Pattern::kQwen2, "a   "), (Words{"a", "   "}));
}

TEST(Words, a_pattern_is_known_by_its_text_only) {
  EXPECT_EQ(pattern_named("\\s+"), std::nullopt);
  EXPECT_EQ(
      pattern_named(
          "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"),
      Pattern::kGpt2);
}

}  // namespace
}  // namespace verbatim::tokenizer
