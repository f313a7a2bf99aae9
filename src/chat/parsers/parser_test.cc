// What holds for every grammar and every way of cutting.
#include "chat/parsers/parser.h"

#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "chat/parsers/testing/pieces.h"

namespace verbatim::chat::parsers {
namespace {

using testing::NextRun;
using testing::Outcome;

constexpr std::size_t kNoCut = std::size_t{1} << 30;
constexpr int kRounds = 20000;

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return text;
}

struct Turn {
  testing::Pieces pieces;
  TurnStart start;
  Ending ending = Ending::kByItself;
};

Turn random_turn(const Grammar& grammar, base::Random& random) {
  Turn turn;
  turn.start.reasoning_open = random.chance(300);
  turn.start.tools = random.chance(850);
  constexpr Ending kEndings[] = {Ending::kByItself, Ending::kByItself, Ending::kLength,
                                 Ending::kStopString};
  turn.ending = kEndings[random.below(4)];
  turn.pieces = testing::random_pieces(grammar, random);
  return turn;
}

class EveryGrammar : public ::testing::TestWithParam<std::string_view> {
 protected:
  const Grammar& grammar() const { return *grammar_named(GetParam()); }
};

TEST_P(EveryGrammar, gives_the_same_answer_for_every_cut) {
  const std::uint64_t seed = 771;
  SCOPED_TRACE(seed);
  base::SeededRandom random(seed);
  const NextRun whole = [] { return kNoCut; };
  const NextRun single = [] { return std::size_t{1}; };
  const NextRun any = [&] { return 1 + random.below(7); };
  for (int round = 0; round < kRounds; ++round) {
    const Turn turn = random_turn(grammar(), random);
    const auto parse = [&](const NextRun& run) {
      return testing::parse(grammar(), turn.start, turn.pieces, turn.ending, run);
    };
    const Outcome expected = parse(whole);
    const std::string output = testing::spelled(grammar(), turn.pieces);
    ASSERT_EQ(testing::broken_rule(expected), "") << output;
    for (const auto* run : {&single, &any}) {
      const Outcome got = parse(*run);
      ASSERT_EQ(got.folded, expected.folded) << output;
      ASSERT_EQ(got.finish, expected.finish) << output;
      ASSERT_EQ(testing::broken_rule(got), "") << output;
    }
  }
}

TEST_P(EveryGrammar, reads_tags_in_ordinary_text_like_tags_that_are_tokens) {
  const std::uint64_t seed = 772;
  SCOPED_TRACE(seed);
  base::SeededRandom random(seed);
  const NextRun any = [&] { return 1 + random.below(9); };
  for (int round = 0; round < kRounds; ++round) {
    const Turn turn = random_turn(grammar(), random);
    const std::string output = testing::spelled(grammar(), turn.pieces);
    // Pieces may spell another tag where they meet.
    const auto pieces = testing::split(grammar(), output);
    const auto tokens = testing::parse(grammar(), turn.start, pieces, turn.ending, any);
    const auto text = testing::parse_text(grammar(), turn.start, output, turn.ending, any);
    ASSERT_EQ(text.folded, tokens.folded) << output;
    ASSERT_EQ(text.finish, tokens.finish) << output;
  }
}

TEST_P(EveryGrammar, loses_no_character_where_there_are_no_calls_to_be_read) {
  const std::uint64_t seed = 773;
  SCOPED_TRACE(seed);
  base::SeededRandom random(seed);
  for (int round = 0; round < kRounds; ++round) {
    Turn turn = random_turn(grammar(), random);
    turn.start = {.reasoning_open = false, .tools = false};
    turn.pieces.insert(turn.pieces.begin(), {std::nullopt, "A"});
    const auto outcome =
        testing::parse(grammar(), turn.start, turn.pieces, turn.ending, [] { return kNoCut; });
    ASSERT_EQ(without_blanks(outcome.folded.text),
              without_blanks(testing::spelled(grammar(), turn.pieces)));
  }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> out;
  for (const auto& grammar : grammars()) out.push_back(grammar.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Parser, EveryGrammar, ::testing::ValuesIn(names()),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace verbatim::chat::parsers
