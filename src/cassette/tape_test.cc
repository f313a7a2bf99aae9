#include "cassette/tape.h"

#include <gtest/gtest.h>

#include "cassette/testing/samples.h"

namespace verbatim::cassette {
namespace {

using testing::whole_turn;

Tape two_turns(std::vector<RecordedTurn> standing = {}, std::vector<std::string> ignored = {}) {
  Tape::Options options;
  options.turns = {whole_turn("t1", R"({"input":"a"})", "{}"),
                   whole_turn("t2", R"({"input":"b"})", "{}")};
  options.standing = std::move(standing);
  options.ignored = std::move(ignored);
  auto tape = Tape::make(std::move(options));
  EXPECT_TRUE(tape.ok());
  return std::move(*tape);
}

std::string taken(Tape& tape, const std::string& body) {
  const auto found = tape.take("POST", "/v1/responses", "", body);
  return found.turn == nullptr ? "" : found.turn->filename;
}

TEST(Tape, turns_are_taken_in_order_and_once) {
  auto tape = two_turns();
  EXPECT_EQ(taken(tape, R"({"input":"a"})"), "t1");
  EXPECT_EQ(taken(tape, R"({"input":"b"})"), "t2");
  EXPECT_TRUE(tape.report().empty());
  EXPECT_EQ(taken(tape, R"({"input":"b"})"), "");
  EXPECT_EQ(tape.report(),
            std::vector<std::string>{"unexpected: POST /v1/responses: all 2 turns were replayed"});
}

TEST(Tape, a_turn_out_of_order_is_unexpected_and_the_right_one_still_fits) {
  auto tape = two_turns();
  EXPECT_EQ(taken(tape, R"({"input":"b"})"), "");
  EXPECT_EQ(taken(tape, R"({"input":"a"})"), "t1");
  const auto report = tape.report();
  ASSERT_EQ(report.size(), 2U);
  EXPECT_EQ(report[0],
            "unexpected: POST /v1/responses: expected t1 POST /v1/responses: "
            "body.input[0].content[0].text: found \"b\", recorded \"a\"");
  EXPECT_EQ(report[1], "missing: t2 POST /v1/responses was not asked for");
}

TEST(Tape, standing_turns_are_answered_at_any_time) {
  auto models = whole_turn("t9", "{}", "{}");
  models.request.method = "GET";
  models.request.path = "/v1/models";
  auto tape = two_turns({models});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(tape.take("GET", "/v1/models", "", "").turn->filename, "t9");
  EXPECT_EQ(tape.taken(), 0U);
  EXPECT_EQ(tape.report().size(), 2U);
}

TEST(Tape, what_comes_next_goes_before_what_stands) {
  auto tape = two_turns({whole_turn("t9", R"({"input":"a"})", "{}")});
  EXPECT_EQ(taken(tape, R"({"input":"a"})"), "t1");
  EXPECT_EQ(taken(tape, R"({"input":"a"})"), "t9");
}

TEST(Tape, ignored_members_and_bodies_that_are_none) {
  auto tape = two_turns({}, {"metadata"});
  EXPECT_EQ(taken(tape, R"({"input":"a","metadata":{"x":1}})"), "t1");
  EXPECT_EQ(taken(tape, "nonsense"), "");
  EXPECT_NE(tape.report()[0].find("body: "), std::string::npos);
}

}  // namespace
}  // namespace verbatim::cassette
