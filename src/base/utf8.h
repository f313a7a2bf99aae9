#pragma once

#include <string>

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

}  // namespace verbatim::base
