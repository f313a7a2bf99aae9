#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "tokenizer/hash.h"

namespace verbatim::tokenizer {

// The ids of words seen before, for one tokenizer and one thread at a time. Two parts of fixed
// size, each of which forgets old entries by overwriting them: slots for short words of few ids,
// and a ring of bytes for all others up to kMaxWord bytes. About 3 MB.
class WordCache {
 public:
  static constexpr std::size_t kMaxWord = 2048;

  WordCache() : short_(kShortSlots), long_(kLongSlots), ring_(kRing) {}

  // Appends the ids of a short word, if they are known.
  bool append_short(const ShortKey& key, std::uint64_t hash, base::TokenIds& ids) const {
    const Short& entry = short_[hash >> 32 & (kShortSlots - 1)];
    if (entry.low != key.low || entry.high != key.high || entry.size != key.size) return false;
    if (entry.count == 1) {
      ids.push_back(entry.ids[0]);
      return true;
    }
    ids.insert(ids.end(), entry.ids.begin(), entry.ids.begin() + entry.count);
    return true;
  }
  // Appends the ids of a word of any size, if they are known.
  bool append_long(std::string_view word, std::uint64_t hash, base::TokenIds& ids) const;

  void put_short(const ShortKey& key, std::uint64_t hash, std::span<const base::TokenId> ids);
  void put_long(std::string_view word, std::uint64_t hash, std::span<const base::TokenId> ids);

  static constexpr std::size_t kShortIds = 3;

 private:
  static constexpr std::size_t kShortSlots = 1 << 14;
  static constexpr std::size_t kLongSlots = 1 << 14;
  static constexpr std::size_t kRing = 1 << 19;  // units of four bytes

  struct alignas(32) Short {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::array<base::TokenId, kShortIds> ids{};
    std::uint16_t size = 0;  // 0: empty
    std::uint16_t count = 0;
  };
  // Where an entry was written in the endless tape of which `ring_` holds the end: ids, then the
  // word, padded.
  struct Long {
    std::uint64_t hash = 0;
    std::uint64_t position = 0;
    std::uint32_t size = 0;
    std::uint32_t count = 0;
  };

  std::vector<Short> short_;
  std::vector<Long> long_;
  std::vector<std::uint32_t> ring_;
  std::uint64_t tape_ = 0;  // position of the next entry
};

}  // namespace verbatim::tokenizer
