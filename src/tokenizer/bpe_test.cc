#include "tokenizer/bpe.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tokenizer/image.h"
#include "tokenizer/json_definition.h"
#include "tokenizer/testing/toy.h"

namespace verbatim::tokenizer {
namespace {

std::unique_ptr<const Image> image_of(std::string json) {
  const auto definition = parse_definition(json).value();
  return Image::open(build_image(definition, Fingerprint{}).value()).value();
}

// The definition of byte pair encoding, step by step.
base::TokenIds by_the_book(const Tables& tables, std::string_view word) {
  base::TokenIds ids;
  for (const char c : word) ids.push_back(tables.byte_ids[static_cast<std::uint8_t>(c)]);
  for (;;) {
    std::size_t best = ids.size();
    std::uint32_t lowest = kNoRank;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const std::uint32_t rank = tables.rank_of(ids[i], ids[i + 1]);
      if (rank < lowest) {
        lowest = rank;
        best = i;
      }
    }
    if (best == ids.size()) return ids;
    ids[best] = tables.merged[lowest];
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

std::string vocabulary_of_runs() {
  testing::ToyFile file;
  file.more_vocab = R"(,"aa":260,"ab":261,"aaa":262,"ba":263,"aab":264,"abab":265)";
  file.merges = R"(["a b","a a","b a","aa a","a ab","ab ab","l l","h e","he ll","hell o"])";
  return file.json();
}

TEST(Bpe, short_and_long_words_are_merged_by_the_book) {
  const auto image = image_of(vocabulary_of_runs());
  const std::uint64_t seed = 20250101;
  RecordProperty("seed", std::to_string(seed));
  base::SeededRandom random(seed);
  BpeScratch scratch;
  for (int n = 0; n < 3000; ++n) {
    std::string word;
    const std::size_t size = 1 + random.next() % 300;
    const unsigned letters = 1 + static_cast<unsigned>(random.next() % 3);
    for (std::size_t i = 0; i < size; ++i)
      word += static_cast<char>("abhel"[random.next() % letters]);
    base::TokenIds ids;
    merge_word(image->tables(), word, scratch, ids);
    ASSERT_EQ(ids, by_the_book(image->tables(), word)) << "seed " << seed << " word " << word;
  }
}

TEST(Bpe, a_pair_that_is_listed_twice_has_its_last_rank) {
  testing::ToyFile file;
  file.more_vocab = R"(,"ab":260,"bc":261)";
  file.merges = R"(["a b","b c","a b"])";
  const auto image = image_of(file.json());
  BpeScratch scratch;
  base::TokenIds ids;
  merge_word(image->tables(), "abc", scratch, ids);
  EXPECT_EQ(ids, (base::TokenIds{'a', 261}));
}

}  // namespace
}  // namespace verbatim::tokenizer
