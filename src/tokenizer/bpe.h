#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "tokenizer/tables.h"

namespace verbatim::tokenizer {

// Memory that merging needs, kept between words.
struct BpeScratch {
  struct Node {
    TokenId id;
    std::uint32_t rank;  // of the merge with the next node; kNoRank: none
    std::uint32_t previous;
    std::uint32_t next;
  };
  std::vector<Node> nodes;
  std::vector<std::uint64_t> heap;
};

// Appends the ids of one word: its bytes, merged pair by pair, the lowest rank first, the leftmost
// of equal ranks first. Time is O(n log n) in the word's size. The word is not empty.
void merge_word(const Tables& tables, std::string_view word, BpeScratch& scratch,
                base::TokenIds& ids);

}  // namespace verbatim::tokenizer
