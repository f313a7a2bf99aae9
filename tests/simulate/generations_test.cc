#include "simulate/generations.h"

#include <gtest/gtest.h>

namespace verbatim::simulate {
namespace {

using sim::Fault;
using sim::Served;

Served served(base::TokenIds ids, std::vector<double> logprobs) {
  Served made;
  made.prompt = {1, 2};
  made.sent = ids.size();
  made.whole = true;
  made.ids = std::move(ids);
  made.logprobs = std::move(logprobs);
  return made;
}

const auto not_struck = [](const Served& each) { return !each.fault_fired; };

// A short answer, refused for the way in which its ids were written, and sampled again elsewhere.
TEST(Generations, a_turn_is_of_the_generation_with_its_logprobs_and_not_of_one_that_was_refused) {
  Served refused = served({7}, {-0.5});
  refused.fault = Fault::kIdBool;
  refused.fault_fired = true;
  const Served again = served({7}, {-0.25});
  EXPECT_EQ(generation_of({{1, 2}, {7}, {-0.25}}, {&refused, &again}, not_struck), &again);
  const Served same = served({7}, {-0.5});
  EXPECT_EQ(generation_of({{1, 2}, {7}, {-0.5}}, {&refused, &same}, not_struck), &same);
}

TEST(Generations, where_only_the_ids_agree_it_is_the_first_of_them) {
  const Served first = served({7, 8}, {-0.5, -1});
  const Served second = served({7, 8}, {-0.25, -1});
  EXPECT_EQ(generation_of({{1, 2}, {7, 8}, {-3, -1}}, {&first, &second}, not_struck), &first);
}

TEST(Generations, other_ids_another_prompt_and_half_an_answer_are_none) {
  Served half = served({7, 8}, {-0.5, -1});
  half.sent = 1;
  half.whole = false;
  const Served whole = served({7, 8}, {-0.5, -1});
  const std::vector<const Served*> both{&half, &whole};
  EXPECT_EQ(generation_of({{1, 2}, {7, 9}, {-0.5, -1}}, both, not_struck), nullptr);
  EXPECT_EQ(generation_of({{1}, {7, 8}, {-0.5, -1}}, both, not_struck), nullptr);
  EXPECT_EQ(generation_of({{1, 2}, {7}, {-0.5}}, both, not_struck), nullptr);
  EXPECT_EQ(generation_of({{1, 2}, {7, 8}, {-0.5, -1}}, both, not_struck), &whole);
}

TEST(Generations, what_the_gateway_cut_is_the_beginning_of_one_with_floats_for_logprobs) {
  const Served longer = served({7, 8, 9}, {-0.1, -1, -2});
  const double rounded = static_cast<double>(static_cast<float>(-0.1));
  Sampled sampled{{1, 2}, {7, 8}, {rounded, -1}};
  EXPECT_EQ(generation_of(sampled, {&longer}, not_struck), nullptr);
  sampled.cut = true;
  EXPECT_EQ(generation_of(sampled, {&longer}, not_struck), &longer);
  EXPECT_TRUE(same_logprobs(sampled, longer));
  sampled.cut = false;
  EXPECT_FALSE(same_logprobs(sampled, longer));
  sampled.floats = true;
  EXPECT_TRUE(same_logprobs(sampled, longer));
}

}  // namespace
}  // namespace verbatim::simulate
