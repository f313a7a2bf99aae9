#include "base/random.h"

#include <array>
#include <map>
#include <set>

#include <gtest/gtest.h>

namespace verbatim::base {
namespace {

TEST(Random, one_seed_gives_one_sequence) {
  SeededRandom a(7);
  SeededRandom b(7);
  SeededRandom c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    differs |= x != c.next();
  }
  EXPECT_TRUE(differs);
}

// First outputs of xoshiro256** from the state splitmix64(0) gives; computed with an independent
// implementation.
TEST(Random, the_sequence_is_that_of_xoshiro256starstar) {
  SeededRandom random(0);
  EXPECT_EQ(random.next(), 11091344671253066420U);
  EXPECT_EQ(random.next(), 13793997310169335082U);
  EXPECT_EQ(random.next(), 1900383378846508768U);
}

TEST(Random, below_stays_below_and_reaches_everything) {
  SeededRandom random(3);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen.at(random.below(7));
  for (const int n : seen) EXPECT_NEAR(n, 1000, 200);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
  EXPECT_LT(random.below(UINT64_MAX), UINT64_MAX);
}

TEST(Random, ids_have_their_alphabet_and_length_and_do_not_repeat) {
  const auto random = system_random();
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string hex = new_hex_id(*random);
    EXPECT_EQ(hex.size(), 32U);
    EXPECT_EQ(hex.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_TRUE(seen.insert(hex).second);
    const std::string id = new_base62_id(*random, 24);
    EXPECT_EQ(id.size(), 24U);
    EXPECT_EQ(
        id.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
        std::string::npos);
    EXPECT_TRUE(seen.insert(id).second);
  }
}

TEST(Random, each_letter_of_an_id_is_as_likely_at_each_place) {
  SeededRandom random(4);
  constexpr unsigned kLength = 24;
  constexpr int kIds = 62'000;
  std::array<std::map<char, int>, kLength> seen;
  for (int i = 0; i < kIds; ++i) {
    const std::string id = new_base62_id(random, kLength);
    for (unsigned k = 0; k < kLength; ++k) ++seen.at(k)[id.at(k)];
  }
  for (const auto& place : seen) {
    EXPECT_EQ(place.size(), 62U);
    for (const auto& [letter, count] : place) EXPECT_NEAR(count, 1000, 200) << letter;
  }
}

}  // namespace
}  // namespace verbatim::base
