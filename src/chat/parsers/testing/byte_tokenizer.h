#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace verbatim::chat::parsers::testing {

// A vocabulary of the 256 bytes (id = byte) and the added tokens it is given (256, 257 ...).
class ByteTokenizer final : public tokenizer::Tokenizer {
 public:
  explicit ByteTokenizer(const std::vector<std::string>& added);

  using Tokenizer::encode;
  void encode(std::string_view text, const tokenizer::CallerText& caller, tokenizer::TokenIds& ids,
              std::vector<std::uint32_t>* begins) const override;
  base::Result<std::shared_ptr<const tokenizer::ControlTokens>> control_tokens(
      std::span<const tokenizer::TokenId> ids) const override;
  std::string_view bytes(tokenizer::TokenId id) const override;
  bool has_token(tokenizer::TokenId id) const override { return id < bytes_.size(); }
  std::span<const tokenizer::AddedToken> added_tokens() const override { return added_; }
  const tokenizer::AddedToken* added(tokenizer::TokenId id) const override;
  const tokenizer::AddedToken* added(std::string_view content) const override;
  std::size_t vocab_size() const override { return bytes_.size(); }
  const std::string& fingerprint() const override { return fingerprint_; }

  // Ids of a text in which every spelled added token is that token.
  [[nodiscard]] tokenizer::TokenIds ids(std::string_view text) const;
  // Ids of a text in ordinary tokens only.
  static tokenizer::TokenIds ordinary(std::string_view text);

 private:
  std::vector<std::string> bytes_;
  std::vector<tokenizer::AddedToken> added_;
  std::string fingerprint_ = "bytes";
};

}  // namespace verbatim::chat::parsers::testing
