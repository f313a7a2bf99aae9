#include "tokenizer/unicode.h"

#include <algorithm>
#include <iterator>

namespace verbatim::tokenizer {
namespace tables {
namespace {

struct Decomposition {
  char32_t from;
  std::uint16_t begin;
  std::uint16_t size;
};
struct CombiningClass {
  char32_t code_point;
  std::uint8_t value;
};
struct Composition {
  char32_t first;
  char32_t second;
  char32_t composed;
};

}  // namespace

#include "tokenizer/unicode_tables.inc"

}  // namespace tables

using namespace tables;  // NOLINT(google-build-using-namespace): ours, and only here

std::uint8_t combining_class(char32_t c) {
  const auto* found = std::lower_bound(
      std::begin(kCombiningClasses), std::end(kCombiningClasses), c,
      [](const CombiningClass& entry, char32_t key) { return entry.code_point < key; });
  return found != std::end(kCombiningClasses) && found->code_point == c ? found->value
                                                                        : std::uint8_t{0};
}

std::u32string_view decomposition_of(char32_t c) {
  const auto* found =
      std::lower_bound(std::begin(kDecompositions), std::end(kDecompositions), c,
                       [](const Decomposition& entry, char32_t key) { return entry.from < key; });
  if (found == std::end(kDecompositions) || found->from != c) return {};
  return {kDecomposed + found->begin, found->size};
}

std::optional<char32_t> composition_of(char32_t first, char32_t second) {
  const auto key = std::pair(first, second);
  const auto* found = std::lower_bound(std::begin(kCompositions), std::end(kCompositions), key,
                                       [](const Composition& entry, const auto& k) {
                                         return std::pair(entry.first, entry.second) < k;
                                       });
  if (found == std::end(kCompositions) || found->first != first || found->second != second)
    return std::nullopt;
  return found->composed;
}

}  // namespace verbatim::tokenizer
