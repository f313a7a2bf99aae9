#include "base/terminal.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/utf8.h"

namespace verbatim::base {
namespace {

TEST(Terminal, text_stays_as_it_is) {
  const std::string text = "vLLM 0.32.0: \"größe\" 模型 \\n 🙂 [{}]~";
  EXPECT_EQ(for_terminal(text), text);
}

TEST(Terminal, what_a_terminal_would_obey_is_shown) {
  EXPECT_EQ(for_terminal("a\x1b[31mred\x1b[0m"), "a\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(for_terminal("one\ntwo\r\tthree"), "one\\ntwo\\r\\tthree");
  EXPECT_EQ(for_terminal(std::string_view("\0\x07\x7f", 3)), "\\x00\\x07\\x7f");
  EXPECT_EQ(for_terminal("\xc2\x9b"
                         "31m"),
            "\\x9b31m")
      << "C1 begins a sequence too";
  EXPECT_EQ(for_terminal("\xe2\x80\xae"
                         "txt\xe2\x81\xa6"),
            "\\u202etxt\\u2066");
  EXPECT_EQ(for_terminal("a\xe2\x80\xa8"
                         "b"),
            "a\\u2028b");
  EXPECT_EQ(for_terminal("\x9b\xff\xe2\x80"), "\\x9b\\xff\\xe2\\x80") << "no UTF-8";
}

TEST(Terminal, nothing_that_comes_out_is_obeyed) {
  constexpr std::uint64_t kSeed = 7;
  SeededRandom random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    for (std::uint64_t n = random.below(40); n > 0; --n)
      bytes += static_cast<char>(random.below(random.chance(500) ? 256 : 48));
    const std::string shown = for_terminal(bytes);
    EXPECT_TRUE(valid_utf8(shown)) << "seed " << kSeed << ", round " << i;
    for (const char c : shown) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    EXPECT_EQ(for_terminal(shown), shown);
  }
}

}  // namespace
}  // namespace verbatim::base
