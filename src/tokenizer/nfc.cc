#include "tokenizer/nfc.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/utf8.h"
#include "tokenizer/unicode.h"

namespace verbatim::tokenizer {
namespace {

// Hangul syllables are composed by arithmetic (Unicode 16, 3.12).
constexpr char32_t kSyllables = 0xAC00;
constexpr char32_t kLeads = 0x1100;
constexpr char32_t kVowels = 0x1161;
constexpr char32_t kTails = 0x11A7;  // one before the first
constexpr char32_t kLeadCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTailCount = 28;
constexpr char32_t kSyllableCount = kLeadCount * kVowelCount * kTailCount;

struct Char {
  char32_t code_point = 0;
  std::uint32_t origin = 0;
  std::uint8_t combining = 0;
};

std::optional<char32_t> compose(char32_t first, char32_t second) {
  if (first - kLeads < kLeadCount && second - kVowels < kVowelCount) {
    return kSyllables + ((first - kLeads) * kVowelCount + (second - kVowels)) * kTailCount;
  }
  const char32_t syllable = first - kSyllables;
  if (syllable < kSyllableCount && syllable % kTailCount == 0 && second > kTails &&
      second - kTails < kTailCount) {
    return first + (second - kTails);
  }
  return composition_of(first, second);
}

// One stretch of text in which characters may change: decompose, order marks, compose. Hangul
// syllables stay whole: what they decompose to would compose to the same again, and a tail behind a
// syllable without one joins it directly.
class Stretch {
 public:
  void append(std::string_view text, std::uint32_t offset);
  void compose_into(Normalized& out);

 private:
  void push(char32_t code_point, std::uint32_t origin) {
    chars_.push_back({code_point, origin, combining_class(code_point)});
  }
  void order_marks();
  std::vector<Char> chars_;
};

void Stretch::append(std::string_view text, std::uint32_t offset) {
  for (std::size_t at = 0; at < text.size();) {
    const base::Decoded next = base::decode_at(text, at);
    const auto origin = offset + static_cast<std::uint32_t>(at);
    const auto parts = decomposition_of(next.code_point);
    if (parts.empty()) push(next.code_point, origin);
    for (const char32_t part : parts) push(part, origin);
    at += next.size;
  }
}

void Stretch::order_marks() {
  for (auto at = chars_.begin(); at != chars_.end();) {
    if (at->combining == 0) {
      ++at;
      continue;
    }
    const auto end = std::find_if(at, chars_.end(), [](const Char& c) { return c.combining == 0; });
    std::stable_sort(at, end,
                     [](const Char& a, const Char& b) { return a.combining < b.combining; });
    at = end;
  }
}

void Stretch::compose_into(Normalized& out) {
  order_marks();
  std::size_t kept = 0;
  std::optional<std::size_t> starter;
  for (std::size_t i = 0; i < chars_.size(); ++i) {
    const Char c = chars_[i];
    // A mark is blocked by one of its own class, or a starter by anything, between it and the
    // starter.
    const bool adjacent = starter && kept == *starter + 1;
    if (starter && (adjacent || chars_[kept - 1].combining < c.combining)) {
      if (const auto composed = compose(chars_[*starter].code_point, c.code_point)) {
        chars_[*starter].code_point = *composed;
        continue;
      }
    }
    if (c.combining == 0) starter = kept;
    chars_[kept++] = c;
  }
  chars_.resize(kept);
  for (const Char& c : chars_) {
    base::append_utf8(out.text, c.code_point);
    const std::uint32_t before = out.origin.empty() ? 0 : out.origin.back();
    out.origin.resize(out.text.size(), std::max(before, c.origin));
  }
  chars_.clear();
}

bool unsettled(char32_t code_point) {
  return (classes_of(code_point) & kUnsettled) != 0;
}

void copy(std::string_view text, std::size_t begin, std::size_t end, Normalized& out) {
  out.text.append(text.substr(begin, end - begin));
  for (std::size_t i = begin; i < end; ++i) out.origin.push_back(static_cast<std::uint32_t>(i));
}

std::size_t find_unsettled(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (static_cast<std::uint8_t>(text[at]) < 0x80) {
      std::uint64_t word = 0;
      while (at + 8 <= text.size()) {
        std::memcpy(&word, text.data() + at, 8);
        if ((word & 0x8080808080808080ULL) != 0) break;
        at += 8;
      }
      while (at < text.size() && static_cast<std::uint8_t>(text[at]) < 0x80) ++at;
      continue;
    }
    const base::Decoded next = base::decode_at(text, at);
    if (unsettled(next.code_point)) return at;
    at += next.size;
  }
  return text.size();
}

// The first character after `at` that nothing before it can change.
std::size_t find_settled(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const base::Decoded next = base::decode_at(text, at);
    if (!unsettled(next.code_point)) return at;
    at += next.size;
  }
  return text.size();
}

}  // namespace

std::size_t first_unsettled(std::string_view text) {
  return find_unsettled(text, 0);
}

void normalize_nfc(std::string_view text, Normalized& out) {
  out.text.clear();
  out.origin.clear();
  Stretch stretch;
  std::size_t done = 0;
  while (done < text.size()) {
    const std::size_t found = find_unsettled(text, done);
    if (found == text.size()) {
      copy(text, done, text.size(), out);
      return;
    }
    // The character before may take it in.
    const std::size_t begin =
        found > done ? std::max(done, base::previous_begin(text, found)) : found;
    const std::size_t end = find_settled(text, found);
    copy(text, done, begin, out);
    stretch.append(text.substr(begin, end - begin), static_cast<std::uint32_t>(begin));
    stretch.compose_into(out);
    done = end;
  }
}

}  // namespace verbatim::tokenizer
