#include "chat/parsers/testing/byte_tokenizer.h"

namespace verbatim::chat::parsers::testing {

using tokenizer::AddedToken;
using tokenizer::TokenId;
using tokenizer::TokenIds;

ByteTokenizer::ByteTokenizer(const std::vector<std::string>& added) {
  for (int byte = 0; byte < 256; ++byte) bytes_.emplace_back(1, static_cast<char>(byte));
  for (const auto& content : added) {
    added_.push_back({.id = static_cast<TokenId>(bytes_.size()), .content = content});
    bytes_.push_back(content);
  }
}

void ByteTokenizer::encode(std::string_view text, const tokenizer::CallerText&, TokenIds& ids,
                           std::vector<std::uint32_t>*) const {
  for (const auto id : this->ids(text)) ids.push_back(id);
}

base::Result<std::shared_ptr<const tokenizer::ControlTokens>> ByteTokenizer::control_tokens(
    std::span<const TokenId>) const {
  return base::error(base::ErrorKind::kUnsupported, "a test vocabulary has no control tokens");
}

std::string_view ByteTokenizer::bytes(TokenId id) const {
  return has_token(id) ? std::string_view(bytes_[id]) : std::string_view();
}

const AddedToken* ByteTokenizer::added(TokenId id) const {
  return id >= 256 && has_token(id) ? &added_[id - 256] : nullptr;
}

const AddedToken* ByteTokenizer::added(std::string_view content) const {
  for (const auto& token : added_) {
    if (token.content == content) return &token;
  }
  return nullptr;
}

TokenIds ByteTokenizer::ids(std::string_view text) const {
  TokenIds out;
  while (!text.empty()) {
    const AddedToken* tag = nullptr;
    for (const auto& token : added_) {
      if (text.starts_with(token.content)) tag = &token;
    }
    out.push_back(tag != nullptr ? tag->id : static_cast<unsigned char>(text.front()));
    text.remove_prefix(tag != nullptr ? tag->content.size() : 1);
  }
  return out;
}

TokenIds ByteTokenizer::ordinary(std::string_view text) {
  TokenIds out;
  for (const char c : text) out.push_back(static_cast<unsigned char>(c));
  return out;
}

}  // namespace verbatim::chat::parsers::testing
