#include "engine/pool/stickiness.h"

#include <string>

#include <gtest/gtest.h>

namespace verbatim::engine::pool {
namespace {

TEST(Stickiness, remembers_the_last_replica_of_a_conversation) {
  Stickiness map(10);
  EXPECT_EQ(map.find("a"), Stickiness::kNone);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  EXPECT_EQ(map.find("a"), 3U);
  EXPECT_EQ(map.find("b"), 2U);
  EXPECT_EQ(map.size(), 2U);
}

TEST(Stickiness, forgets_what_was_not_used_for_the_longest_time) {
  Stickiness map(100);
  for (int i = 0; i < 1000; ++i) {
    map.set("conversation " + std::to_string(i), static_cast<std::size_t>(i));
    map.set("kept", 7);
    EXPECT_LE(map.size(), 100U);
  }
  EXPECT_EQ(map.find("kept"), 7U);
  EXPECT_EQ(map.find("conversation 999"), 999U);
  EXPECT_EQ(map.find("conversation 901"), 901U);
  EXPECT_EQ(map.find("conversation 900"), Stickiness::kNone);
}

TEST(Stickiness, may_remember_nothing) {
  Stickiness map(0);
  map.set("a", 1);
  EXPECT_EQ(map.find("a"), Stickiness::kNone);
}

}  // namespace
}  // namespace verbatim::engine::pool
