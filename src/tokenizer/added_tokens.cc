#include "tokenizer/added_tokens.h"

#include "base/utf8.h"
#include "tokenizer/image.h"
#include "tokenizer/unicode.h"

namespace verbatim::tokenizer {

AddedTokenFinder::AddedTokenFinder(std::span<const AddedToken> tokens, Kind kind, bool nfc) {
  std::vector<std::string> patterns;
  for (const AddedToken& token : tokens) {
    if (token.normalized != (kind == Kind::kNormalized)) continue;
    tokens_.push_back(&token);
    patterns.push_back(added_pattern(token, nfc));
  }
  trie_ = TextTrie(std::vector<std::string_view>(patterns.begin(), patterns.end()));
}

bool AddedTokenFinder::beside_word(std::string_view sentence, std::size_t begin, std::size_t end) {
  const auto is_word = [&](std::size_t at) {
    return (classes_of(base::decode_at(sentence, at).code_point) & kWord) != 0;
  };
  return (begin > 0 && is_word(base::previous_begin(sentence, begin))) ||
         (end < sentence.size() && is_word(end));
}

std::size_t AddedTokenFinder::space_begin(std::string_view sentence, std::size_t at) {
  while (at > 0) {
    const std::size_t before = base::previous_begin(sentence, at);
    if ((classes_of(base::decode_at(sentence, before).code_point) & kSpace) == 0) break;
    at = before;
  }
  return at;
}

std::size_t AddedTokenFinder::space_end(std::string_view sentence, std::size_t at) {
  while (at < sentence.size()) {
    const base::Decoded next = base::decode_at(sentence, at);
    if ((classes_of(next.code_point) & kSpace) == 0) break;
    at += next.size;
  }
  return at;
}

}  // namespace verbatim::tokenizer
