#include "trajectory/letters.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"

namespace verbatim::trajectory {
namespace {

using base::SeededRandom;
using message::Message;
using message::Role;

// Few different values, so that messages are often equal, and texts that could be mistaken for the
// text and name, or the call, beside them.
std::string word(SeededRandom& random) {
  static const std::vector<std::string> kWords{"",
                                               "a",
                                               "b",
                                               "ab",
                                               std::string(1, '\0'),
                                               std::string(20, '\0'),
                                               "a longer text, of many words"};
  return kWords[random.below(kWords.size())];
}

Message any_message(SeededRandom& random) {
  Message message;
  message.role = std::vector{Role::kUser, Role::kAssistant, Role::kTool}[random.below(3)];
  message.text = word(random);
  if (random.chance(300)) message.reasoning = word(random);
  if (random.chance(200)) message.name = word(random);
  if (random.chance(200)) message.unknown = {{std::string(message::kParts), word(random)}};
  for (auto calls = random.below(3); calls > 0; --calls)
    message.tool_calls.push_back({word(random), word(random), word(random)});
  return message;
}

void change(SeededRandom& random, Message& message) {
  const Message other = any_message(random);
  switch (random.below(8)) {
    case 0:
      message.role = other.role;
      break;
    case 1:
      message.text = other.text;
      break;
    case 2:
      message.reasoning = other.reasoning;
      break;
    case 3:
      message.name = other.name;
      break;
    case 4:
      message.tool_calls = other.tool_calls;
      break;
    case 5:
      message.tool_call_id = other.text;
      break;
    case 6:
      message.unknown = other.unknown;
      break;
    default:
      std::swap(message.text, message.name);
      break;
  }
}

// Field by field, as letters.h says it.
bool same_letters(const Message& stored, const Message& sent) {
  const auto call = [](const message::ToolCall& a, const message::ToolCall& b) {
    return a.name == b.name && a.arguments == b.arguments;
  };
  const bool reasoning =
      sent.reasoning.value_or("").empty() || stored.reasoning.value_or("") == sent.reasoning;
  return stored.role == sent.role && stored.text == sent.text && stored.name == sent.name &&
         reasoning && message::parts_of(stored) == message::parts_of(sent) &&
         std::equal(stored.tool_calls.begin(), stored.tool_calls.end(), sent.tool_calls.begin(),
                    sent.tool_calls.end(), call);
}

std::string letters_of(const std::vector<Message>& messages) {
  std::string letters;
  for (const auto& message : messages) append_letters(letters, message);
  return letters;
}

TEST(Letters, tell_messages_apart_as_their_fields_do) {
  int equal = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SeededRandom random(seed);
    std::vector<Message> stored(1 + random.below(4));
    for (auto& message : stored) message = any_message(random);
    auto sent = stored;
    for (auto changes = random.below(3); changes > 0; --changes)
      change(random, sent[random.below(sent.size())]);
    sent.resize(sent.size() + random.below(2));
    const bool same = std::equal(stored.begin(), stored.end(), sent.begin(),
                                 sent.begin() + static_cast<long>(stored.size()), same_letters);
    equal += same ? 1 : 0;
    EXPECT_EQ(repeated(letters_of(stored), sent), same ? stored.size() : 0) << "seed " << seed;
  }
  EXPECT_GT(equal, 500);
  EXPECT_LT(equal, 2500);
}

TEST(Letters, are_not_repeated_by_fewer_messages) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SeededRandom random(seed);
    std::vector<Message> stored(2 + random.below(4));
    for (auto& message : stored) message = any_message(random);
    const std::span<const Message> all(stored);
    for (std::size_t count = 0; count < stored.size(); ++count)
      EXPECT_EQ(repeated(letters_of(stored), all.first(count)), 0U) << "seed " << seed;
  }
}

}  // namespace
}  // namespace verbatim::trajectory
