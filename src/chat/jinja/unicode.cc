#include "chat/jinja/unicode.h"

#include <algorithm>
#include <iterator>

#include "base/utf8.h"
#include "chat/jinja/unicode_tables.h"

namespace verbatim::chat::jinja {
namespace {

constexpr CodePoint kInvalid{0xfffd, 1};

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

template <std::size_t N>
bool in_ranges(const tables::Range (&ranges)[N], char32_t c) {
  const auto* it = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                    [](char32_t v, const tables::Range& r) { return v < r.first; });
  return it != std::begin(ranges) && c <= std::prev(it)->last;
}

template <std::size_t N, std::size_t M>
Cased convert(const tables::CaseRun (&runs)[N], const tables::CaseSpecial (&special)[M],
              char32_t c) {
  const auto* s =
      std::lower_bound(std::begin(special), std::end(special), c,
                       [](const tables::CaseSpecial& entry, char32_t v) { return entry.from < v; });
  if (s != std::end(special) && s->from == c) {
    Cased out{{s->to[0], s->to[1], s->to[2]}, 2};
    if (s->to[2] != 0) out.count = 3;
    return out;
  }
  // Runs are in order of their first code point; with a step of 2 two of them may interleave.
  const auto* it =
      std::upper_bound(std::begin(runs), std::end(runs), c,
                       [](char32_t v, const tables::CaseRun& r) { return v < r.first; });
  for (int back = 0; back < 3 && it != std::begin(runs); ++back) {
    --it;
    if (c <= it->last && (c - it->first) % static_cast<char32_t>(it->step) == 0) {
      return {{static_cast<char32_t>(static_cast<std::int64_t>(c) + it->delta), 0, 0}, 1};
    }
  }
  return {{c, 0, 0}, 1};
}

}  // namespace

CodePoint decode(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {};
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1};
  const auto next = base::checked_decode_at(text, at);
  return next.size != 0 ? CodePoint{next.code_point, next.size} : kInvalid;
}

CodePoint decode_before(std::string_view text, std::size_t end) {
  if (end == 0) return {};
  for (unsigned size = 1; size <= 4 && size <= end; ++size) {
    if (is_continuation(text[end - size])) continue;
    const CodePoint c = decode(text.substr(0, end), end - size);
    if (c.size == size) return c;
    break;
  }
  return kInvalid;
}

bool is_ascii(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

std::size_t count_characters(std::string_view text) {
  if (is_ascii(text)) return text.size();
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode(text, at).size) ++count;
  return count;
}

std::size_t character_offset(std::string_view text, std::size_t n, std::size_t from) {
  std::size_t at = from;
  for (; n > 0 && at < text.size(); --n) at += decode(text, at).size;
  return at;
}

bool is_space(char32_t c) {
  if (c < 0x80) return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_line_break(char32_t c) {
  return (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

bool is_printable(char32_t c) {
  if (c < 0x7f) return c >= 0x20;
  return !in_ranges(tables::kUnprintable, c);
}
bool is_alpha(char32_t c) {
  return in_ranges(tables::kAlpha, c);
}
bool is_decimal(char32_t c) {
  return in_ranges(tables::kDecimal, c);
}
bool is_digit(char32_t c) {
  return in_ranges(tables::kDigit, c);
}
bool is_numeric(char32_t c) {
  return in_ranges(tables::kNumeric, c);
}
bool is_lower(char32_t c) {
  return in_ranges(tables::kLower, c);
}
bool is_upper(char32_t c) {
  return in_ranges(tables::kUpper, c);
}
bool is_title(char32_t c) {
  return in_ranges(tables::kTitle, c);
}

Cased upper(char32_t c) {
  if (c < 0x80) return {{c >= 'a' && c <= 'z' ? c - 32 : c, 0, 0}, 1};
  return convert(tables::kToUpper, tables::kToUpperSpecial, c);
}

Cased lower(char32_t c) {
  if (c < 0x80) return {{c >= 'A' && c <= 'Z' ? c + 32 : c, 0, 0}, 1};
  return convert(tables::kToLower, tables::kToLowerSpecial, c);
}

Cased title(char32_t c) {
  if (c < 0x80) return upper(c);
  return convert(tables::kToTitle, tables::kToTitleSpecial, c);
}

char32_t lower_sigma(std::string_view text, std::size_t at) {
  constexpr char32_t kSigma = 0x3c3;
  constexpr char32_t kFinalSigma = 0x3c2;
  const auto cased_at = [](const CodePoint& c) {
    return c.size != 0 && in_ranges(tables::kCased, c.value);
  };
  std::size_t end = at;
  CodePoint before = decode_before(text, end);
  while (before.size != 0 && in_ranges(tables::kCaseIgnorable, before.value)) {
    end -= before.size;
    before = decode_before(text, end);
  }
  if (!cased_at(before)) return kSigma;
  std::size_t next = at + decode(text, at).size;
  CodePoint after = decode(text, next);
  while (after.size != 0 && in_ranges(tables::kCaseIgnorable, after.value)) {
    next += after.size;
    after = decode(text, next);
  }
  return cased_at(after) ? kSigma : kFinalSigma;
}

}  // namespace verbatim::chat::jinja
