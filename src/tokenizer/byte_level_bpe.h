#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tokenizer/added_tokens.h"
#include "tokenizer/control_tokens.h"
#include "tokenizer/image.h"
#include "tokenizer/scratch_pool.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::tokenizer {

// The Tokenizer for byte-level BPE: added tokens, NFC, words, merges. Thread-safe: all but the pool
// of scratches is immutable.
class ByteLevelBpe final : public Tokenizer {
 public:
  explicit ByteLevelBpe(std::unique_ptr<const Image> image);

  using Tokenizer::encode;
  void encode(std::string_view text, const CallerText& caller, TokenIds& ids,
              std::vector<std::uint32_t>* begins) const override;
  [[nodiscard]] base::Result<std::shared_ptr<const ControlTokens>> control_tokens(
      std::span<const TokenId> ids) const override;

  [[nodiscard]] std::string_view bytes(TokenId id) const override;
  [[nodiscard]] bool has_token(TokenId id) const override;
  [[nodiscard]] std::span<const AddedToken> added_tokens() const override {
    return image_->added();
  }
  [[nodiscard]] const AddedToken* added(TokenId id) const override;
  [[nodiscard]] const AddedToken* added(std::string_view content) const override;
  [[nodiscard]] std::size_t vocab_size() const override { return image_->tables().vocab_size; }
  [[nodiscard]] const std::string& fingerprint() const override { return fingerprint_; }

 private:
  class Pass;

  std::unique_ptr<const Image> image_;
  std::string fingerprint_;
  AddedTokenFinder raw_;
  AddedTokenFinder normalized_;
  ControlTokens every_added_;
  std::unordered_map<TokenId, const AddedToken*> added_by_id_;
  std::unordered_map<std::string_view, const AddedToken*> added_by_content_;
  TokenIds newline_;  // the ids of "\n"
  mutable ScratchPool scratches_;
};

}  // namespace verbatim::tokenizer
