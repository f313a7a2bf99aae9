#include "engine/request_fields.h"

#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
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

TEST(RequestFields, ids_of_any_size_are_printed_as_numbers) {
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < 1'002'000; id += id < 12'000 || id > 998'000 ? 1 : 17)
    ids.push_back(id);
  base::SeededRandom random(1);
  for (int i = 0; i < 10'000; ++i)
    ids.push_back(static_cast<TokenId>(random.next() >> (32 + random.below(32))));
  ids.push_back(std::numeric_limits<TokenId>::max());
  std::string expected;
  for (const TokenId id : ids) expected += (expected.empty() ? "" : ",") + std::to_string(id);
  const std::span<const TokenId> all(ids);
  const std::array<std::span<const TokenId>, 3> pieces{all.first(5), {}, all.subspan(5)};
  std::string printed;
  append_ids(printed, pieces);
  EXPECT_TRUE(printed == expected);
}

}  // namespace
}  // namespace verbatim::engine
