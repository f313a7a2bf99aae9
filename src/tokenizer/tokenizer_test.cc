#include "tokenizer/tokenizer.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/utf8.h"
#include "tokenizer/testing/toy.h"

namespace verbatim::tokenizer {
namespace {

using testing::encoded;

std::string random_text(base::SeededRandom& random, std::size_t characters) {
  std::string text;
  for (std::size_t i = 0; i < characters; ++i) {
    const std::uint64_t kind = random.below(10);
    if (kind < 5) text += static_cast<char>("hello  \n,<1'"[random.below(12)]);
    if (kind == 5) text += "<|im_end|>";
    if (kind == 6) base::append_utf8(text, static_cast<char32_t>(0xC0 + random.below(0x500)));
    if (kind == 7) base::append_utf8(text, static_cast<char32_t>(0x4E00 + random.below(0x5000)));
    if (kind == 8) base::append_utf8(text, static_cast<char32_t>(0x300 + random.below(0x60)));
    if (kind == 9) base::append_utf8(text, static_cast<char32_t>(0x1F300 + random.below(0x200)));
  }
  return text;
}

TEST(Tokenizer, text_becomes_ids_and_text_again) {
  const auto tokenizer = testing::chat_toy();
  const std::uint64_t seed = 3;
  RecordProperty("seed", std::to_string(seed));
  base::SeededRandom random(seed);
  for (int n = 0; n < 500; ++n) {
    const std::string text = random_text(random, random.below(60));
    ASSERT_EQ(tokenizer->decode(encoded(*tokenizer, text)), text) << "seed " << seed;
  }
}

TEST(Tokenizer, words_are_merged_and_added_tokens_stand_alone) {
  const auto tokenizer = testing::toy({.added_tokens = R"([{"id":260,"content":"<|x|>"}])"});
  EXPECT_EQ(encoded(*tokenizer, "hello<|x|>hell"), (TokenIds{259, 260, 258}));
}

TEST(Tokenizer, an_id_without_a_token_decodes_to_one_replacement) {
  const auto tokenizer = testing::toy({.more_vocab = R"(,"zz":300)"});
  EXPECT_TRUE(tokenizer->has_token(300));
  EXPECT_FALSE(tokenizer->has_token(299));
  EXPECT_FALSE(tokenizer->has_token(4'000'000'000U));
  EXPECT_EQ(tokenizer->bytes(299), "");
  EXPECT_EQ(tokenizer->vocab_size(), 301U);
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{'a', 299, 4'000'000'000U, 300}),
            "a\uFFFD\uFFFDzz");
}

TEST(Tokenizer, ignore_merges_takes_a_whole_word_from_the_vocabulary) {
  EXPECT_EQ(encoded(*testing::toy({.more_vocab = R"(,"world":260)"}), "world").size(), 5U);
  const auto tokenizer =
      testing::toy({.more_vocab = R"(,"world":260)", .model_fields = R"(,"ignore_merges":true)"});
  EXPECT_EQ(encoded(*tokenizer, "world"), (TokenIds{260}));
  EXPECT_EQ(encoded(*tokenizer, "worlds").size(), 6U);
}

TEST(Tokenizer, merges_are_read_in_both_spellings) {
  const auto pairs = testing::toy();
  const auto texts = testing::toy({.merges = R"(["l l","h e","he ll","hell o"])"});
  EXPECT_EQ(encoded(*pairs, "hello hell"), encoded(*texts, "hello hell"));
}

TEST(Tokenizer, begins_say_where_each_token_stands) {
  const auto tokenizer = testing::chat_toy();
  base::SeededRandom random(5);
  for (int n = 0; n < 300; ++n) {
    const std::string text = random_text(random, random.below(60));
    TokenIds ids;
    std::vector<std::uint32_t> begins;
    tokenizer->encode(text, {}, ids, &begins);
    ASSERT_EQ(ids.size(), begins.size());
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ASSERT_EQ(begins[i], at);
      at += static_cast<std::uint32_t>(tokenizer->bytes(ids[i]).size());
    }
    ASSERT_EQ(at, text.size());
  }
}

TEST(Tokenizer, begins_tile_a_chat_with_spelled_out_tokens) {
  const auto tokenizer = testing::chat_toy();
  const std::string text = "ab<|im_end|> \n\ncd<|im_end|>\nx";
  const std::vector<ByteRange> all{{0, text.size()}};
  TokenIds ids;
  std::vector<std::uint32_t> begins;
  tokenizer->encode(text, all, ids, &begins);
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(begins[i], at);
    at += static_cast<std::uint32_t>(tokenizer->bytes(ids[i]).size());
  }
  EXPECT_EQ(at, text.size());
}

TEST(Tokenizer, begins_point_into_the_original_of_normalised_text) {
  const auto tokenizer = testing::toy({.normalizer = R"({"type":"NFC"})"});
  TokenIds ids;
  std::vector<std::uint32_t> begins;
  tokenizer->encode("ye\u0301z", {}, ids, &begins);
  EXPECT_EQ(begins, (std::vector<std::uint32_t>{0, 1, 1, 4}));
}

TEST(Tokenizer, ids_and_begins_are_appended) {
  const auto tokenizer = testing::toy();
  TokenIds ids{7};
  std::vector<std::uint32_t> begins{9};
  tokenizer->encode("hello", {}, ids, &begins);
  EXPECT_EQ(ids, (TokenIds{7, 259}));
  EXPECT_EQ(begins, (std::vector<std::uint32_t>{9, 0}));
}

TEST(Tokenizer, an_empty_text_has_no_ids) {
  EXPECT_TRUE(encoded(*testing::chat_toy(), "").empty());
}

TEST(Tokenizer, a_megabyte_of_one_letter_or_of_spaces_is_encoded_in_good_time) {
  const auto tokenizer = testing::chat_toy();
  for (const char c : {'a', ' ', 'l'}) {
    const std::string text(1 << 20, c);
    EXPECT_EQ(tokenizer->decode(encoded(*tokenizer, text)), text);
  }
}

TEST(Tokenizer, threads_share_one_tokenizer) {
  const auto tokenizer = testing::chat_toy();
  base::SeededRandom random(9);
  std::vector<std::string> texts;
  std::vector<TokenIds> expected;
  for (int n = 0; n < 200; ++n) {
    texts.push_back(random_text(random, 40));
    expected.push_back(encoded(*testing::chat_toy(), texts.back()));
    if (n % 50 != 0) continue;
  }
  const auto work = [&] {
    for (int round = 0; round < 5; ++round) {
      for (std::size_t i = 0; i < texts.size(); ++i)
        EXPECT_EQ(encoded(*tokenizer, texts[i]), expected[i]);
    }
  };
  std::thread first(work);
  std::thread second(work);
  work();
  first.join();
  second.join();
}

TEST(IncrementalDecoder, any_cut_gives_the_text_of_the_whole) {
  const auto tokenizer = testing::toy({.more_vocab = R"(,"zz":300)"});
  const std::uint64_t seed = 13;
  RecordProperty("seed", std::to_string(seed));
  base::SeededRandom random(seed);
  for (int n = 0; n < 3000; ++n) {
    std::vector<TokenId> ids;
    for (std::uint64_t k = random.below(12); k > 0; --k) {
      // Mostly bytes of characters of several bytes; 260 has no token.
      ids.push_back(static_cast<TokenId>(random.below(4) == 0 ? random.below(302)
                                                              : 0x80 + random.below(0x80)));
    }
    IncrementalDecoder decoder(*tokenizer);
    std::string out;
    for (const TokenId id : ids) {
      const std::size_t before = out.size();
      decoder.feed(id, out);
      ASSERT_TRUE(base::valid_utf8(std::string_view(out).substr(before)))
          << "half a character was given out";
    }
    decoder.finish(out);
    EXPECT_FALSE(decoder.pending());
    ASSERT_EQ(out, tokenizer->decode(ids)) << "seed " << seed;
  }
}

TEST(IncrementalDecoder, a_character_is_held_until_it_is_whole) {
  const auto tokenizer = testing::toy();
  IncrementalDecoder decoder(*tokenizer);
  std::string out;
  for (const TokenId id : {0xF0U, 0x9FU, 0x98U}) decoder.feed(id, out);
  EXPECT_EQ(out, "");
  EXPECT_TRUE(decoder.pending());
  decoder.feed(0x80, out);
  EXPECT_EQ(out, "\U0001F600");
}

}  // namespace
}  // namespace verbatim::tokenizer
