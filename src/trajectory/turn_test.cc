#include "trajectory/turn.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "trajectory/letters.h"

namespace verbatim::trajectory {
namespace {

using base::SeededRandom;

TokenIds some_ids(SeededRandom& random) {
  TokenIds ids(random.below(5));
  for (auto& id : ids) id = static_cast<TokenId>(random.below(100));
  return ids;
}

std::shared_ptr<Turn> random_turn(SeededRandom& random, TurnPtr parent) {
  auto turn = std::make_shared<Turn>();
  turn->prompt = some_ids(random);
  turn->completion = some_ids(random);
  if (parent && !parent->completion.empty() && random.chance(300)) turn->parent_trim = 1;
  turn->messages.resize(random.below(3));
  for (auto& message : turn->messages) message.text = std::to_string(random.below(1000));
  turn->answer.text = std::to_string(random.below(1000));
  turn->parent = std::move(parent);
  join_path(*turn);
  return turn;
}

// The ids of a prompt, put together turn by turn.
TokenIds walked_prompt(const TurnPtr& leaf) {
  TokenIds ids;
  for (const auto& turn : path_to(leaf)) {
    ids.resize(ids.size() - turn->parent_trim);
    ids.insert(ids.end(), turn->prompt.begin(), turn->prompt.end());
    if (turn != leaf) ids.insert(ids.end(), turn->completion.begin(), turn->completion.end());
  }
  return ids;
}

std::string walked_letters(const TurnPtr& leaf) {
  std::string letters;
  for (const auto& message : messages_of(leaf)) append_letters(letters, message);
  return letters;
}

TEST(Turn, shares_the_path_that_the_turns_above_make) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRandom random(seed);
    std::vector<TurnPtr> turns;
    for (int i = 0; i < 40; ++i) {
      const TurnPtr parent = turns.empty() || random.chance(50) ? nullptr
                             : random.chance(700)               ? turns.back()
                                                                : turns[random.below(turns.size())];
      turns.push_back(random_turn(random, parent));
    }
    for (const auto& turn : turns) {
      auto ids = walked_prompt(turn);
      EXPECT_EQ(prompt_of(turn), ids);
      ids.insert(ids.end(), turn->completion.begin(), turn->completion.end());
      EXPECT_EQ(row_of(turn), ids);
      std::string letters;
      for (const auto piece : turn->path_letters.pieces())
        letters.append(piece.data(), piece.size());
      EXPECT_EQ(letters, walked_letters(turn));
    }
  }
}

TEST(Turn, rows_leave_out_trimmed_ids) {
  auto root = std::make_shared<Turn>();
  root->prompt = {1, 2};
  root->completion = {3, 9};
  join_path(*root);
  auto child = std::make_shared<Turn>();
  child->parent = root;
  child->parent_trim = 1;
  child->prompt = {8};
  child->completion = {4};
  join_path(*child);
  EXPECT_EQ(row_of(child), (TokenIds{1, 2, 3, 8, 4}));
  EXPECT_EQ(prompt_of(child), (TokenIds{1, 2, 3, 8}));
  EXPECT_EQ(row_of(root), (TokenIds{1, 2, 3, 9}));
}

TEST(Turn, frees_a_long_line_of_parents) {
  TurnPtr leaf;
  for (int i = 0; i < 1'000'000; ++i) {
    auto turn = std::make_shared<Turn>();
    turn->parent = std::move(leaf);
    leaf = std::move(turn);
  }
  leaf.reset();
  SUCCEED();
}

}  // namespace
}  // namespace verbatim::trajectory
