#include "export/samples.h"

#include <gtest/gtest.h>

namespace verbatim::exporting {
namespace {

RecordedTurn turn(std::string id, std::string parent, TokenIds prompt, TokenIds completion) {
  RecordedTurn t{"s", std::move(id), std::move(parent), std::move(prompt), std::move(completion),
                 {},  "stop"};
  for (std::size_t i = 0; i < t.completion.size(); ++i)
    t.logprobs.push_back(-0.5 * static_cast<double>(i + 1));
  return t;
}

TEST(Samples, mask_exactly_the_sampled_ids_of_a_path) {
  const std::vector<RecordedTurn> turns{turn("a", "", {1, 2}, {3, 4}),
                                        turn("b", "a", {1, 2, 3, 4, 5}, {6})};
  const auto samples = leaf_samples(turns);
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 1U);
  const auto& s = samples->front();
  EXPECT_EQ(s.ids, (TokenIds{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(s.mask, (std::vector<std::uint8_t>{0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(s.loss_mask, s.mask);
  EXPECT_EQ(s.logprobs, (std::vector<double>{0, 0, -0.5, -1, 0, -0.5}));
}

TEST(Samples, train_on_a_shared_turn_once) {
  const std::vector<RecordedTurn> turns{turn("a", "", {1}, {2}), turn("b", "a", {1, 2, 3}, {4}),
                                        turn("c", "a", {1, 2, 5}, {6})};
  const auto samples = leaf_samples(turns);
  ASSERT_TRUE(samples.ok());
  ASSERT_EQ(samples->size(), 2U);
  EXPECT_EQ((*samples)[0].loss_mask, (std::vector<std::uint8_t>{0, 1, 0, 1}));
  EXPECT_EQ((*samples)[1].mask, (std::vector<std::uint8_t>{0, 1, 0, 1}));
  EXPECT_EQ((*samples)[1].loss_mask, (std::vector<std::uint8_t>{0, 0, 0, 1}));
}

TEST(Samples, name_the_turn_whose_last_id_was_replaced) {
  const std::vector<RecordedTurn> turns{turn("a", "", {1}, {2, 9}), turn("b", "a", {1, 2, 8}, {4})};
  const auto samples = leaf_samples(turns);
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->front().trimmed, std::vector<std::string>{"a"});
  EXPECT_EQ(samples->front().mask, (std::vector<std::uint8_t>{0, 1, 0, 1}));
}

TEST(Samples, refuse_turns_that_do_not_extend_their_parent) {
  EXPECT_FALSE(
      leaf_samples(std::vector{turn("a", "", {1}, {2}), turn("b", "a", {7, 7, 7}, {4})}).ok());
  EXPECT_FALSE(leaf_samples(std::vector{turn("b", "missing", {7}, {4})}).ok());
}

TEST(Records, leave_out_a_line_without_its_end) {
  const std::string line =
      R"({"schema_version":"tito.record.v1","session_id":"s","turn":"1","parent_turn":null,"prompt_token_ids":[1],"completion_token_ids":[2],"completion_logprobs":[-0.1],"finish_reason":"stop"})";
  const auto turns = read_records(line + "\n" + R"({"schema_version":"tito.session.v1"})" + "\n" +
                                  line.substr(0, 40));
  ASSERT_TRUE(turns.ok()) << turns.error().message;
  EXPECT_EQ(turns->size(), 1U);
}

TEST(Records, name_line_and_member_of_what_is_wrong) {
  const auto turns = read_records("{\"schema_version\":\"tito.record.v1\",\"session_id\":5}\n");
  ASSERT_FALSE(turns.ok());
  EXPECT_EQ(turns.error().field, "line 1.session_id");
}

}  // namespace
}  // namespace verbatim::exporting
