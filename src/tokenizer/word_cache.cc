#include "tokenizer/word_cache.h"

#include <algorithm>
#include <cstring>

namespace verbatim::tokenizer {

void WordCache::put_short(const ShortKey& key, std::uint64_t hash,
                          std::span<const base::TokenId> ids) {
  Short& entry = short_[hash >> 32 & (kShortSlots - 1)];
  entry.low = key.low;
  entry.high = key.high;
  entry.size = static_cast<std::uint16_t>(key.size);
  entry.count = static_cast<std::uint16_t>(ids.size());
  std::copy(ids.begin(), ids.end(), entry.ids.begin());
}

bool WordCache::append_long(std::string_view word, std::uint64_t hash, base::TokenIds& ids) const {
  const Long& entry = long_[hash >> 32 & (kLongSlots - 1)];
  if (entry.hash != hash || entry.size != word.size() || entry.position + kRing < tape_)
    return false;
  const std::uint32_t* stored = ring_.data() + entry.position % kRing;
  if (std::memcmp(stored + entry.count, word.data(), word.size()) != 0) return false;
  ids.insert(ids.end(), stored, stored + entry.count);
  return true;
}

void WordCache::put_long(std::string_view word, std::uint64_t hash,
                         std::span<const base::TokenId> ids) {
  if (word.size() > kMaxWord) return;
  const std::size_t units = ids.size() + (word.size() + 3) / 4;
  // An entry lies in one piece: what doesn't fit before the end of the ring starts at its
  // beginning.
  if (tape_ % kRing + units > kRing) tape_ += kRing - tape_ % kRing;
  std::uint32_t* stored = ring_.data() + tape_ % kRing;
  std::copy(ids.begin(), ids.end(), stored);
  std::memcpy(stored + ids.size(), word.data(), word.size());
  long_[hash >> 32 & (kLongSlots - 1)] = {hash, tape_, static_cast<std::uint32_t>(word.size()),
                                          static_cast<std::uint32_t>(ids.size())};
  tape_ += units;
}

}  // namespace verbatim::tokenizer
