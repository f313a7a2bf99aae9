#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tokenizer/bpe.h"
#include "tokenizer/nfc.h"
#include "tokenizer/word_cache.h"

namespace verbatim::tokenizer {

// What one encoding needs for itself and the next one can use again.
struct Scratch {
  WordCache cache;
  BpeScratch bpe;
  Normalized normalized;
};

// Scratches of one tokenizer: one per thread that encodes at the same moment, at most kKept between
// encodings. Thread-safe.
class ScratchPool {
 public:
  static constexpr std::size_t kKept = 64;

  [[nodiscard]] std::unique_ptr<Scratch> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    return std::make_unique<Scratch>();
  }

  void give_back(std::unique_ptr<Scratch> scratch) {
    shrink(*scratch);
    const std::lock_guard lock(mutex_);
    if (free_.size() < kKept) free_.push_back(std::move(scratch));
  }

 private:
  // Memory of an unusually large text is not kept.
  static void shrink(Scratch& scratch) {
    constexpr std::size_t kKeptBytes = 1 << 20;
    if (scratch.bpe.nodes.capacity() * sizeof(BpeScratch::Node) > kKeptBytes) scratch.bpe = {};
    if (scratch.normalized.text.capacity() > kKeptBytes) scratch.normalized = {};
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

}  // namespace verbatim::tokenizer
