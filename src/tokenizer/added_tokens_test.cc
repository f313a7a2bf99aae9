#include "tokenizer/added_tokens.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/toy.h"

namespace verbatim::tokenizer {
namespace {

// Flags are compared with Hugging Face in tests/oracle/check_tokenizer.py; these are the rules in
// small.

using Parts = std::vector<std::string>;

Parts split(const std::vector<AddedToken>& tokens, std::string_view text) {
  Parts out;
  const AddedTokenFinder finder(tokens, AddedTokenFinder::Kind::kRaw, false);
  finder.split(
      text, [](const AddedToken&, std::size_t, std::size_t) { return true; },
      [&](std::size_t begin, std::size_t end) {
        out.emplace_back(text.substr(begin, end - begin));
      },
      [&](const AddedToken&, std::size_t begin, std::size_t end) {
        out.push_back("[" + std::string(text.substr(begin, end - begin)) + "]");
      });
  return out;
}

TEST(AddedTokens, the_leftmost_longest_match_counts) {
  const std::vector<AddedToken> tokens{
      {.id = 1, .content = "<a"}, {.id = 2, .content = "<ab>"}, {.id = 3, .content = "b>c"}};
  EXPECT_EQ(split(tokens, "x<ab>c<ab"), (Parts{"x", "[<ab>]", "c", "[<a]", "b"}));
}

TEST(AddedTokens, white_space_beside_a_token_goes_with_it_where_it_says_so) {
  const std::vector<AddedToken> tokens{{.id = 1, .content = "<l>", .lstrip = true},
                                       {.id = 2, .content = "<r>", .rstrip = true}};
  EXPECT_EQ(split(tokens, "a \t<l> b"), (Parts{"a", "[ \t<l>]", " b"}));
  EXPECT_EQ(split(tokens, "a <r> \u00A0b"), (Parts{"a ", "[<r> \u00A0]", "b"}));
  EXPECT_EQ(split(tokens, "<r>  <l>"), (Parts{"[<r>  ]", "[<l>]"}))
      << "the first one has taken the space";
}

TEST(AddedTokens, a_single_word_is_skipped_beside_word_characters_with_all_of_its_text) {
  const std::vector<AddedToken> tokens{{.id = 1, .content = "ab", .single_word = true},
                                       {.id = 2, .content = "b-"}};
  EXPECT_EQ(split(tokens, "ab xab ab- \u00E9ab"), (Parts{"[ab]", " xab ", "[ab]", "- \u00E9ab"}));
  EXPECT_EQ(split(tokens, "xab-"), (Parts{"xab-"})) << "b- lies inside the skipped match";
}

TEST(AddedTokens, normalized_tokens_are_found_in_normalised_text) {
  const auto tokenizer =
      testing::toy({.normalizer = R"({"type":"NFC"})",
                    .added_tokens = R"([{"id":260,"content":"caf\u00e9","normalized":true},)"
                                    R"({"id":261,"content":"na\u00efve","normalized":false}])"});
  EXPECT_EQ(testing::encoded(*tokenizer, "cafe\u0301"), (TokenIds{260}));
  EXPECT_EQ(testing::encoded(*tokenizer, "na\u00EFve"), (TokenIds{261}));
  EXPECT_GT(testing::encoded(*tokenizer, "nai\u0308ve").size(), 1U);
}

}  // namespace
}  // namespace verbatim::tokenizer
