#include "base/shared_sequence.h"

#include <numeric>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/random.h"

namespace verbatim::base {
namespace {

using Sequence = SharedSequence<int>;

std::vector<int> content(const Sequence& sequence) {
  std::vector<int> all;
  for (const auto piece : sequence.pieces()) {
    EXPECT_FALSE(piece.empty());
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

std::vector<int> random_part(SeededRandom& random) {
  std::vector<int> part(random.below(6));
  for (auto& element : part) element = static_cast<int>(random.below(1000));
  return part;
}

TEST(SharedSequence, holds_what_a_vector_would_in_a_forest_of_extensions) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRandom random(seed);
    std::vector<std::pair<Sequence, std::vector<int>>> all(1);
    for (int step = 0; step < 60; ++step) {
      const auto at = random.chance(700) ? all.size() - 1 : random.below(all.size());
      const auto one = random_part(random);
      const auto two = random_part(random);
      auto model = all[at].second;
      model.insert(model.end(), one.begin(), one.end());
      model.insert(model.end(), two.begin(), two.end());
      all.emplace_back(all[at].first.extended({one, two}), std::move(model));
      if (random.chance(100)) all.erase(all.begin() + static_cast<long>(random.below(all.size())));
      if (all.empty()) all.resize(1);
    }
    for (const auto& [sequence, model] : all) {
      EXPECT_EQ(sequence.size(), model.size());
      EXPECT_EQ(content(sequence), model);
    }
  }
}

TEST(SharedSequence, lies_in_few_pieces_along_a_line) {
  Sequence line;
  const std::vector<int> part(7, 1);
  for (int i = 0; i < 10'000; ++i) line = line.extended({part});
  EXPECT_EQ(line.size(), 70'000U);
  EXPECT_LE(line.pieces().size(), 15U) << "each block is twice as large as the one before";
}

TEST(SharedSequence, an_extension_is_in_one_piece) {
  Sequence line;
  std::vector<int> part;
  for (int i = 1; i < 200; ++i) {
    part.assign(static_cast<std::size_t>(i), i);
    line = line.extended({part});
    const auto last = line.pieces().back();
    ASSERT_GE(last.size(), part.size());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), last.end() - i));
  }
}

TEST(SharedSequence, shares_what_it_extends) {
  const std::vector<int> part{1, 2, 3};
  const std::vector<int> more{4};
  const auto first = Sequence().extended({part}).extended({part});
  const auto left = first.extended({more});
  const auto right = first.extended({part});
  ASSERT_EQ(left.pieces().front().data(), first.pieces().front().data());
  EXPECT_EQ(right.pieces().front().data(), first.pieces().front().data());
  EXPECT_EQ(content(left), (std::vector<int>{1, 2, 3, 1, 2, 3, 4}));
  EXPECT_EQ(content(right), (std::vector<int>{1, 2, 3, 1, 2, 3, 1, 2, 3}));
}

TEST(SharedSequence, may_be_extended_by_several_threads_at_once) {
  const std::vector<int> head(100, -1);
  // Room behind its end, so that the threads contend for it.
  const auto base = Sequence().extended({head}).extended({{{-1}}});
  std::vector<Sequence> ends(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Sequence line = base;
      for (int i = 0; i < 500; ++i) line = line.extended({{&t, 1}});
      ends[static_cast<std::size_t>(t)] = line;
    });
  }
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) {
    auto expected = head;
    expected.push_back(-1);
    expected.insert(expected.end(), 500, t);
    EXPECT_EQ(content(ends[static_cast<std::size_t>(t)]), expected);
  }
}

TEST(SharedSequence, frees_a_long_line_of_forks) {
  const std::vector<int> part{1, 2};
  Sequence line;
  for (int i = 0; i < 300'000; ++i) {
    const auto other = line.extended({part});
    line = line.extended({part});  // behind a fork: a block of its own
  }
  EXPECT_EQ(line.size(), 600'000U);
  line = {};
}

}  // namespace
}  // namespace verbatim::base
