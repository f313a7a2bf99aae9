#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tokenizer/hash.h"
#include "tokenizer/image.h"

namespace verbatim::tokenizer::layout {

// Raise it with every change of the layout, of hash.h, of the slot functions in tables.h and of how
// a token's bytes are derived.
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::array<char, 8> kMagic = {'V', 'B', 'T', 'O', 'K', 'I', 'M', 'G'};
inline constexpr std::size_t kAlignment = 64;

enum Section : std::size_t {
  kTokenEnds,
  kTokenFlags,
  kTokenBytes,
  kWords,
  kMerges,
  kPairFilter,
  kMerged,
  kBytePairs,
  kByteIds,
  kAdded,
  kSections,
};

using Checksum = std::array<std::uint64_t, 4>;

struct Range {
  std::uint64_t offset = 0;  // from the start of the image
  std::uint64_t size = 0;    // in bytes
};

enum Flag : std::uint32_t { kNfc = 1 };

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t pattern = 0;
  std::uint32_t flags = 0;
  std::uint32_t vocab_size = 0;
  std::uint64_t total = 0;  // bytes, header included
  Fingerprint source{};
  Checksum checksum{};  // checksum_of()
  std::array<Range, kSections> sections{};
  std::array<std::uint64_t, 4> reserved{};
};
static_assert(sizeof(Header) % kAlignment == 0);

// Over all bytes of an image but the field itself. `rest` follows the header; its size is a
// multiple of 64. Not cryptographic: it finds damage. Bytes that somebody made up pass it, and meet
// the checks of Image::open. (SHA-256 would find no more, and take four times as long.)
inline Checksum checksum_of(Header header, std::span<const std::byte> rest) {
  header.checksum = {};
  Checksum lanes{};
  const auto add = [&](std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at + kAlignment <= bytes.size(); at += kAlignment) {
      const char* block = reinterpret_cast<const char*>(bytes.data() + at);
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        const auto low = load_as<std::uint64_t>(block + 16 * i);
        const auto high = load_as<std::uint64_t>(block + 16 * i + 8);
        lanes[i] = fold_product(lanes[i] ^ low ^ kSeedA, high ^ kSeedB) + kSeedC;
      }
    }
  };
  add(std::as_bytes(std::span(&header, 1)));
  add(rest);
  return lanes;
}

// One added token in section kAdded: this, then `size` bytes, then zeros up to a multiple of four.
struct Added {
  std::uint32_t id = 0;
  std::uint32_t flags = 0;
  std::uint32_t size = 0;
};

enum AddedFlag : std::uint32_t {
  kSpecial = 1,
  kNormalized = 2,
  kSingleWord = 4,
  kLstrip = 8,
  kRstrip = 16
};

}  // namespace verbatim::tokenizer::layout
