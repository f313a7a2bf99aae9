#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "tokenizer/text_trie.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::tokenizer {

class ControlTokens {
 public:
  explicit ControlTokens(const std::vector<const AddedToken*>& tokens);

  [[nodiscard]] bool contains(TokenId id) const { return ids_.contains(id); }

  // Calls `found(begin, end)` for each control token spelled in text[range], left to right:
  // leftmost, longest first.
  template <class Found>
  void find(std::string_view text, ByteRange range, Found found) const {
    const std::string_view inside = text.substr(0, range.end);
    for (std::size_t at = range.begin;;) {
      at = spellings_.next_candidate(inside, at);
      if (at >= range.end) return;
      const auto match =
          spellings_.longest(inside, at, [](std::uint32_t, std::size_t) { return true; });
      if (match) found(at, match->end);
      at = match ? match->end : at + 1;
    }
  }

 private:
  std::unordered_set<TokenId> ids_;
  TextTrie spellings_;
};

}  // namespace verbatim::tokenizer
