#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace verbatim::base {

// An immutable sequence whose extensions share it: extended() writes what is new behind what is
// there, so a line of sequences, each an extension of the one before, takes the memory of the
// longest. The elements lie in few blocks: along a line each is twice as large as the one before;
// where a sequence is extended a second time (a fork), a new one begins.
//
// Cheap to copy. Views live as long as any sequence that begins with their elements. Threads:
// sequences may be read and extended from several at once; as with any value, the one who made a
// sequence hands it on with a synchronisation.
template <class T>
class SharedSequence {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using Piece = std::span<const T>;

  [[nodiscard]] std::size_t size() const { return block_ ? block_->below_size + end_ : 0; }

  // This sequence and, in one piece behind it, `parts`.
  [[nodiscard]] SharedSequence extended(std::initializer_list<Piece> parts) const {
    std::size_t count = 0;
    for (const auto& part : parts) count += part.size();
    if (count == 0) return *this;
    SharedSequence longer = with_room(count);
    T* to = longer.block_->elements.get() + longer.end_;
    for (const auto& part : parts) to = std::copy(part.begin(), part.end(), to);
    longer.end_ += count;
    return longer;
  }

  // The whole sequence, in order; no piece is empty.
  [[nodiscard]] std::vector<Piece> pieces() const {
    std::vector<Piece> pieces;
    std::size_t end = end_;
    for (const Block* block = block_.get(); block != nullptr; block = block->below.get()) {
      if (end > 0) pieces.emplace_back(block->elements.get(), end);
      end = block->below_end;
    }
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
  }

 private:
  struct Block {
    explicit Block(std::size_t size)
        : elements(std::make_unique_for_overwrite<T[]>(size)), capacity(size) {}
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    // Frees a long line without recursion: whoever holds the last reference to a block is alone
    // with it.
    ~Block() {
      while (below && below.use_count() == 1) below = std::move(below->below);
    }

    std::unique_ptr<T[]> elements;
    std::size_t capacity;
    // Elements that some sequence owns. Only whoever moved it on from the end of a sequence may
    // write behind that end.
    std::atomic<std::size_t> used = 0;
    std::shared_ptr<Block> below;
    std::size_t below_end = 0;   // elements of `below` that belong to this line
    std::size_t below_size = 0;  // elements of all blocks below
  };

  // The same sequence, where the caller alone may write `count` elements behind its end.
  [[nodiscard]] SharedSequence with_room(std::size_t count) const {
    const bool fits = block_ && count <= block_->capacity - end_;
    std::size_t end = end_;
    if (fits && block_->used.compare_exchange_strong(end, end_ + count)) return *this;
    // A fork takes what it needs; a line that goes on will again.
    const std::size_t room = block_ && !fits ? std::max(count, 2 * block_->capacity) : count;
    SharedSequence moved;
    moved.block_ = std::make_shared<Block>(room);
    moved.block_->used = count;
    moved.block_->below = block_;
    moved.block_->below_end = end_;
    moved.block_->below_size = size();
    return moved;
  }

  std::shared_ptr<Block> block_;
  std::size_t end_ = 0;  // elements of the last block
};

}  // namespace verbatim::base
