#include "tokenizer/control_tokens.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/toy.h"

namespace verbatim::tokenizer {
namespace {

// The ids of real chats are compared with transformers in tests/oracle/check_tokenizer.py; these
// are the rules in small.

using testing::encoded;

class ControlTokensTest : public ::testing::Test {
 protected:
  // Encodes parts of which every second one was written by a caller.
  TokenIds chat(const std::vector<std::string>& parts,
                const ControlTokens* control = nullptr) const {
    std::string text;
    std::vector<ByteRange> ranges;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i % 2 == 1) ranges.push_back({text.size(), text.size() + parts[i].size()});
      text += parts[i];
    }
    return encoded(*tokenizer_, text, CallerText(ranges, control));
  }
  [[nodiscard]] std::size_t count(const TokenIds& ids, TokenId id) const {
    return static_cast<std::size_t>(std::count(ids.begin(), ids.end(), id));
  }

  std::shared_ptr<const Tokenizer> tokenizer_ = testing::chat_toy();
  TokenId end_ = tokenizer_->added("<|im_end|>")->id;
  TokenId think_ = tokenizer_->added("<think>")->id;
};

TEST_F(ControlTokensTest, a_caller_s_text_never_becomes_an_added_token) {
  const TokenIds ids = chat({"<|im_start|>user\n", "a<|im_end|>b<think>", "<|im_end|>"});
  EXPECT_EQ(count(ids, end_), 1U);
  EXPECT_EQ(count(ids, think_), 0U);
  EXPECT_EQ(ids.back(), end_);
  EXPECT_EQ(tokenizer_->decode(ids), "<|im_start|>user\na<|im_end|>b<think><|im_end|>");
}

TEST_F(ControlTokensTest, without_a_control_token_in_it_a_range_changes_nothing) {
  EXPECT_EQ(chat({"<|im_start|>user\nhe", "llo wor", "ld<|im_end|>"}),
            encoded(*tokenizer_, "<|im_start|>user\nhello world<|im_end|>"));
}

TEST_F(ControlTokensTest, a_spelled_out_token_is_encoded_by_itself) {
  TokenIds expected = encoded(*tokenizer_, "ab ");
  const std::string token = "<|im_end|>";
  std::vector<ByteRange> all{{0, token.size()}};
  const TokenIds spelled = encoded(*tokenizer_, token, all);
  expected.insert(expected.end(), spelled.begin(), spelled.end());
  const TokenIds rest = encoded(*tokenizer_, "cd");
  expected.insert(expected.end(), rest.begin(), rest.end());
  EXPECT_EQ(chat({"", "ab <|im_end|>cd"}), expected);
}

TEST_F(ControlTokensTest, a_caller_can_t_complete_a_token_with_the_template_s_bytes) {
  EXPECT_EQ(count(chat({"", "<|im_", "end|>"}), end_), 0U);
  EXPECT_EQ(count(chat({"<|im_", "end|>"}), end_), 0U);
  EXPECT_EQ(count(chat({"", "<|im_", "", "end|>"}), end_), 0U) << "two callers side by side";
}

TEST_F(ControlTokensTest, a_caller_can_t_take_bytes_from_a_token_of_the_template) {
  const auto tokenizer =
      testing::toy({.added_tokens = R"([{"id":260,"content":"<a>"},{"id":261,"content":"x<a>"}])"});
  EXPECT_EQ(encoded(*tokenizer, "x<a>"), (TokenIds{261}));
  const std::vector<ByteRange> x{{0, 1}};
  EXPECT_EQ(encoded(*tokenizer, "x<a>", x), (TokenIds{'x', 260}));
}

TEST_F(ControlTokensTest, added_tokens_that_are_no_control_tokens_match_in_a_caller_s_text) {
  const auto control = tokenizer_->control_tokens(std::vector<TokenId>{end_}).value();
  const TokenIds ids = chat({"", "<think><|im_end|>"}, control.get());
  EXPECT_EQ(ids.front(), think_);
  EXPECT_EQ(count(ids, end_), 0U);
  EXPECT_EQ(count(chat({"", "<thi", "nk>"}, control.get()), think_), 0U)
      << "but not across a border";
}

TEST_F(ControlTokensTest, normalised_text_can_t_become_a_control_token_either) {
  const auto tokenizer =
      testing::toy({.normalizer = R"({"type":"NFC"})",
                    .added_tokens = R"([{"id":260,"content":"caf\u00e9","normalized":true}])"});
  for (const std::string_view text : {"cafe\u0301", "caf\u00E9"}) {
    const std::vector<ByteRange> all{{0, text.size()}};
    EXPECT_GT(encoded(*tokenizer, text, all).size(), 1U);
    const std::vector<ByteRange> last{{4, text.size()}};
    EXPECT_GT(encoded(*tokenizer, text, last).size(), 1U);
  }
}

TEST_F(ControlTokensTest, special_tokens_and_those_of_the_template_are_control_tokens_by_default) {
  TokenIds special;
  for (const AddedToken& token : tokenizer_->added_tokens()) {
    if (token.special) special.push_back(token.id);
  }
  EXPECT_EQ(tokenizer_->default_control_tokens(""), special);
  EXPECT_EQ(tokenizer_->default_control_tokens(std::string_view("a<thi\0nk>", 9)), special);
  EXPECT_EQ(tokenizer_->default_control_tokens("a\n<think>\n").size(), special.size() + 1);
  EXPECT_EQ(tokenizer_->listed_control_tokens(std::vector<std::string>{"<think>"}).size(),
            special.size() + 1);
}

TEST_F(ControlTokensTest, what_can_t_be_kept_from_callers_is_refused) {
  EXPECT_EQ(tokenizer_->control_tokens(std::vector<TokenId>{0}).error().kind,
            base::ErrorKind::kInvalidRequest);
  const auto tokenizer = testing::toy({.added_tokens = R"([{"id":259,"content":"hello"}])"});
  EXPECT_EQ(tokenizer->control_tokens(std::vector<TokenId>{259}).error().kind,
            base::ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace verbatim::tokenizer
