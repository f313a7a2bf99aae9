#include "gateway/handles.h"

#include <set>

#include <gtest/gtest.h>

#include "base/random.h"

namespace verbatim::gateway {
namespace {

constexpr std::string_view kScope = "session:s1";

TEST(Handles, read_back_what_they_were_made_of_whatever_the_prefix) {
  Handles handles("key");
  base::SeededRandom random(1);
  std::set<std::string> seen;
  for (int i = 0; i < 2000; ++i) {
    const Handle handle{i == 0   ? 0
                        : i == 1 ? UINT64_MAX
                                 : random.next(),
                        static_cast<std::uint8_t>(random.below(256))};
    const std::string text = handles.make("call_", kScope, handle);
    EXPECT_EQ(text.size(), 29U);
    EXPECT_EQ(handles.read(text, kScope), handle);
    EXPECT_EQ(handles.read("toolu_" + text.substr(5), kScope), handle);
    EXPECT_EQ(handles.read(text.substr(5), kScope), handle);
    EXPECT_EQ(Handles("key").read(text, kScope), handle) << "another executor";
    seen.insert(text);
  }
  EXPECT_EQ(seen.size(), 2000U);
}

TEST(Handles, are_none_in_another_scope_or_under_another_key) {
  Handles handles("key");
  const std::string text = handles.make("call_", kScope, {7, 1});
  EXPECT_FALSE(handles.read(text, "session:s2"));
  EXPECT_FALSE(handles.read(text, "chat:"));
  EXPECT_FALSE(Handles("other").read(text, kScope));
}

TEST(Handles, a_changed_letter_makes_it_none) {
  Handles handles("key");
  const std::string text = handles.make("call_", kScope, {77, 3});
  for (std::size_t i = 5; i < text.size(); ++i) {
    for (const char letter : {'0', 'A', 'a', 'z', '-', '\xff'}) {
      std::string other = text;
      other[i] = letter;
      EXPECT_EQ(handles.read(other, kScope).has_value(), other == text) << other;
    }
  }
}

TEST(Handles, any_text_is_read_and_none_is_guessed) {
  Handles handles("key");
  base::SeededRandom random(2);
  for (const std::string& text :
       {std::string(), std::string("call_1"), std::string(23, 'a'), std::string(24, 'z'),
        std::string(40, 'z'), std::string(41, '0'), std::string(24, '\0'), std::string(5000, 'x')})
    EXPECT_FALSE(handles.read(text, kScope)) << text.size();
  // A million guesses: beside a real one, equal number and another MAC; and at random.
  const std::string real = handles.make("", kScope, {5, 0});
  unsigned hits = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::size_t kept = i % 2 == 0 ? 12 : 0;
    const std::string guess = real.substr(0, kept) + base::new_base62_id(random, 24 - kept);
    if (guess != real && handles.read(guess, kScope)) ++hits;
  }
  EXPECT_EQ(hits, 0U);
}

}  // namespace
}  // namespace verbatim::gateway
