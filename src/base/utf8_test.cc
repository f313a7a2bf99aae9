#include "base/utf8.h"

#include <gtest/gtest.h>

namespace verbatim::base {
namespace {

std::string lossy(std::string_view bytes) {
  std::string out;
  if (append_lossy(bytes, out) != 0) out += kReplacement;
  return out;
}

TEST(Utf8, every_code_point_is_written_and_read_back) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_utf8(text, c);
    const Decoded back = decode_at(text, 0);
    ASSERT_EQ(back.code_point, c);
    ASSERT_EQ(back.size, text.size());
    ASSERT_TRUE(valid_utf8(text));
    ASSERT_EQ(previous_begin("a" + text, 1 + text.size()), 1U);
  }
}

TEST(Utf8, each_maximal_broken_part_becomes_one_replacement) {
  const std::string r(kReplacement);
  EXPECT_EQ(lossy("a\x80z"), "a" + r + "z");
  EXPECT_EQ(lossy("\xE4\xB8z"), r + "z");
  EXPECT_EQ(lossy("\xE4\xB8"), r);
  EXPECT_EQ(lossy("\xF0\x9F\x98\xF0\x9F\x98\x80"), r + "\xF0\x9F\x98\x80");
  EXPECT_EQ(lossy("\xC0\xAF"), r + r) << "overlong";
  EXPECT_EQ(lossy("\xED\xA0\x80"), r + r + r) << "surrogate";
  EXPECT_EQ(lossy("\xF4\x90\x80\x80"), r + r + r + r) << "beyond Unicode";
  EXPECT_EQ(lossy("\xFF\xFE"), r + r);
}

TEST(Utf8, an_unfinished_character_is_reported_and_not_written) {
  std::string out;
  EXPECT_EQ(append_lossy("ab\xF0\x9F", out), 2U);
  EXPECT_EQ(out, "ab");
}

TEST(Utf8, broken_text_is_not_valid) {
  for (const std::string_view text : {"\x80", "a\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xE4\xB8z"})
    EXPECT_FALSE(valid_utf8(text));
}

TEST(Utf8, characters_are_found_in_any_bytes) {
  // Every first byte, and every byte behind it, followed by what would complete a character.
  for (unsigned bytes = 0; bytes < 0x10000; ++bytes) {
    std::string text{static_cast<char>(bytes >> 8), static_cast<char>(bytes & 0xFF)};
    for (int more = 0; more < 3; ++more, text += '\x80') {
      const Decoded found = checked_decode_at(text, 0);
      const bool begins = found.size != 0;
      for (std::size_t size = 1; size <= text.size(); ++size)
        ASSERT_FALSE(!begins && valid_utf8(std::string_view(text).substr(0, size)));
      if (!begins) continue;
      std::string written;
      append_utf8(written, found.code_point);
      ASSERT_EQ(written, text.substr(0, found.size));
      ASSERT_TRUE(valid_utf8(written));
    }
  }
}

TEST(Utf8, broken_text_is_decoded_without_reading_past_its_end) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    EXPECT_EQ(decode_at(text, 0).size, 1U);
  }
}

}  // namespace
}  // namespace verbatim::base
