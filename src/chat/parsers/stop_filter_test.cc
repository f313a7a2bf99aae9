#include "chat/parsers/stop_filter.h"

#include <gtest/gtest.h>

namespace verbatim::chat::parsers {
namespace {

std::string run(const std::vector<std::string>& stops, const std::vector<std::string>& pieces,
                bool* found = nullptr) {
  StopFilter filter(stops);
  std::string out;
  bool hit = false;
  for (const auto& piece : pieces) hit = filter.feed(piece, out);
  if (!hit) filter.flush(out);
  if (found != nullptr) *found = hit;
  return out;
}

TEST(StopFilter, cuts_in_front_of_the_first_stop_string) {
  EXPECT_EQ(run({"END", "STOP"}, {"abcSTOPdefEND"}), "abc");
  EXPECT_EQ(run({"END"}, {"abc"}), "abc");
  EXPECT_EQ(run({}, {"abc"}), "abc");
}

TEST(StopFilter, gives_the_same_for_every_cut) {
  for (const std::string text : {"xxaabaabbyy", "aab", "aaab", "aabaab", "aaxaa"}) {
    const std::string whole = run({"aabb", "ba"}, {text});
    for (std::size_t i = 0; i <= text.size(); ++i) {
      for (std::size_t k = i; k <= text.size(); ++k) {
        EXPECT_EQ(run({"aabb", "ba"}, {text.substr(0, i), text.substr(i, k - i), text.substr(k)}),
                  whole)
            << text << ' ' << i << ' ' << k;
      }
    }
  }
}

TEST(StopFilter, the_string_that_is_whole_first_counts_even_where_a_longer_one_began_before) {
  EXPECT_EQ(run({"abcd", "c"}, {"xabcd"}), "xab");
  EXPECT_EQ(run({"abcd", "c"}, {"xab", "c", "d"}), "xab");
  EXPECT_EQ(run({"abc", "c"}, {"xabc"}), "x");
}

TEST(StopFilter, gives_back_a_prefix_that_did_not_become_a_stop_string) {
  bool found = true;
  EXPECT_EQ(run({"STOP"}, {"a ST", "O"}, &found), "a STO");
  EXPECT_FALSE(found);
}

}  // namespace
}  // namespace verbatim::chat::parsers
