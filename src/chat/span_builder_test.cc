#include "chat/span_builder.h"

#include <gtest/gtest.h>

#include "chat/context.h"
#include "chat/testing/toy_chat.h"

namespace verbatim::chat {
namespace {

using message::Field;
using message::SpanSource;
using message::TokenSpan;

constexpr std::uint32_t kNone = TokenSpan::kNoMessage;

// A text put together from template text and fields of messages, and its ids.
struct Piece {
  jinja::Text text;
  TokenIds ids;
  std::vector<std::uint32_t> begins;

  Piece& plain(std::string_view bytes) {
    builder_.append(bytes, jinja::kTemplate);
    return *this;
  }
  Piece& of(std::uint32_t message, std::string_view bytes, Field field = Field::kText) {
    builder_.append(bytes, source_id({SpanSource::kMessage, message, field}));
    return *this;
  }
  Piece& encode() {
    text = builder_.take();
    testing::toy_tokenizer()->encode(text.bytes, {}, ids, &begins);
    return *this;
  }
  std::vector<TokenSpan> spans(const SpanRules& rules) const {
    return build_spans(text, ids, begins, rules);
  }

 private:
  jinja::TextBuilder builder_;
};

Piece chat() {
  Piece piece;
  piece.plain("<|im_start|>system\n").of(0, "be").plain("<|im_end|>\n");
  piece.plain("<|im_start|>user\n").of(1, "hello there").plain("<|im_end|>\n");
  piece.plain("<|im_start|>assistant\n");
  piece.encode();
  return piece;
}

SpanRules chat_rules(const Piece& piece, std::uint32_t first_message = 0) {
  SpanRules rules;
  rules.close_id = testing::added("<|im_end|>");
  rules.first_message = first_message;
  rules.opener = find_opener(piece.text, "<|im_start|>");
  return rules;
}

std::size_t total(std::span<const TokenSpan> spans) {
  std::size_t n = 0;
  for (const auto& span : spans) n += span.count;
  return n;
}

TEST(SpanBuilder, the_opener_begins_behind_the_last_text_of_a_message) {
  const Piece piece = chat();
  EXPECT_EQ(piece.text.bytes.substr(find_opener(piece.text, "<|im_start|>")),
            "<|im_start|>assistant\n");
}

TEST(SpanBuilder, an_opener_that_a_caller_wrote_is_none) {
  Piece piece;
  piece.plain("<|im_start|>user\n").of(0, "<|im_start|>assistant\n").plain("<|im_end|>\n");
  piece.encode();
  EXPECT_EQ(find_opener(piece.text, "<|im_start|>"), piece.text.bytes.size());
}

TEST(SpanBuilder, spans_tile_the_ids_and_say_who_wrote_them) {
  const Piece piece = chat();
  const auto spans = piece.spans(chat_rules(piece));
  EXPECT_EQ(total(spans), piece.ids.size());
  std::vector<std::tuple<SpanSource, Field, std::uint32_t>> seen;
  for (const auto& span : spans) {
    EXPECT_GT(span.count, 0U);
    seen.emplace_back(span.source, span.field, span.message);
  }
  const std::vector<std::tuple<SpanSource, Field, std::uint32_t>> wanted{
      {SpanSource::kTemplate, Field::kNone, 0},     {SpanSource::kMessage, Field::kText, 0},
      {SpanSource::kTemplate, Field::kNone, 0},     {SpanSource::kTemplate, Field::kNone, 1},
      {SpanSource::kMessage, Field::kText, 1},      {SpanSource::kTemplate, Field::kNone, 1},
      {SpanSource::kTemplate, Field::kNone, kNone},  // the newline behind the close
      {SpanSource::kOpener, Field::kNone, kNone}};
  EXPECT_EQ(seen, wanted);
}

TEST(SpanBuilder, template_text_behind_a_close_belongs_to_the_next_message) {
  const Piece piece = chat();
  const auto spans = piece.spans(chat_rules(piece));
  // <|im_end|> of the system message is its own; "\n<|im_start|>user\n" is the user's.
  EXPECT_EQ(spans[2].count, 1U);
  EXPECT_EQ(spans[2].message, 0U);
  EXPECT_EQ(spans[3].message, 1U);
}

TEST(SpanBuilder, messages_are_counted_from_the_first_of_the_conversation) {
  const Piece piece = chat();
  for (const auto& span : piece.spans(chat_rules(piece, 5))) {
    EXPECT_TRUE(span.message == 5 || span.message == 6 || span.message == kNone) << span.message;
  }
}

TEST(SpanBuilder, message_openers_begin_the_next_message) {
  Piece piece;
  piece.plain("<|user|>\n").of(0, "hello").plain("<|user|>\n").of(1, "there");
  piece.plain("<|assistant|>\n").encode();
  SpanRules rules;
  const TokenIds openers{testing::added("<|user|>")};
  rules.message_openers = openers;
  rules.opener = find_opener(piece.text, "<|assistant|>");
  const auto spans = piece.spans(rules);
  ASSERT_EQ(spans.size(), 5U);
  EXPECT_EQ(spans[0].message, 0U);
  EXPECT_EQ(spans[2].source, SpanSource::kTemplate);
  EXPECT_EQ(spans[2].message, 1U);
  EXPECT_EQ(spans[4].source, SpanSource::kOpener);
}

TEST(SpanBuilder, neighbours_with_one_source_are_one_span) {
  Piece piece;
  piece.of(0, "a b c d e f").encode();
  EXPECT_EQ(piece.spans({}).size(), 1U);
}

TEST(SpanBuilder, a_token_over_a_border_has_the_source_of_its_first_byte) {
  Piece piece;
  piece.of(0, "he").plain("llo there").encode();
  const auto joined = testing::encoded("hello there");
  ASSERT_EQ(piece.ids, joined);
  const auto spans = piece.spans({});
  EXPECT_EQ(spans.front().source, SpanSource::kMessage);
  EXPECT_EQ(total(spans), joined.size());
}

TEST(SpanBuilder, template_ids_in_front_of_the_first_added_token_are_the_boundary) {
  Piece piece;
  piece.plain("\n<|im_start|>user\n").of(0, "hi").encode();
  SpanRules rules;
  rules.close_id = testing::added("<|im_end|>");
  auto spans = piece.spans(rules);
  mark_boundary(piece.ids, spans, *testing::toy_tokenizer());
  EXPECT_EQ(spans[0], (TokenSpan{1, SpanSource::kBoundary}));
  EXPECT_EQ(spans[1].source, SpanSource::kTemplate);
  EXPECT_EQ(spans[1].message, 0U);
  EXPECT_EQ(total(spans), piece.ids.size());
}

TEST(SpanBuilder, without_such_ids_there_is_no_boundary) {
  Piece piece;
  piece.plain("<|im_start|>user\n").of(0, "hi").encode();
  auto spans = piece.spans({});
  const auto before = spans;
  mark_boundary(piece.ids, spans, *testing::toy_tokenizer());
  EXPECT_EQ(spans, before);
}

TEST(SpanBuilder, a_boundary_alone_takes_the_place_of_its_span) {
  Piece piece;
  piece.plain("\n").of(0, "hi").encode();
  auto spans = piece.spans({});
  // Only template ids can be a boundary: "hi" stands before any added token too.
  mark_boundary(piece.ids, spans, *testing::toy_tokenizer());
  EXPECT_EQ(spans.front().source, SpanSource::kTemplate);

  TokenIds ids = testing::encoded("\n<|im_start|>");
  std::vector<TokenSpan> two{{1, SpanSource::kTemplate}, {1, SpanSource::kOpener}};
  mark_boundary(ids, two, *testing::toy_tokenizer());
  EXPECT_EQ(two, (std::vector<TokenSpan>{{1, SpanSource::kBoundary}, {1, SpanSource::kOpener}}));
}

TEST(SpanBuilder, dropping_the_first_id_shortens_its_span_or_removes_it) {
  TokenIds ids{1, 2, 3};
  std::vector<TokenSpan> spans{{2, SpanSource::kTemplate}, {1, SpanSource::kOpener}};
  drop_first_id(ids, spans);
  EXPECT_EQ(ids, (TokenIds{2, 3}));
  EXPECT_EQ(spans[0].count, 1U);
  drop_first_id(ids, spans);
  EXPECT_EQ(ids, (TokenIds{3}));
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0].source, SpanSource::kOpener);
}

}  // namespace
}  // namespace verbatim::chat
