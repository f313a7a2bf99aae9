#include "export/audit.h"

#include <gtest/gtest.h>

namespace verbatim::exporting {
namespace {

RecordedTurn turn(std::string id, std::string parent, TokenIds prompt, TokenIds completion,
                  double logprob = -0.5) {
  RecordedTurn t{"s", std::move(id), std::move(parent), std::move(prompt), std::move(completion),
                 {},  "stop"};
  t.logprobs.assign(t.completion.size(), logprob);
  return t;
}

TEST(Audit, proves_that_a_prompt_extends_its_parent) {
  const std::vector<RecordedTurn> turns{turn("a", "", {1, 2}, {3, 4}),
                                        turn("b", "a", {1, 2, 3, 4, 5}, {6})};
  const auto proofs = prove_turns(turns, 0);
  EXPECT_EQ(proofs[1].failure, "");
  EXPECT_EQ(proofs[1].inherited, 4U);
  EXPECT_EQ(proofs[1].added, 1U);
}

TEST(Audit, finds_one_id_that_differs) {
  for (std::size_t at = 0; at < 4; ++at) {
    TokenIds prompt{1, 2, 3, 4, 5};
    prompt[at] = 99;
    const std::vector<RecordedTurn> turns{turn("a", "", {1, 2}, {3, 4}),
                                          turn("b", "a", prompt, {6})};
    EXPECT_NE(prove_turns(turns, 0)[1].failure, "") << at;
    EXPECT_EQ(prove_turns(turns, 1)[1].failure.empty(), at == 3)
        << "one id at the join may be trimmed where the family says so";
  }
  EXPECT_NE(
      prove_turns(std::vector{turn("a", "", {1, 2}, {3, 4}), turn("b", "a", {1, 2}, {6})}, 1)[1]
          .failure,
      "");
}

TEST(Audit, finds_missing_parents_and_impossible_logprobs) {
  EXPECT_NE(prove_turns(std::vector{turn("b", "a", {1}, {2})}, 0)[0].failure, "");
  EXPECT_NE(prove_turns(std::vector{turn("a", "", {1}, {2}, 0.5)}, 0)[0].failure, "");
}

}  // namespace
}  // namespace verbatim::exporting
