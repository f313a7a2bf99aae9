#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Everything that knows how UTF-8 is put together (RFC 3629; Unicode 16, 3.9).
namespace verbatim::base {

// Appends `code_point` (below 0x110000) as UTF-8. A surrogate is written as if it were a character:
// where text must be valid, the caller has replaced it before.
inline void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&out](char32_t bits) { out.push_back(static_cast<char>(bits)); };
  const auto put_low = [&](char32_t bits) { put(0x80 | (bits & 0x3F)); };
  if (code_point < 0x80) return put(code_point);
  if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    return put_low(code_point);
  }
  if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
  } else {
    put(0xF0 | code_point >> 18);
    put_low(code_point >> 12);
  }
  put_low(code_point >> 6);
  put_low(code_point);
}

// A code point and the number of bytes it takes.
struct Decoded {
  char32_t code_point = 0;
  unsigned size = 1;
};

// The code point that begins at `at`, in valid UTF-8. Bytes that break this rule are a bug of the
// caller, so nothing is promised about the value; the size is never larger than what is left.
inline Decoded decode_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
  const std::size_t left = text.size() - at;
  const std::uint8_t lead = byte(0);
  if (lead < 0x80 || left < 2) return {lead, 1};
  if (lead < 0xE0) return {static_cast<char32_t>((lead & 0x1F) << 6 | (byte(1) & 0x3F)), 2};
  if (left < 3) return {lead, 1};
  if (lead < 0xF0) {
    return {static_cast<char32_t>((lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F)),
            3};
  }
  if (left < 4) return {lead, 1};
  return {static_cast<char32_t>((lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 |
                                (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F)),
          4};
}

// The same in any bytes: size 0 where no character begins.
[[nodiscard]] Decoded checked_decode_at(std::string_view text, std::size_t at);

// Where the code point that ends before `end` begins (end > 0).
inline std::size_t previous_begin(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && end - at < 4 && (static_cast<std::uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

// True where all of `text` is UTF-8 (no surrogates, no overlong forms).
[[nodiscard]] bool valid_utf8(std::string_view text);

// Appends `bytes` as characters. Each maximal part of a character that can't be completed becomes
// one U+FFFD (Unicode 16, 3.9 "substitution of maximal subparts"; the same as Rust's
// from_utf8_lossy and Python's errors="replace"). Returns how many bytes at the end begin a
// character that further bytes may complete; these are not appended.
std::size_t append_lossy(std::string_view bytes, std::string& out);

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace verbatim::base
