#include "chat/parsers/token_parser.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"
#include "chat/parsers/testing/byte_tokenizer.h"
#include "chat/parsers/testing/pieces.h"

namespace verbatim::chat::parsers {
namespace {

using message::FinishReason;
using message::Folded;
using testing::ByteTokenizer;

const Grammar& hermes() {
  return *grammar_named("hermes");
}
const std::string kCall = R"(<tool_call>{"name": "f", "arguments": {"a": "é"}}</tool_call>)";

// A vocabulary with a token for each tag, as Qwen3's.
const ByteTokenizer& tagged() {
  static const ByteTokenizer tokenizer({"<think>", "</think>", "<tool_call>", "</tool_call>",
                                        "<|im_start|>", "<|im_end|>", "<|endoftext|>"});
  return tokenizer;
}
// One without tokens for calls, as Hermes on a Llama vocabulary.
const ByteTokenizer& plain() {
  static const ByteTokenizer tokenizer({"<|im_start|>", "<|im_end|>"});
  return tokenizer;
}

testing::Outcome parse(const TokenMarkers& markers, const base::TokenIds& ids,
                       std::size_t run = 1000000, std::vector<std::string> stops = {}) {
  testing::Outcome outcome;
  TokenParser parser(markers, {}, std::move(stops));
  for (std::span<const base::TokenId> rest = ids; !rest.empty();) {
    const auto piece = rest.first(std::min(run, rest.size()));
    message::Events events;
    parser.feed(piece, events);
    outcome.events.insert(outcome.events.end(), events.begin(), events.end());
    rest = rest.subspan(piece.size());
  }
  outcome.finish = parser.finish(FinishReason::kStop, outcome.events);
  outcome.folded = message::fold(outcome.events);
  return outcome;
}

const std::vector<message::FoldedCall> kOneCall = {{"", "f", R"({"a": "é"})", true}};

TEST(TokenParser, a_tag_acts_as_its_token_and_is_text_when_spelled_in_ordinary_tokens) {
  const TokenMarkers markers(tagged(), hermes(), {});
  EXPECT_EQ(parse(markers, tagged().ids("x" + kCall)).folded, (Folded{"", "x", kOneCall}));
  EXPECT_EQ(parse(markers, ByteTokenizer::ordinary("x" + kCall)).folded,
            (Folded{"", "x" + kCall, {}}));
}

TEST(TokenParser, a_vocabulary_without_the_token_spells_the_tag_in_text) {
  const TokenMarkers markers(plain(), hermes(), {});
  for (const std::size_t run : {1, 2, 3, 5, 1000}) {
    EXPECT_EQ(parse(markers, plain().ids("<think>r</think>x" + kCall + "<|im_end|>"), run).folded,
              (Folded{"r", "x", kOneCall}));
  }
}

TEST(TokenParser, what_ends_the_turn_is_in_no_field_and_nothing_behind_it_counts) {
  const auto end = tagged().added("<|endoftext|>")->id;
  const TokenMarkers markers(tagged(), hermes(), std::vector<base::TokenId>{end});
  EXPECT_EQ(parse(markers, tagged().ids("a<|im_end|>b" + kCall)).folded, (Folded{"", "a", {}}));
  EXPECT_EQ(parse(markers, tagged().ids("a<|endoftext|>b")).folded, (Folded{"", "a", {}}));
}

TEST(TokenParser, the_text_ends_in_front_of_a_stop_string_and_a_call_it_cuts_is_left_out) {
  const TokenMarkers markers(tagged(), hermes(), {});
  const auto ids = tagged().ids("Hi. " + kCall + "x");
  EXPECT_EQ(parse(markers, ids, 1, {"i."}).folded, (Folded{"", "H", {}}));
  EXPECT_EQ(parse(markers, ids, 1, {"arg"}).folded, (Folded{"", "Hi.", {}}));
  EXPECT_EQ(parse(markers, ids, 1, {"x"}).folded, (Folded{"", "Hi.", kOneCall}));
}

TEST(TokenParser, a_character_over_several_tokens_is_given_out_whole) {
  const TokenMarkers markers(tagged(), hermes(), {});
  const auto outcome = parse(markers, tagged().ids("日😀"), 1);
  EXPECT_EQ(outcome.events, (message::Events{message::TextDelta{"日"}, message::TextDelta{"😀"}}));
}

TEST(TokenParser, a_character_that_a_tag_cuts_is_shown_as_replaced) {
  const TokenMarkers markers(tagged(), hermes(), {});
  auto ids = ByteTokenizer::ordinary("a\xE6\x97");
  for (const auto id : tagged().ids(kCall)) ids.push_back(id);
  EXPECT_EQ(parse(markers, ids).folded, (Folded{"", "a\xEF\xBF\xBD", kOneCall}));
}

TEST(TokenParser, gives_the_same_answer_however_the_ids_are_cut) {
  const std::uint64_t seed = 99;
  SCOPED_TRACE(seed);
  base::SeededRandom random(seed);
  const TokenMarkers with_tags(tagged(), hermes(), {});
  const TokenMarkers without(plain(), hermes(), {});
  for (int round = 0; round < 3000; ++round) {
    base::TokenIds ids;
    const auto count = random.below(60);
    const bool tags = random.chance(500);
    for (std::uint64_t i = 0; i < count; ++i) {
      ids.push_back(static_cast<base::TokenId>(random.below(tags ? 264 : 260)));
    }
    const auto output = testing::spelled(hermes(), testing::random_pieces(hermes(), random));
    for (const auto id : (tags ? tagged() : plain()).ids(output)) ids.push_back(id);
    const auto& markers = tags ? with_tags : without;
    const auto stops = random.chance(300) ? std::vector<std::string>{"me", "name\": \"f1"}
                                          : std::vector<std::string>{};
    const auto whole = parse(markers, ids, 1000000, stops);
    const auto cut = parse(markers, ids, 1 + random.below(4), stops);
    ASSERT_EQ(cut.folded, whole.folded);
    ASSERT_EQ(testing::broken_rule(cut), "");
  }
}

TEST(TokenMarkers, reasoning_is_open_where_the_prompt_ends_inside_it) {
  for (const auto* tokenizer : {&tagged(), &plain()}) {
    const TokenMarkers markers(*tokenizer, hermes(), {});
    const auto open = [&](std::string_view prompt) {
      return markers.reasoning_open(tokenizer->ids(prompt));
    };
    EXPECT_TRUE(open("<|im_start|>assistant\n<think>\n"));
    EXPECT_TRUE(open("<|im_start|>assistant\n<think>\nOkay, "));
    EXPECT_FALSE(open("<|im_start|>assistant\n<think>\n\n</think>\n\n"));
    EXPECT_FALSE(open("<|im_start|>user\n<think>?<|im_end|>\n<|im_start|>assistant\n"));
    EXPECT_FALSE(open(""));
  }
  // A caller's spelled tag is no token.
  const TokenMarkers markers(tagged(), hermes(), {});
  EXPECT_FALSE(markers.reasoning_open(ByteTokenizer::ordinary("<think>\n")));
}

TEST(TokenMarkers, count_the_ids_of_reasoning_with_its_close_tag) {
  const auto count = [](const ByteTokenizer& tokenizer, bool open, const std::string& text) {
    const TokenMarkers markers(tokenizer, hermes(), {});
    return markers.reasoning_ids(open, tokenizer.ids(text));
  };
  // Tags are one id each, letters too.
  EXPECT_EQ(count(tagged(), false, "<think>ab</think>cd"), 4u);
  EXPECT_EQ(count(tagged(), true, "ab</think>cd"), 3u);
  EXPECT_EQ(count(tagged(), true, "abcd"), 4u) << "it was never closed";
  EXPECT_EQ(count(tagged(), false, "abcd"), 0u);
  EXPECT_EQ(count(tagged(), false, "ab</think>cd"), 0u) << "there was none to close";
  EXPECT_EQ(count(tagged(), false, ""), 0u);
  // Where tags are text, they are as many ids as letters here.
  EXPECT_EQ(count(plain(), false, "<think>ab</think>cd"), 17u);
  EXPECT_EQ(count(plain(), true, "ab</think>cd"), 10u);
  EXPECT_EQ(count(plain(), false, "abcd"), 0u);
}

}  // namespace
}  // namespace verbatim::chat::parsers
