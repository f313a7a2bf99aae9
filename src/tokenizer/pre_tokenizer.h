#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/utf8.h"
#include "tokenizer/definition.h"
#include "tokenizer/unicode.h"

namespace verbatim::tokenizer {

// Pre-tokenizers cut text into words; no token spans two of them. Each known pattern is a regular
// expression that matches every text from end to end; here its alternatives are written out by
// hand. A new pattern is a row in pre_tokenizer.cc and a Rules constant below.

// The pattern with this regular expression, as it stands in tokenizer.json.
[[nodiscard]] std::optional<Pattern> pattern_named(std::string_view regex);

// In what the patterns of this kind differ. Common to all: contractions, then letters, numbers,
// other characters (each with something allowed before), then white space, whose last character is
// left to the next word.
struct Rules {
  bool fold_case;           // contractions in any case; by folding, U+017F is an s
  bool any_before_letters;  // any one character but \r and \n may precede letters, not just a space
  bool space_before_numbers;
  std::size_t max_numbers;    // in one word
  bool newlines_after_other;  // [\r\n]* behind other characters
  bool newlines;              // \s*[\r\n]+ is an alternative
};

inline constexpr std::size_t kUnlimited = ~std::size_t{0};
inline constexpr Rules kGpt2Rules{false, false, true, kUnlimited, false, false};
inline constexpr Rules kQwen2Rules{true, true, false, 1, true, true};
inline constexpr Rules kLlama3Rules{true, true, false, 3, true, true};

inline constexpr std::uint8_t kAnyClass = kLetter | kNumber | kSpace;

inline bool is_ascii_letter(char c) {
  return static_cast<std::uint8_t>((c | 0x20) - 'a') < 26;
}

// The first place from `i` on where no ASCII letter stands. Sixteen at a time where the processor
// can: a loop over single letters costs a wrong guess of its end per word.
inline std::size_t end_of_ascii_letters(std::string_view text, std::size_t i) {
#if defined(__SSE2__)
  for (; i + 16 <= text.size(); i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
    const __m128i from_a =
        _mm_sub_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
    const __m128i letters = _mm_cmpeq_epi8(_mm_min_epu8(from_a, _mm_set1_epi8(25)), from_a);
    const auto others = static_cast<unsigned>(_mm_movemask_epi8(letters)) ^ 0xFFFFU;
    if (others != 0) return i + static_cast<std::size_t>(std::countr_zero(others));
  }
#endif
  while (i < text.size() && is_ascii_letter(text[i])) ++i;
  return i;
}

// Finds the words of one text, one after another.
template <Rules rules>
class WordCutter {
 public:
  explicit WordCutter(std::string_view text) : text_(text) {}

  // The end of the word that begins at `begin` (< text.size()).
  [[nodiscard]] std::size_t next(std::size_t begin) const {
    // Nearly all words of most texts, without looking at anything twice.
    const std::size_t letter = begin + (text_[begin] == ' ' ? 1 : 0);
    if (letter < text_.size() && is_ascii_letter(text_[letter])) return end_of_letters(letter + 1);
    const Char first = at(begin);
    if (first.byte == '\'') {
      if (const std::size_t size = contraction(begin); size != 0) return begin + size;
    }
    const std::size_t second = begin + first.size;
    if ((first.classes & kLetter) != 0) return end_of_letters(second);
    if ((first.classes & kNumber) != 0) return end_of_numbers(second);
    if (first.byte == ' ' || (rules.any_before_letters && !is_newline(first.byte))) {
      if (second < text_.size()) {
        const Char after = at(second);
        if ((after.classes & kLetter) != 0) return end_of_letters(second + after.size);
        if (first.byte == ' ') {
          if (rules.space_before_numbers && (after.classes & kNumber) != 0)
            return end_of_numbers(second + after.size);
          if ((after.classes & kAnyClass) == 0) return end_of_other(second + after.size);
        }
      }
    }
    if ((first.classes & kSpace) == 0) return end_of_other(second);
    return end_of_space(begin, second);
  }

 private:
  struct Char {
    std::uint8_t byte;  // the first
    std::uint8_t classes;
    std::uint8_t size;
  };

  [[nodiscard]] Char at(std::size_t i) const {
    const auto byte = static_cast<std::uint8_t>(text_[i]);
    if (byte < 0x80) return {byte, kAsciiClasses[byte], 1};
    const base::Decoded next = base::decode_at(text_, i);
    return {byte, classes_of(next.code_point), static_cast<std::uint8_t>(next.size)};
  }

  static bool is_newline(std::uint8_t byte) { return byte == '\n' || byte == '\r'; }

  // Size of 's 't 're 've 'm 'll 'd at an apostrophe, or 0.
  [[nodiscard]] std::size_t contraction(std::size_t begin) const {
    const auto letter = [&](std::size_t i) -> char {
      if (begin + i >= text_.size()) return 0;
      const char c = text_[begin + i];
      return rules.fold_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    };
    switch (letter(1)) {
      case 's':
      case 't':
      case 'm':
      case 'd':
        return 2;
      case 'r':
      case 'v':
        return letter(2) == 'e' ? 3 : 0;
      case 'l':
        return letter(2) == 'l' ? 3 : 0;
      case '\xC5':
        return rules.fold_case && letter(2) == '\xBF' ? 3 : 0;  // U+017F
      default:
        return 0;
    }
  }

  [[nodiscard]] std::size_t end_of_letters(std::size_t i) const {
    while (i < text_.size()) {
      if (static_cast<std::uint8_t>(text_[i]) < 0x80) {
        const std::size_t end = end_of_ascii_letters(text_, i);
        if (end == i) return i;
        i = end;
        continue;
      }
      const base::Decoded next = base::decode_at(text_, i);
      if ((classes_of(next.code_point) & kLetter) == 0) return i;
      i += next.size;
    }
    return i;
  }

  // One number stands before `i`.
  [[nodiscard]] std::size_t end_of_numbers(std::size_t i) const {
    for (std::size_t count = 1; count < rules.max_numbers && i < text_.size(); ++count) {
      const Char c = at(i);
      if ((c.classes & kNumber) == 0) return i;
      i += c.size;
    }
    return i;
  }

  [[nodiscard]] std::size_t end_of_other(std::size_t i) const {
    while (i < text_.size()) {
      const Char c = at(i);
      if ((c.classes & kAnyClass) != 0) break;
      i += c.size;
    }
    while (rules.newlines_after_other && i < text_.size() &&
           is_newline(static_cast<std::uint8_t>(text_[i])))
      ++i;
    return i;
  }

  // White space begins at `begin`, its second character is at `i`.
  [[nodiscard]] std::size_t end_of_space(std::size_t begin, std::size_t i) const {
    std::size_t last = begin;  // the last character of the run
    std::size_t after_newline = is_newline(static_cast<std::uint8_t>(text_[begin])) ? i : 0;
    while (i < text_.size()) {
      const Char c = at(i);
      if ((c.classes & kSpace) == 0) break;
      last = i;
      i += c.size;
      if (is_newline(c.byte)) after_newline = i;
    }
    if (rules.newlines && after_newline != 0) return after_newline;
    if (i == text_.size() || last == begin) return i;
    return last;
  }

  static constexpr std::array<std::uint8_t, 128> kAsciiClasses = [] {
    std::array<std::uint8_t, 128> classes{};
    for (unsigned c = 'a'; c <= 'z'; ++c) classes[c] = classes[c - 'a' + 'A'] = kLetter;
    for (unsigned c = '0'; c <= '9'; ++c) classes[c] = kNumber;
    for (unsigned c = '\t'; c <= '\r'; ++c) classes[c] = kSpace;
    classes[' '] = kSpace;
    return classes;
  }();

  std::string_view text_;
};

// Calls `word(begin, end)` for each word of the text, in order.
template <class Word>
void cut_words(Pattern pattern, std::string_view text, Word word) {
  const auto run = [&](const auto& cutter) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = cutter.next(begin);
      word(begin, end);
      begin = end;
    }
  };
  switch (pattern) {
    case Pattern::kGpt2:
      return run(WordCutter<kGpt2Rules>(text));
    case Pattern::kQwen2:
      return run(WordCutter<kQwen2Rules>(text));
    case Pattern::kLlama3:
      return run(WordCutter<kLlama3Rules>(text));
  }
}

}  // namespace verbatim::tokenizer
