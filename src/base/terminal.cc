#include "base/terminal.h"

#include "base/utf8.h"

namespace verbatim::base {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

void append_hex(std::string& out, char kind, char32_t value, int digits) {
  out += '\\';
  out += kind;
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kDigits[(value >> shift) & 15];
}

// Marks, embeddings, overrides and isolates: what shows text in another order than it is written.
bool turns_direction(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

// Line and paragraph separator end a line on some terminals.
bool breaks_line(char32_t c) {
  return c == 0x2028 || c == 0x2029;
}

}  // namespace

std::string for_terminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = checked_decode_at(text, at);
    const char32_t c = next.code_point;
    if (next.size == 0) {
      append_hex(out, 'x', static_cast<unsigned char>(text[at]), 2);
    } else if (c == '\n' || c == '\t' || c == '\r') {
      out.append("\\").append(1, c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    } else if (c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0)) {
      append_hex(out, 'x', c, 2);
    } else if (turns_direction(c) || breaks_line(c)) {
      append_hex(out, 'u', c, 4);
    } else {
      out.append(text, at, next.size);
    }
    at += next.size == 0 ? 1 : next.size;
  }
  return out;
}

}  // namespace verbatim::base
