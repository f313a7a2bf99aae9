#include <algorithm>

#include <gtest/gtest.h>

#include "store/sqlite/exchange_lines.h"
#include "store/sqlite/turn_codec.h"
#include "store/testing/exchange_place.h"

namespace verbatim::store::sqlite {
namespace {

using base::ErrorKind;
using store::testing::ExchangePlace;

// What a forger, who makes the sums anew, can't get in.
struct Forged {
  Forged() : from(1), to(2) {
    from.create("a");
    const auto one = from.add("a", nullptr);
    from.add("a", one);
    ExchangeReader reader;
    for (const auto& line : from.exported()) lines.push_back(std::move(*reader.read(line)));
  }
  template <class Line>
  Line& nth(std::size_t number) {
    for (auto& line : lines) {
      auto* found = std::get_if<Line>(&line);
      if (found != nullptr && number-- == 0) return *found;
    }
    std::abort();
  }
  void refused(const std::string& words) {
    ExchangeWriter writer;
    std::vector<std::string> written;
    for (const auto& line : lines) {
      written.push_back(writer.line(line));
      written.back().pop_back();
    }
    to.expect_refused(written, ErrorKind::kInvalidRequest, words);
  }

  ExchangePlace from, to;
  std::vector<ExchangeLine> lines;
};

TEST(Exchange, what_a_commit_would_not_keep_is_refused) {
  const auto forged = [](const std::function<void(Forged&)>& forge, const std::string& words) {
    Forged f;
    forge(f);
    f.refused(words);
  };
  const auto turn = [](const std::function<void(Turn&)>& change) {
    return [change](Forged& f) {
      auto& line = f.nth<TurnLine>(1);
      auto made = std::move(*decode_turn(line.bytes));
      change(*made);
      line.bytes = encode(*made);
    };
  };
  forged(turn([](Turn& t) { t.logprobs.push_back(-1); }), "logprobs");
  forged(turn([](Turn& t) {
           t.completion = {1};
           t.logprobs = {std::numeric_limits<double>::infinity()};
         }),
         "not finite");
  forged(turn([](Turn& t) { t.spans.push_back({1, {}, {}, {}}); }), "spans of");
  forged(turn([](Turn& t) { t.parent_trim = 1000; }), "cuts more");
  forged(turn([](Turn& t) {
           t.token_exact = true;
           ++t.row_size;
         }),
         "a row of");
  forged([](Forged& f) { f.nth<TurnLine>(1).parent = 2; }, "below turn 2");
  forged([](Forged& f) { f.nth<TurnLine>(1).seq = 3; }, "expected turn 2");
  forged([](Forged& f) { ++f.nth<TurnLine>(1).branch; }, "branch");
  forged([](Forged& f) { f.nth<TurnLine>(1).root = 2; }, "not named");
  forged([](Forged& f) { f.nth<TurnLine>(1).commit = 9; }, "commit 9");
  forged([](Forged& f) { f.nth<TurnLine>(1).commit = 1; }, "commit 1");
  forged([](Forged& f) { f.nth<TurnLine>(1).bytes += "x"; }, "line 5");
  forged([](Forged& f) { f.nth<SessionLine>(0).turns = 3; }, "version");
  forged([](Forged& f) { f.nth<SessionLine>(0).number = 99; }, "session number 99");
  forged([](Forged& f) { ++f.nth<EndLine>(0).turns; }, "counts 1 sessions and 3 turns");
  forged([](Forged& f) { f.lines.insert(f.lines.begin() + 1, f.lines[0]); }, "a second line");
  forged(
      [](Forged& f) {
        std::swap(f.lines[1], f.lines[2]);
        f.lines.erase(f.lines.begin() + 2);
      },
      "a turn without a session");
  forged([](Forged& f) { f.lines.push_back(f.lines.back()); }, "behind the end");
  Forged twice;
  twice.nth<TurnLine>(1).id = twice.nth<TurnLine>(0).id;
  ExchangeWriter writer;
  std::vector<std::string> written;
  for (const auto& line : twice.lines) {
    written.push_back(writer.line(line));
    written.back().pop_back();
  }
  twice.to.expect_refused(written, ErrorKind::kConflict, "is in the store already");
}

// Of the conversations, one with a turn comes first.
TEST(Exchange, a_conversation_that_does_not_fit_to_itself_is_refused) {
  const auto forged = [](const std::function<void(Forged&)>& forge, const std::string& words) {
    Forged f;
    f.from.fill_conversations();
    f.lines.clear();
    ExchangeReader reader;
    for (const auto& line : f.from.exported()) f.lines.push_back(std::move(*reader.read(line)));
    forge(f);
    f.refused(words);
  };
  const auto item = [](const std::function<void(ConversationItem&)>& change) {
    return [change](Forged& f) {
      auto& line = f.nth<ItemLine>(1);
      auto changed = std::make_shared<ConversationItem>(*line.item);
      change(*changed);
      line.item = std::move(changed);
    };
  };
  const auto state = [](const std::function<void(Conversation&)>& change) {
    return [change](Forged& f) { change(f.nth<ConversationLine>(0).conversation); };
  };
  forged(item([](auto& i) { i.seq = 1; }), "item 1, expected one behind item 1");
  forged(item([](auto& i) { i.seq = 9; }), "item 9");
  forged(item([](auto& i) { i.id = "msg_1"; }), "a second item msg_1");
  forged(item([](auto& i) { i.id.clear(); }), "item 2");
  forged(item([](auto& i) { i.body += " "; }), "counts others");
  forged(state([](auto& c) { c.turn = 1; }), "a conversation of a turn that is not there");
  forged(state([](auto& c) { ++c.items; }), "more items than were ever added");
  forged(state([](auto& c) { ++c.answered; }), "more items than were ever added");
  forged(state([](auto& c) { --c.items; }), "counts others");
  forged(
      [](Forged& f) {
        const auto is_conversation = [](const auto& line) {
          return std::holds_alternative<ConversationLine>(line);
        };
        f.lines.erase(std::find_if(f.lines.begin(), f.lines.end(), is_conversation));
      },
      "an item without its conversation");
}

}  // namespace
}  // namespace verbatim::store::sqlite
