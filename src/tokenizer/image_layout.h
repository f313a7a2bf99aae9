#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tokenizer/sha256.h"

namespace verbatim::tokenizer::layout {

// Raise it with every change of the layout, of hash.h, of the slot functions in tables.h and of how
// a token's bytes are derived.
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::array<char, 8> kMagic = {'V', 'B', 'T', 'O', 'K', 'I', 'M', 'G'};
inline constexpr std::size_t kAlignment = 64;

enum Section : std::size_t {
  kTokenEnds,
  kTokenFlags,
  kTokenBytes,
  kWords,
  kMerges,
  kMerged,
  kBytePairs,
  kByteIds,
  kAdded,
  kSections,
};

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
  Sha256 source{};
  Sha256 payload{};  // checksum()
  std::array<Range, kSections> sections{};
};

// Over everything but the field itself: hash of the hashes of the header (with the field zero) and
// of what follows it.
inline Sha256 checksum(Header header, std::span<const std::byte> rest) {
  header.payload = {};
  const std::array<Sha256, 2> parts = {sha256(std::as_bytes(std::span(&header, 1))), sha256(rest)};
  return sha256(std::as_bytes(std::span(parts)));
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
