#include "tokenizer/control_tokens.h"

#include <algorithm>

#include "base/utf8.h"
#include "tokenizer/unicode.h"

namespace verbatim::tokenizer {
namespace {

// Python's str.isspace: white space and the four information separators.
bool is_space(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const base::Decoded next = base::decode_at(text, at);
    const bool separator = next.code_point >= 0x1C && next.code_point <= 0x1F;
    if (!separator && (classes_of(next.code_point) & kSpace) == 0) return false;
    at += next.size;
  }
  return !text.empty();
}

}  // namespace

ControlTokens::ControlTokens(const std::vector<const AddedToken*>& tokens) {
  std::vector<std::string_view> contents;
  for (const AddedToken* token : tokens) {
    if (ids_.insert(token->id).second) contents.push_back(token->content);
  }
  spellings_ = TextTrie(contents);
}

TokenIds Tokenizer::default_control_tokens(std::string_view template_literals) const {
  TokenIds ids;
  for (const AddedToken& token : added_tokens()) {
    const bool written =
        template_literals.find(token.content) != std::string_view::npos && !is_space(token.content);
    if (token.special || written) ids.push_back(token.id);
  }
  return ids;
}

TokenIds Tokenizer::listed_control_tokens(std::span<const std::string> chat_control_tokens) const {
  TokenIds ids;
  for (const AddedToken& token : added_tokens()) {
    const auto listed =
        std::find(chat_control_tokens.begin(), chat_control_tokens.end(), token.content);
    if (token.special || listed != chat_control_tokens.end()) ids.push_back(token.id);
  }
  return ids;
}

}  // namespace verbatim::tokenizer
