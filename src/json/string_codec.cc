#include "json/string_codec.h"

#include <cstdint>

#include "base/utf8.h"

namespace verbatim::json {
namespace {

unsigned hex4(const char* digits) {
  unsigned value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = digits[i];
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return value;
}

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;  // " \ /
  }
}

}  // namespace

void append_unit_escape(std::string& out, unsigned unit) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
}

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\b':
      out += "\\b";
      break;
    case '\f':
      out += "\\f";
      break;
    default:
      append_unit_escape(out, c);
  }
}

void append_unescaped(std::string& out, std::string_view inside) {
  while (!inside.empty()) {
    const auto plain = inside.find('\\');
    out.append(inside.substr(0, plain));
    if (plain == std::string_view::npos) return;
    inside.remove_prefix(plain);
    if (inside[1] != 'u') {
      out += simple_escape(inside[1]);
      inside.remove_prefix(2);
      continue;
    }
    char32_t cp = hex4(inside.data() + 2);
    inside.remove_prefix(6);
    const bool high = cp >= 0xd800 && cp < 0xdc00;
    if (high && inside.size() >= 6 && inside[0] == '\\' && inside[1] == 'u') {
      const char32_t low = hex4(inside.data() + 2);
      if (low >= 0xdc00 && low < 0xe000) {
        cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
        inside.remove_prefix(6);
      }
    }
    const bool lone = cp >= 0xd800 && cp < 0xe000;
    base::append_utf8(out, lone ? char32_t{0xfffd} : cp);
  }
}

}  // namespace verbatim::json
