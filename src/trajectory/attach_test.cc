#include "trajectory/attach.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"
#include "trajectory/equality.h"

namespace verbatim::trajectory {
namespace {

using message::Message;
using message::Role;

Message make(Role role, std::string text, std::string reasoning = "") {
  Message m;
  m.role = role;
  m.text = std::move(text);
  if (!reasoning.empty()) m.reasoning = std::move(reasoning);
  return m;
}

const Message kUser = make(Role::kUser, "u");
const Message kMore = make(Role::kUser, "more");

// Turns that were recorded, with the digests a planner gives them.
class Recorded {
 public:
  TurnPtr add(const TurnPtr& parent, std::vector<Message> messages, Message answer) {
    auto turn = std::make_shared<Turn>();
    Digest digest = parent ? parent->digest : Digest{};
    for (const auto& message : messages) digest = extend(builder_, digest, message);
    turn->id = turns_.size() + 1;
    turn->seq = turns_.size() + 1;
    turn->parent = parent;
    turn->message_count =
        static_cast<std::uint32_t>((parent ? parent->message_count : 0) + messages.size() + 1);
    turn->digest = extend(builder_, digest, answer);
    turn->messages = std::move(messages);
    turn->answer = std::move(answer);
    join_path(*turn);
    turns_.push_back(turn);
    return turn;
  }
  Placement place(const std::vector<Message>& messages) {
    return trajectory::place(messages, chain(builder_, Digest{}, messages), turns_);
  }

 private:
  DigestBuilder builder_{"key"};
  std::vector<TurnPtr> turns_;
};

TEST(Place, takes_the_deepest_turn_whose_history_is_sent_again) {
  Recorded recorded;
  const Message a1 = make(Role::kAssistant, "a1");
  const Message a2 = make(Role::kAssistant, "a2");
  const auto first = recorded.add(nullptr, {kUser}, a1);
  const auto second = recorded.add(first, {kMore}, a2);
  EXPECT_EQ(recorded.place({kUser}).parent, nullptr);
  EXPECT_EQ(recorded.place({kUser, a1, kMore}).parent, first);
  const auto deep = recorded.place({kUser, a1, kMore, a2, kMore});
  EXPECT_EQ(deep.parent, second);
  EXPECT_EQ(deep.suffix, 4U);
}

TEST(Place, goes_up_to_the_last_turn_that_was_not_edited) {
  Recorded recorded;
  const Message a1 = make(Role::kAssistant, "a1");
  const auto first = recorded.add(nullptr, {kUser}, a1);
  recorded.add(first, {kMore}, make(Role::kAssistant, "a2"));
  const auto placed = recorded.place({kUser, a1, kMore, make(Role::kAssistant, "edited"), kMore});
  EXPECT_EQ(placed.parent, first);
  EXPECT_EQ(placed.suffix, 2U);
  EXPECT_EQ(recorded.place({kMore, a1, kMore}).parent, nullptr);
}

TEST(Place, never_answers_the_last_message) {
  Recorded recorded;
  const Message a1 = make(Role::kAssistant, "a1");
  recorded.add(nullptr, {kUser}, a1);
  EXPECT_EQ(recorded.place({kUser, a1}).parent, nullptr);
}

TEST(Place, takes_the_newest_of_equal_answers_and_says_so) {
  Recorded recorded;
  const Message a = make(Role::kAssistant, "same");
  recorded.add(nullptr, {kUser}, a);
  const auto newer = recorded.add(nullptr, {kUser}, a);
  const auto placed = recorded.place({kUser, a, kMore});
  EXPECT_EQ(placed.parent, newer);
  EXPECT_TRUE(placed.ambiguous);
}

TEST(Place, prefers_the_answer_whose_reasoning_is_sent) {
  Recorded recorded;
  const auto one = recorded.add(nullptr, {kUser}, make(Role::kAssistant, "same", "one"));
  const auto two = recorded.add(nullptr, {kUser}, make(Role::kAssistant, "same", "two"));
  EXPECT_EQ(recorded.place({kUser, make(Role::kAssistant, "same", "one"), kMore}).parent, one);
  EXPECT_FALSE(recorded.place({kUser, make(Role::kAssistant, "same", "one"), kMore}).ambiguous);
  EXPECT_EQ(recorded.place({kUser, make(Role::kAssistant, "same", "two"), kMore}).parent, two);
  EXPECT_EQ(recorded.place({kUser, make(Role::kAssistant, "same", "third"), kMore}).parent,
            nullptr);
  EXPECT_TRUE(recorded.place({kUser, make(Role::kAssistant, "same"), kMore}).ambiguous);
}

TEST(Place, looks_at_the_reasoning_of_all_turns_above) {
  Recorded recorded;
  const Message a2 = make(Role::kAssistant, "a2");
  const auto one = recorded.add(nullptr, {kUser}, make(Role::kAssistant, "same", "one"));
  const auto two = recorded.add(nullptr, {kUser}, make(Role::kAssistant, "same", "two"));
  const auto below_one = recorded.add(one, {kMore}, a2);
  recorded.add(two, {kMore}, a2);
  EXPECT_EQ(recorded.place({kUser, make(Role::kAssistant, "same", "one"), kMore, a2, kMore}).parent,
            below_one);
}

TEST(Place, prefers_the_answer_that_is_the_same_to_the_letter) {
  Recorded recorded;
  const auto spaced = recorded.add(nullptr, {kUser}, make(Role::kAssistant, "same "));
  recorded.add(nullptr, {kUser}, make(Role::kAssistant, "same"));
  EXPECT_EQ(recorded.place({kUser, make(Role::kAssistant, "same "), kMore}).parent, spaced);
}

// As many as a look-up brings: there may be more that were not seen, and could be meant.
TEST(Place, where_more_may_be_alike_only_one_is_taken_that_none_could_fit_better) {
  Recorded recorded;
  Message call = make(Role::kAssistant, "", "");
  call.tool_calls.push_back({"id", "look", R"({"k":1})"});
  TurnPtr last_text, last_call;
  for (std::size_t i = 0; i < kMostAlike; ++i) {
    last_text = recorded.add(nullptr, {kUser}, make(Role::kAssistant, "same", "r"));
    call.tool_calls[0].id = "id" + std::to_string(i);
    last_call = recorded.add(nullptr, {kUser}, call);
  }
  const auto text = [&](const char* said, const char* reasoning) {
    return recorded.place({kUser, make(Role::kAssistant, said, reasoning), kMore});
  };
  EXPECT_EQ(text("same", "").parent, last_text) << "the newest of equal ones, seen or not";
  EXPECT_TRUE(text("same", "").ambiguous);
  EXPECT_EQ(text("same", "r").parent, last_text);
  EXPECT_EQ(text("same", "other").parent, nullptr) << "one that was not seen may have it";
  EXPECT_EQ(text("same ", "").parent, nullptr) << "one that was not seen may be so spelt";
  const auto calls = [&](const std::string& id, const char* arguments) {
    Message sent = call;
    sent.tool_calls[0].id = id;
    sent.tool_calls[0].arguments = arguments;
    return recorded.place({kUser, sent, kMore}).parent;
  };
  EXPECT_EQ(calls("id255", R"({"k":1})"), last_call);
  EXPECT_EQ(calls("id255", R"({"k": 1})"), last_call) << "its ids name it, however it is spelt";
  EXPECT_EQ(calls("foreign", R"({"k":1})"), nullptr);
}

TEST(Continues, asks_for_the_history_to_the_letter) {
  Recorded recorded;
  Message answer = make(Role::kAssistant, "a", "hm");
  answer.tool_calls.push_back({"id1", "look", R"({"k":1})"});
  const auto turn = recorded.add(nullptr, {kUser}, answer);
  const auto sends = [&](auto change) {
    Message echoed = answer;
    change(echoed);
    return continues(turn, std::vector<Message>{kUser, echoed, kMore});
  };
  EXPECT_TRUE(sends([](Message&) {}));
  EXPECT_TRUE(sends([](Message& m) { m.reasoning.reset(); }));
  EXPECT_TRUE(sends([](Message& m) { m.tool_calls[0].id = "other"; }));
  EXPECT_FALSE(sends([](Message& m) { m.reasoning = "else"; }));
  EXPECT_FALSE(sends([](Message& m) { m.text += " "; }));
  EXPECT_FALSE(sends([](Message& m) { m.name = "bob"; }));
  EXPECT_FALSE(sends([](Message& m) { m.tool_calls[0].arguments = R"({"k": 1})"; }));
  EXPECT_FALSE(sends([](Message& m) { m.tool_calls.clear(); }));
  EXPECT_FALSE(continues(turn, std::vector<Message>{make(Role::kUser, "v"), answer, kMore}));
  EXPECT_FALSE(continues(turn, std::vector<Message>{kUser, answer}));
  EXPECT_FALSE(continues(
      turn, std::vector<Message>{kUser, answer, kMore, make(Role::kAssistant, "b"), kMore}))
      << "another answer follows: a deeper turn may fit";
}

// The short cut may only be taken where the long way would arrive at the same turn.
TEST(Continues, chooses_what_place_chooses) {
  int taken = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    base::SeededRandom random(seed);
    Recorded recorded;
    std::vector<TurnPtr> turns;
    const auto word = [&] { return std::string(1, static_cast<char>('a' + random.below(2))); };
    for (int i = 0; i < 12; ++i) {
      const TurnPtr parent =
          turns.empty() || random.chance(200) ? nullptr : turns[random.below(turns.size())];
      Message answer = make(Role::kAssistant, word(), random.chance(500) ? word() : "");
      turns.push_back(recorded.add(parent, {make(Role::kUser, word())}, answer));
    }
    for (int i = 0; i < 30; ++i) {
      auto messages = messages_of(turns[random.below(turns.size())]);
      for (auto& message : messages) {
        if (random.chance(300)) message.reasoning.reset();
        if (random.chance(30)) message.text = word();
      }
      messages.push_back(kMore);
      const auto placed = recorded.place(messages);
      const auto& newest = turns.back();
      const auto twins = std::count_if(turns.begin(), turns.end(), [&](const auto& turn) {
        return turn->digest == newest->digest;
      });
      if (twins == 1 && continues(newest, messages)) {
        ++taken;
        EXPECT_EQ(placed.parent, newest) << "seed " << seed;
      }
    }
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace verbatim::trajectory
