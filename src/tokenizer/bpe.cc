#include "tokenizer/bpe.h"

#include <algorithm>
#include <array>
#include <functional>

#include "tokenizer/definition.h"

namespace verbatim::tokenizer {
namespace {

// Up to this size a scan for the lowest rank is faster than a heap.
constexpr unsigned kPositionBits = 7;
constexpr std::size_t kScanLimit = 1 << kPositionBits;
constexpr std::size_t kLanes = 8;

std::uint8_t byte_at(std::string_view word, std::size_t i) {
  return static_cast<std::uint8_t>(word[i]);
}

std::uint32_t byte_pair_rank(const Tables& tables, std::string_view word, std::size_t i) {
  return tables.byte_pairs[std::size_t{byte_at(word, i)} << 8 | byte_at(word, i + 1)];
}

// A short word as two arrays that shrink with each merge. A place's key is its rank, then its
// position, so the lowest key is the next merge. Keys are signed because plain SSE2 compares only
// such numbers, and are padded up to a multiple of the lanes. Loops over a fixed number of lanes
// are what compilers turn into vector instructions.
class ShortWord {
 public:
  ShortWord(const Tables& tables, std::string_view word) : tables_(tables), size_(word.size()) {
    for (std::size_t i = 0; i < size_; ++i) ids_[i] = tables.byte_ids[byte_at(word, i)];
    for (std::size_t i = 0; i + 1 < size_; ++i) keys_[i] = key(byte_pair_rank(tables, word, i), i);
    std::fill_n(keys_.begin() + static_cast<std::ptrdiff_t>(size_) - 1, kLanes + 1, kNone);
  }

  void merge_all() {
    while (size_ > 1) {
      const std::int32_t lowest = lowest_key();
      if (lowest >= kNoKey) return;
      merge_at(static_cast<std::size_t>(lowest) & (kScanLimit - 1),
               static_cast<std::uint32_t>(lowest) >> kPositionBits);
    }
  }

  void append_to(base::TokenIds& ids) const {
    ids.insert(ids.end(), ids_.begin(), ids_.begin() + size_);
  }

 private:
  // Keys without a merge: kNone, less one per move to the left, of which there are fewer than
  // kScanLimit.
  static constexpr std::int32_t kNone = 0x7FFFFFFF;
  static constexpr std::int32_t kNoKey = kNone - static_cast<std::int32_t>(kScanLimit);
  static_assert(kMaxMerges << kPositionBits < kNoKey);

  static std::int32_t key(std::uint32_t rank, std::size_t position) {
    return rank == kNoRank ? kNone : static_cast<std::int32_t>(rank << kPositionBits | position);
  }

  std::int32_t lowest_key() const {
    std::array<std::int32_t, kLanes> low;
    low.fill(kNone);
    for (std::size_t i = 0; i < size_ - 1; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        low[lane] = std::min(low[lane], keys_[i + lane]);
    }
    return *std::min_element(low.begin(), low.end());
  }

  void merge_at(std::size_t at, std::uint32_t rank) {
    ids_[at] = tables_.merged[rank];
    for (std::size_t i = at + 1; i < size_ - 1; i += kLanes) {
      std::array<std::int32_t, kLanes> keys;
      std::array<TokenId, kLanes> ids;
      for (std::size_t lane = 0; lane < kLanes; ++lane) keys[lane] = keys_[i + lane + 1] - 1;
      for (std::size_t lane = 0; lane < kLanes; ++lane) ids[lane] = ids_[i + lane + 1];
      for (std::size_t lane = 0; lane < kLanes; ++lane) keys_[i + lane] = keys[lane];
      for (std::size_t lane = 0; lane < kLanes; ++lane) ids_[i + lane] = ids[lane];
    }
    --size_;
    keys_[size_ - 1] = kNone;
    if (at + 1 < size_) keys_[at] = key(tables_.rank_of(ids_[at], ids_[at + 1]), at);
    if (at > 0) keys_[at - 1] = key(tables_.rank_of(ids_[at - 1], ids_[at]), at - 1);
  }

  const Tables& tables_;
  std::size_t size_;
  std::array<TokenId, kScanLimit + kLanes + 1> ids_;
  std::array<std::int32_t, kScanLimit + kLanes + 1> keys_;
};

// A long word as a linked list, with a heap of (rank, position). Entries whose merge is gone are
// skipped when they come up.
class LongWord {
 public:
  LongWord(const Tables& tables, std::string_view word, BpeScratch& scratch)
      : tables_(tables), nodes_(scratch.nodes), heap_(scratch.heap) {
    const auto size = static_cast<std::uint32_t>(word.size());
    nodes_.resize(size);
    heap_.clear();
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t rank = i + 1 < size ? byte_pair_rank(tables, word, i) : kNoRank;
      nodes_[i] = {tables.byte_ids[byte_at(word, i)], rank, i - 1, i + 1};
      if (rank != kNoRank) heap_.push_back(entry(rank, i));
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  void merge_all() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const std::uint64_t top = heap_.back();
      heap_.pop_back();
      const auto at = static_cast<std::uint32_t>(top);
      const auto rank = static_cast<std::uint32_t>(top >> 32);
      if (nodes_[at].rank == rank) merge_at(at, rank);
    }
  }

  void append_to(base::TokenIds& ids) const {
    for (std::uint32_t at = 0; at < nodes_.size(); at = nodes_[at].next)
      ids.push_back(nodes_[at].id);
  }

 private:
  static std::uint64_t entry(std::uint32_t rank, std::uint32_t at) {
    return std::uint64_t{rank} << 32 | at;
  }

  void merge_at(std::uint32_t at, std::uint32_t rank) {
    BpeScratch::Node& node = nodes_[at];
    BpeScratch::Node& gone = nodes_[node.next];
    node.id = tables_.merged[rank];
    node.next = gone.next;
    gone.rank = kNoRank;
    if (node.next < nodes_.size()) nodes_[node.next].previous = at;
    set_rank(at);
    if (at > 0) set_rank(node.previous);
  }

  void set_rank(std::uint32_t at) {
    BpeScratch::Node& node = nodes_[at];
    node.rank =
        node.next < nodes_.size() ? tables_.rank_of(node.id, nodes_[node.next].id) : kNoRank;
    if (node.rank == kNoRank) return;
    heap_.push_back(entry(node.rank, at));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  const Tables& tables_;
  std::vector<BpeScratch::Node>& nodes_;
  std::vector<std::uint64_t>& heap_;
};

}  // namespace

void merge_word(const Tables& tables, std::string_view word, BpeScratch& scratch,
                base::TokenIds& ids) {
  if (word.size() <= kScanLimit) {
    ShortWord merged(tables, word);
    merged.merge_all();
    return merged.append_to(ids);
  }
  LongWord merged(tables, word, scratch);
  merged.merge_all();
  merged.append_to(ids);
}

}  // namespace verbatim::tokenizer
