#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/token.h"
#include "tokenizer/hash.h"

namespace verbatim::tokenizer {

using base::TokenId;

inline constexpr std::uint32_t kNoRank = 0xFFFFFFFF;
inline constexpr std::uint64_t kEmptySlot = ~std::uint64_t{0};

// What is known about an id, as bits.
enum TokenFlag : std::uint8_t {
  kHasToken = 1,
  kByteLevel = 2,  // ordinary text can become it
  kWhole = 4,      // a word with exactly its bytes becomes this one token
};

// The vocabulary and the merges as flat arrays, ready for look-ups: views into an Image, which has
// checked every index in them. Trivially copyable; valid as long as the image.
struct Tables {
  std::size_t vocab_size = 0;
  std::span<const std::uint32_t>
      token_ends;  // token_ends[id] .. token_ends[id + 1] in `token_bytes`; vocab_size + 1 entries
  std::span<const std::uint8_t> token_flags;  // vocab_size entries
  std::string_view token_bytes;
  std::span<const std::uint64_t>
      words;  // open addressing; upper 42 bits of the hash, 22 bits of the id
  std::span<const std::uint64_t> merges;  // open addressing; left 22 bits, right 22, rank 20
  std::span<const std::uint64_t>
      pair_filter;  // one bit per hash of a pair, set for those that merge; a power of two
  std::span<const std::uint32_t> merged;  // id per rank
  std::span<const std::uint32_t>
      byte_pairs;  // rank per pair of bytes, first byte first; 65536 entries
  std::span<const std::uint32_t> byte_ids;  // 256 entries

  [[nodiscard]] std::string_view bytes(TokenId id) const {
    return token_bytes.substr(token_ends[id], token_ends[id + 1] - token_ends[id]);
  }
  // The id of the byte-level token with exactly these bytes. `hash` is hash_of(word).
  [[nodiscard]] std::optional<TokenId> find_word(std::string_view word, std::uint64_t hash) const;
  // The rank of a merge, or kNoRank.
  [[nodiscard]] std::uint32_t rank_of(TokenId left, TokenId right) const;
  [[nodiscard]] bool may_merge(std::uint64_t slot) const;
};

inline constexpr unsigned kIdBits = 22;
inline constexpr unsigned kRankBits = 20;

inline std::uint64_t pair_key(TokenId left, TokenId right) {
  return std::uint64_t{left} << kIdBits | right;
}
inline std::uint64_t pair_slot(std::uint64_t key) {
  const std::uint64_t mixed = key * kSeedA;
  return mixed ^ mixed >> 32;
}

// The bit of a pair in a filter of `words` words.
inline std::uint64_t filter_bit(std::uint64_t slot, std::size_t words) {
  return slot >> 20 & (words * 64 - 1);
}

// Two of three questions are about pairs that don't merge. The filter answers most of those, and
// stays in a near cache, which the merges are too large for.
inline bool Tables::may_merge(std::uint64_t slot) const {
  const std::uint64_t bit = filter_bit(slot, pair_filter.size());
  return (pair_filter[bit / 64] >> bit % 64 & 1) != 0;
}

inline std::uint32_t Tables::rank_of(TokenId left, TokenId right) const {
  const std::uint64_t mask = merges.size() - 1;
  const std::uint64_t key = pair_key(left, right);
  const std::uint64_t first = pair_slot(key);
  if (!may_merge(first)) return kNoRank;
  for (std::uint64_t slot = first & mask;; slot = (slot + 1) & mask) {
    const std::uint64_t entry = merges[slot];
    if (entry >> kRankBits == key)
      return static_cast<std::uint32_t>(entry & ((1U << kRankBits) - 1));
    if (entry == kEmptySlot) return kNoRank;
  }
}

inline std::optional<TokenId> Tables::find_word(std::string_view word, std::uint64_t hash) const {
  const std::uint64_t mask = words.size() - 1;
  for (std::uint64_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::uint64_t entry = words[slot];
    if (entry == kEmptySlot) return std::nullopt;
    if ((entry ^ hash) >> kIdBits != 0) continue;
    const auto id = static_cast<TokenId>(entry & ((1U << kIdBits) - 1));
    if (bytes(id) == word) return id;
  }
}

}  // namespace verbatim::tokenizer
