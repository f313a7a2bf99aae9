#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Text as Python's str methods see it, character by character (Python 3.11, Unicode 14).
namespace verbatim::chat::jinja {

struct CodePoint {
  char32_t value = 0;
  std::uint32_t size = 0;  // bytes; 0 at the end of the text
};

// The code point that starts at `at`. A byte that starts none counts as one character of its own,
// U+FFFD.
CodePoint decode(std::string_view text, std::size_t at);
// The code point that ends before `end`.
CodePoint decode_before(std::string_view text, std::size_t end);

std::size_t count_characters(std::string_view text);
// Byte offset of the n-th character, counted from `from`; text.size() when there are fewer.
std::size_t character_offset(std::string_view text, std::size_t n, std::size_t from = 0);
bool is_ascii(std::string_view text);

bool is_space(char32_t c);       // str.isspace(), what strip() and split() remove
bool is_line_break(char32_t c);  // where splitlines() cuts
bool is_printable(char32_t c);
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_title(char32_t c);  // title case, not upper case
inline bool is_alnum(char32_t c) {
  return is_alpha(c) || is_decimal(c) || is_digit(c) || is_numeric(c);
}

// Up to three code points that stand for one after a change of case.
struct Cased {
  char32_t to[3] = {0, 0, 0};
  unsigned count = 0;
};
Cased upper(char32_t c);
Cased lower(char32_t c);
Cased title(char32_t c);
// Lower case of a capital sigma at byte `at`: final form at the end of a word.
char32_t lower_sigma(std::string_view text, std::size_t at);

}  // namespace verbatim::chat::jinja
