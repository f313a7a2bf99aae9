#include "engine/request_fields.h"

#include <limits>

#include "gtest/gtest.h"

namespace verbatim::engine {
namespace {

TEST(RequestFields, names_the_parameter_that_can_not_be_done) {
  message::Sampling s;
  EXPECT_TRUE(check_sampling(s, 100).ok());
  s.top_logprobs = 21;
  EXPECT_EQ(check_sampling(s, 100).error().field, "top_logprobs");
  s = {};
  s.stop = {"a", ""};
  EXPECT_EQ(check_sampling(s, 100).error().field, "stop[1]");
  s = {};
  s.stop_token_ids = {99, 100};
  EXPECT_EQ(check_sampling(s, 100).error().field, "stop_token_ids[1]");
  s = {};
  s.min_p = std::numeric_limits<double>::infinity();
  EXPECT_EQ(check_sampling(s, 100).error().field, "min_p");
}

}  // namespace
}  // namespace verbatim::engine
