#include "engine/pool/agreement.h"

#include <gtest/gtest.h>

namespace verbatim::engine::pool {
namespace {

Probe probe(std::vector<ModelInfo> models, std::uint64_t context = 0) {
  Probe p;
  p.models = std::move(models);
  p.context_length = context;
  return p;
}

TEST(Agreement, table) {
  struct Row {
    Probe found, expected;
    const char* differs;  // "" where they agree
  };
  const Row rows[] = {
      {probe({{"a", 10}}), probe({{"a", 10}}), ""},
      {probe({{"b", 10}}), probe({{"a", 10}}), "found model \"b\", expected \"a\""},
      {probe({{"a", 20}}), probe({{"a", 10}}), "found a context length of 20, expected 10"},
      {probe({{"a", 0}}, 20), probe({{"a", 10}}), "found a context length of 20, expected 10"},
      {probe({{"a", 0}}), probe({{"a", 10}}), ""},
      {probe({}), probe({{"a", 10}}), ""},
      {probe({}, 20), probe({}, 10), "found a context length of 20, expected 10"},
      {probe({{"lora", 10}, {"a", 10}}), probe({{"a", 10}}), ""},
      {probe({{"lora", 10}, {"a", 11}}), probe({{"a", 10}}),
       "found a context length of 11, expected 10"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(difference(row.found, row.expected).value_or(""), row.differs);
    EXPECT_EQ(difference(row.expected, row.found).has_value(), *row.differs != '\0');
  }
}

TEST(Agreement, what_only_one_says_is_taken_from_it) {
  Probe a = probe({{"a", 0}});
  a.weight_version = "w1";
  Probe b = probe({{"a", 10}}, 10);
  b.engine_version = "1.2";
  b.weight_version = "w2";
  b.max_input_tokens = 9;
  const Probe both = merged(a, b);
  EXPECT_EQ(both.engine_version, "1.2");
  EXPECT_EQ(both.weight_version, "") << "each has its own";
  EXPECT_EQ(both.models.front().max_model_len, 10U);
  EXPECT_EQ(both.context_length, 10U);
  EXPECT_EQ(both.max_input_tokens, 9U);
}

}  // namespace
}  // namespace verbatim::engine::pool
