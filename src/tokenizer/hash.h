#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace verbatim::tokenizer {

// Hashing of words for the vocabulary's table and the word cache. The values stand in cache files:
// a change of this file is a new version of their format.

// A word of at most 16 bytes, packed so that equal keys are equal words.
struct ShortKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t size = 0;

  bool operator==(const ShortKey&) const = default;
};

inline constexpr std::size_t kShortWord = 16;

template <class T>
T load_as(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// For words of 1 to kShortWord bytes.
inline ShortKey short_key(std::string_view word) {
  const char* data = word.data();
  const std::size_t size = word.size();
  if (size >= 8)
    return {load_as<std::uint64_t>(data), load_as<std::uint64_t>(data + size - 8), size};
  if (size >= 4) {
    const std::uint64_t low = load_as<std::uint32_t>(data);
    return {low | std::uint64_t{load_as<std::uint32_t>(data + size - 4)} << 32, 0, size};
  }
  const auto byte = [&](std::size_t i) {
    return std::uint64_t{static_cast<std::uint8_t>(data[i])};
  };
  return {byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16, 0, size};
}

// Upper and lower half of a 128-bit product, folded.
inline std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline constexpr std::uint64_t kSeedA =
    0x9E3779B97F4A7C15ULL;  // odd constants without pattern: golden ratio, square root of 2 ...
inline constexpr std::uint64_t kSeedB = 0x6A09E667F3BCC909ULL;
inline constexpr std::uint64_t kSeedC = 0xBB67AE8584CAA73BULL;

inline std::uint64_t hash_of(const ShortKey& key) {
  return fold_product(key.low ^ kSeedA, key.high ^ kSeedB ^ key.size * kSeedC);
}

// For words of any size but 0; equal to hash_of(short_key(word)) for short ones.
inline std::uint64_t hash_of(std::string_view word) {
  if (word.size() <= kShortWord) return hash_of(short_key(word));
  std::uint64_t hash = word.size() * kSeedC;
  const char* data = word.data();
  const char* last = data + word.size() - 16;
  for (; data < last; data += 16) {
    hash = fold_product(load_as<std::uint64_t>(data) ^ kSeedA ^ hash,
                        load_as<std::uint64_t>(data + 8) ^ kSeedB);
  }
  return fold_product(load_as<std::uint64_t>(last) ^ kSeedB ^ hash,
                      load_as<std::uint64_t>(last + 8) ^ kSeedA);
}

}  // namespace verbatim::tokenizer
