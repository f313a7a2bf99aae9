#include "store/owner_shares.h"

#include <map>

#include <gtest/gtest.h>

#include "base/random.h"

namespace verbatim::store {
namespace {

std::uint64_t taken_by(OwnerShares& shares, const std::string& owner) {
  std::uint64_t taken = 0;
  for (; !shares.full(owner); ++taken) shares.add(owner, 1);
  return taken;
}

TEST(OwnerShares, one_owner_has_all_of_it) {
  for (const std::uint64_t limit : {0U, 1U, 7U, 1000U}) {
    OwnerShares shares(limit, 1);
    EXPECT_EQ(taken_by(shares, "a"), limit);
    OwnerShares nobody_known(limit, 0);
    EXPECT_EQ(taken_by(nobody_known, ""), limit);
  }
}

TEST(OwnerShares, who_takes_all_that_it_gets_leaves_each_other_owner_its_share) {
  OwnerShares shares(1000, 5);
  EXPECT_EQ(taken_by(shares, "greedy"), 600U) << "its own 100, and the common 500";
  for (const std::string owner : {"b", "c", "d", "e"}) EXPECT_EQ(taken_by(shares, owner), 100U);
  EXPECT_EQ(shares.total(), 1000U);
}

TEST(OwnerShares, what_is_given_back_is_for_whoever_comes) {
  OwnerShares shares(1000, 2);
  EXPECT_EQ(taken_by(shares, "a"), 750U);
  EXPECT_EQ(taken_by(shares, "b"), 250U);
  shares.remove("a", 300);
  EXPECT_EQ(taken_by(shares, "b"), 300U);
  EXPECT_TRUE(shares.full("a"));
}

TEST(OwnerShares, never_more_than_the_limit_and_each_has_its_share_whatever_happens) {
  base::SeededRandom random(1);
  for (int round = 0; round < 200; ++round) {
    const auto owners = 1 + random.below(6);
    const auto limit = random.below(500);
    OwnerShares shares(limit, owners);
    std::map<std::string, std::uint64_t> has;
    for (int i = 0; i < 500; ++i) {
      const std::string owner = std::to_string(random.below(owners));
      if (random.chance(400)) {
        const auto less = random.below(has[owner] + 1);
        shares.remove(owner, less);
        has[owner] -= less;
      } else if (!shares.full(owner)) {
        shares.add(owner, 1);
        ++has[owner];
      } else {
        ASSERT_GE(has[owner], limit / 2 / owners) << "refused its own share";
      }
      std::uint64_t total = 0;
      for (const auto& [name, amount] : has) total += amount;
      ASSERT_EQ(shares.total(), total);
      ASSERT_LE(total, limit);
    }
  }
}

}  // namespace
}  // namespace verbatim::store
