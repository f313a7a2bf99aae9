#include "chat/jinja/string_literal.h"

#include <cstdio>
#include <optional>

#include "base/utf8.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

std::optional<char32_t> hex_number(std::string_view digits, std::size_t count) {
  if (digits.size() < count) return std::nullopt;
  char32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const char c = digits[i];
    const char lower = static_cast<char>(c | 0x20);
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<char32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<char32_t>(lower - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

std::optional<char> simple_escape(char c) {
  constexpr std::string_view kFrom = "\\'\"abfnrtv";
  constexpr std::string_view kTo = "\\'\"\a\b\f\n\r\t\v";
  const std::size_t at = kFrom.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return kTo[at];
}

// Jinja2 encodes other characters as escapes first, so that a backslash before one escapes that
// escape.
void append_escaped_backslash(std::string& out, char32_t c) {
  char text[16];
  const char* format = c < 0x100 ? "\\x%02x" : (c < 0x10000 ? "\\u%04x" : "\\U%08x");
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(c));
  out += text;
}

// Resolves the escape whose backslash is at `at`; moves behind it.
base::Status resolve(std::string_view literal, std::size_t& at, std::string& out) {
  const char c = literal[at + 1];
  const std::string_view rest = literal.substr(at + 2);
  if (const auto simple = simple_escape(c)) {
    out += *simple;
    at += 2;
    return {};
  }
  if (c == '\n') {
    at += 2;
    return {};
  }
  if (c >= '0' && c <= '7') {
    char32_t value = 0;
    std::size_t digits = 0;
    while (digits < 3 && at + 1 + digits < literal.size() && literal[at + 1 + digits] >= '0' &&
           literal[at + 1 + digits] <= '7') {
      value = value * 8 + static_cast<char32_t>(literal[at + 1 + digits++] - '0');
    }
    base::append_utf8(out, value);
    at += 1 + digits;
    return {};
  }
  if (c == 'x' || c == 'u' || c == 'U') {
    const std::size_t count = c == 'x' ? 2 : (c == 'u' ? 4 : 8);
    const auto value = hex_number(rest, count);
    if (!value) return base::invalid("", std::string("truncated \\") + c + " escape in a string");
    if (*value > 0x10ffff) return base::invalid("", "illegal Unicode character in a string");
    if (*value >= 0xd800 && *value < 0xe000) {
      return base::invalid("", "surrogate escape in a string: not a character of its own");
    }
    base::append_utf8(out, *value);
    at += 2 + count;
    return {};
  }
  if (c == 'N') return base::invalid("", "\\N{...} escapes are not supported");
  if (static_cast<unsigned char>(c) >= 0x80) {
    const CodePoint code = decode(literal, at + 1);
    append_escaped_backslash(out, code.value);
    at += 1 + code.size;
    return {};
  }
  out += '\\';
  out += c;
  at += 2;
  return {};
}

}  // namespace

base::Result<std::string> unescape_literal(std::string_view literal) {
  std::string out;
  out.reserve(literal.size());
  for (std::size_t at = 0; at < literal.size();) {
    if (literal[at] != '\\' || at + 1 >= literal.size()) {
      out += literal[at++];
      continue;
    }
    if (base::Status status = resolve(literal, at, out); !status) return std::move(status).error();
  }
  return out;
}

}  // namespace verbatim::chat::jinja
