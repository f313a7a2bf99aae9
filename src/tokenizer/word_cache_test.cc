#include "tokenizer/word_cache.h"

#include <string>

#include <gtest/gtest.h>

namespace verbatim::tokenizer {
namespace {

TEST(WordCache, a_word_is_found_until_it_is_overwritten_and_never_with_another_word_s_ids) {
  WordCache cache;
  std::size_t found = 0;
  for (std::uint32_t n = 0; n < 100'000; ++n) {
    // Few words often, many rarely, and together more than the cache holds.
    const std::uint32_t index = n * 7919 % (n % 2 == 0 ? 500 : 20'000);
    const std::string word = "word " + std::to_string(index) + std::string(300, 'x');
    const base::TokenIds ids{index, index % 7, 3};
    const std::uint64_t hash = hash_of(word);
    base::TokenIds seen;
    if (cache.append_long(word, hash, seen)) {
      ++found;
      ASSERT_EQ(seen[0], index);
    }
    cache.put_long(word, hash, ids);
    seen.clear();
    ASSERT_TRUE(cache.append_long(word, hash, seen));
    ASSERT_EQ(seen, ids);
  }
  EXPECT_GT(found, 1000U);
}

TEST(WordCache, short_words_of_equal_bytes_and_other_sizes_are_told_apart) {
  WordCache cache;
  for (std::size_t size = 1; size <= kShortWord; ++size) {
    const std::string word(size, 'x');
    const ShortKey key = short_key(word);
    base::TokenIds seen;
    EXPECT_FALSE(cache.append_short(key, hash_of(key), seen));
    cache.put_short(key, hash_of(key), base::TokenIds{static_cast<base::TokenId>(size)});
    ASSERT_TRUE(cache.append_short(key, hash_of(key), seen));
    EXPECT_EQ(seen, (base::TokenIds{static_cast<base::TokenId>(size)}));
  }
}

TEST(WordCache, very_long_words_are_not_kept) {
  WordCache cache;
  const std::string word(WordCache::kMaxWord + 1, 'x');
  cache.put_long(word, hash_of(word), base::TokenIds{1});
  base::TokenIds seen;
  EXPECT_FALSE(cache.append_long(word, hash_of(word), seen));
}

TEST(Hash, a_short_word_has_one_hash_however_it_is_given) {
  for (std::size_t size = 1; size <= 40; ++size) {
    const std::string word(size, 'q');
    if (size <= kShortWord) {
      EXPECT_EQ(hash_of(word), hash_of(short_key(word)));
    }
    EXPECT_NE(hash_of(word), hash_of(word + "q"));
  }
}

}  // namespace
}  // namespace verbatim::tokenizer
