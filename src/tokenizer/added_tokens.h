#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/text_trie.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::tokenizer {

// Cuts added tokens out of a text as Hugging Face `tokenizers` 0.23.3 does (added_vocabulary.rs):
// matches are leftmost-longest and don't overlap; a single_word token beside a word character is
// skipped, with all of its text; lstrip and rstrip take in the white space beside the token. One
// per kind: `normalized` tokens are searched in normalised text, the others in the raw text before.
// Immutable.
class AddedTokenFinder {
 public:
  enum class Kind { kRaw, kNormalized };

  AddedTokenFinder(std::span<const AddedToken> tokens, Kind kind, bool nfc);

  [[nodiscard]] bool empty() const { return trie_.empty(); }

  // Calls `text(begin, end)` for each stretch of ordinary text and `token(added, begin, end)` for
  // each token, left to right. `allowed(added, begin, end)` is asked whether a match may count at
  // all; where it may not, the text is searched as if the token did not exist.
  template <class Allowed, class TextSink, class TokenSink>
  void split(std::string_view sentence, Allowed allowed, TextSink text, TokenSink token) const {
    std::size_t done = 0;
    for (std::size_t at = 0;;) {
      at = trie_.next_candidate(sentence, at);
      if (at == sentence.size()) break;
      const auto match = trie_.longest(sentence, at, [&](std::uint32_t value, std::size_t end) {
        return allowed(*tokens_[value], at, end);
      });
      if (!match) {
        ++at;
        continue;
      }
      const AddedToken& added = *tokens_[match->value];
      std::size_t begin = at;
      std::size_t end = match->end;
      at = end;
      if (added.single_word && beside_word(sentence, begin, end)) continue;
      if (added.lstrip) begin = std::max(space_begin(sentence, begin), done);
      if (added.rstrip) end = space_end(sentence, end);
      if (done < begin) text(done, begin);
      token(added, begin, end);
      done = end;
    }
    if (done < sentence.size()) text(done, sentence.size());
  }

 private:
  static bool beside_word(std::string_view sentence, std::size_t begin, std::size_t end);
  static std::size_t space_begin(std::string_view sentence, std::size_t at);
  static std::size_t space_end(std::string_view sentence, std::size_t at);

  std::vector<const AddedToken*> tokens_;
  TextTrie trie_;
};

}  // namespace verbatim::tokenizer
