// What token-recording gateways that were there before this one make of histories, answers and
// requests, and what becomes of the same here, in each mode of a session: the table is
// testing/peer_rows.h.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "api/testing/peer_rows.h"

namespace verbatim::api {
namespace {

using base::Task;
using testing::GatewayOnSim;
using testing::HttpCaller;
using testing::peer_notes;
using testing::PeerRow;
using testing::Play;

std::vector<PeerRow> all_rows() {
  std::vector<PeerRow> all;
  for (const auto list : {testing::peer_histories(), testing::peer_answers(),
                          testing::peer_requests(), testing::peer_defects()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

class Peers : public ::testing::TestWithParam<PeerRow> {
 protected:
  static void play(const PeerRow& row, const std::string& mode, const char* expected) {
    SCOPED_TRACE(std::string(row.id) + ", " + mode + ": " + row.what);
    GatewayOnSim gateway;
    gateway.kind = row.kind;
    gateway.mode = row.driven;
    gateway.engine_options.model = "toy";
    gateway.engine_options.keeps_log = true;
    auto steps = Play::steps(row.recorded);
    steps.insert(steps.end(), row.steps.begin(), row.steps.end());
    gateway.script(steps);
    gateway.run([&](HttpCaller& caller) -> Task<void> {
      Play scene(gateway, caller);
      scene.left = row.steps.size();
      const bool opened = co_await scene.open(mode);
      EXPECT_TRUE(opened);
      co_await scene.record(row.recorded);
      const auto recorded = co_await scene.turns();
      EXPECT_EQ(recorded.size(), row.recorded);
      const auto came = co_await row.play(scene);
      EXPECT_EQ(came, expected);
      const auto unsound = co_await scene.unsound();
      EXPECT_EQ(unsound, "");
    });
  }
};

TEST_P(Peers, each_probe_has_its_outcome_in_each_mode) {
  play(GetParam(), "tree", GetParam().tree);
  play(GetParam(), "linear", GetParam().linear);
  play(GetParam(), "strict", GetParam().strict);
}

INSTANTIATE_TEST_SUITE_P(Rows, Peers, ::testing::ValuesIn(all_rows()), [](const auto& row) {
  std::string name = row.param.id;
  for (auto& c : name) c = c == ' ' ? '_' : c;
  return name;
});

// Of the 47 probes each has a row of its own; of the defects each a row, or a note that says what
// stands for it.
TEST(PeerTable, no_row_is_missing_and_none_is_there_twice) {
  std::multiset<std::string> found;
  for (const auto& row : all_rows()) found.insert(row.id);
  std::set<std::string> expected;
  for (int i = 1; i <= 47; ++i) expected.insert("probe " + std::to_string(i));
  for (const auto& id : expected) EXPECT_EQ(found.count(id), 1U) << id;
  for (const auto& note : peer_notes()) found.insert(note.id);
  const std::map<std::string, std::string> parts{{"1", "abcdef"},   {"2", "abcdefgh"}, {"3", ""},
                                                 {"4", "abcdefgh"}, {"5", "abcde"},    {"6", "ab"},
                                                 {"7", "abc"},      {"8", ""}};
  for (const auto& [number, letters] : parts) {
    if (letters.empty()) expected.insert("defect " + number);
    for (const char letter : letters) expected.insert("defect " + number + letter);
  }
  EXPECT_EQ(found, std::multiset<std::string>(expected.begin(), expected.end()));
}

TEST(PeerTable, each_row_says_what_others_do_and_what_comes_of_it) {
  for (const auto& row : all_rows()) {
    for (const std::string_view text : {row.what, row.peers, row.tree, row.linear, row.strict})
      EXPECT_FALSE(text.empty()) << row.id;
  }
  for (const auto& note : peer_notes()) EXPECT_FALSE(std::string_view(note.instead).empty());
}

}  // namespace
}  // namespace verbatim::api
