#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace verbatim::tokenizer {

// What Hugging Face `tokenizers` 0.23.3 knows about a code point, as bits. Its parts know different
// versions of Unicode; scripts/unicode/generate_tables.py says how the tables were read off.
enum CharClass : std::uint8_t {
  kLetter = 1,      // \p{L} of its pre-tokenizers (Unicode 16)
  kNumber = 2,      // \p{N}
  kSpace = 4,       // \s
  kWord = 8,        // \w of its single_word test
  kUnsettled = 16,  // NFC may change it, or join it with what stands before it
};

namespace tables {
inline constexpr unsigned kBlockBits = 7;
extern const std::uint8_t kBlockOf[0x110000 >> kBlockBits];  // by the upper bits of a code point
extern const std::uint8_t kFlags[];                          // by block and lower bits
}  // namespace tables

// The bits of one code point; none for values that are no code point.
[[nodiscard]] inline std::uint8_t classes_of(char32_t code_point) {
  if (code_point >= 0x110000) return 0;
  const std::size_t block = tables::kBlockOf[code_point >> tables::kBlockBits];
  return tables::kFlags[block << tables::kBlockBits |
                        (code_point & ((1U << tables::kBlockBits) - 1))];
}

// Canonical data of that library's normaliser, without Hangul syllables (see nfc.cc).
[[nodiscard]] std::uint8_t combining_class(char32_t code_point);
// Full canonical decomposition; empty where a code point stands for itself.
[[nodiscard]] std::u32string_view decomposition_of(char32_t code_point);
[[nodiscard]] std::optional<char32_t> composition_of(char32_t first, char32_t second);

}  // namespace verbatim::tokenizer
