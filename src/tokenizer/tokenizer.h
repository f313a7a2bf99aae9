#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/token.h"

namespace verbatim::tokenizer {

using base::TokenId;
using base::TokenIds;

// Where text that looks like an added token becomes one (docs/design.md 5).
enum class EncodingPolicy {
  kHfExact,        // everywhere, as Hugging Face `tokenizers` does
  kInjectionSafe,  // only where no byte of the match was written by a caller
};

// Half-open byte range of a text.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// One entry of tokenizer.json's added_tokens.
struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;
  bool normalized = false;
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
};

struct LoadOptions {
  // Folder for the binary cache; empty: none is read or written.
  std::string cache_dir;
};

// A tokenizer: text to token ids and back, as Hugging Face `tokenizers` 0.23 does it with
// add_special_tokens=False, id by id. Immutable and thread-safe (per-thread caches inside). Created
// once per model at start-up, shared.
class Tokenizer {
 public:
  // Reads DIR/tokenizer.json (byte-level BPE: Split patterns known here, optional NFC, ByteLevel).
  // Errors: kNotFound, kInvalidRequest naming the part of the file, kUnsupported naming the
  // component ("pre_tokenizer.type Metaspace").
  static base::Result<std::shared_ptr<const Tokenizer>> load(base::Files& files,
                                                             const std::string& dir,
                                                             const LoadOptions& options = {});
  virtual ~Tokenizer() = default;

  // Appends the ids of `text` (UTF-8; bad bytes are a bug of the caller) to `ids`.
  void encode(std::string_view text, TokenIds& ids) const { encode(text, {}, ids, nullptr); }
  // The same where added tokens whose match overlaps one of `caller_text` (sorted, disjoint) stay
  // ordinary text. The text is encoded as one piece: range borders change nothing else. With
  // `begins`, appends per id the byte offset in `text` where the token begins (under NFC: where the
  // first original character it came from begins). Offsets never decrease.
  virtual void encode(std::string_view text, std::span<const ByteRange> caller_text, TokenIds& ids,
                      std::vector<std::uint32_t>* begins) const = 0;

  // The bytes a token stands for (an added token: its content). Empty for ids without a token.
  [[nodiscard]] virtual std::string_view bytes(TokenId id) const = 0;
  [[nodiscard]] virtual bool has_token(TokenId id) const = 0;
  // Text of all ids, special ones included; invalid UTF-8 and ids without a token become U+FFFD.
  [[nodiscard]] std::string decode(std::span<const TokenId> ids) const;

  [[nodiscard]] virtual std::span<const AddedToken> added_tokens() const = 0;
  // The added token with this id or content, or null.
  [[nodiscard]] virtual const AddedToken* added(TokenId id) const = 0;
  [[nodiscard]] virtual const AddedToken* added(std::string_view content) const = 0;

  // Highest id + 1.
  [[nodiscard]] virtual std::size_t vocab_size() const = 0;
  // SHA-256 of tokenizer.json, hex.
  [[nodiscard]] virtual const std::string& fingerprint() const = 0;
};

// Turns ids into text piece by piece and never gives out half a character. One per stream.
class IncrementalDecoder {
 public:
  explicit IncrementalDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  // Appends the characters that are complete now. Bytes that can't become a character any more
  // become U+FFFD, in the same number as Tokenizer::decode gives, whatever the cut.
  void feed(TokenId id, std::string& out);
  // Appends U+FFFD for what is left incomplete.
  void finish(std::string& out);
  [[nodiscard]] bool pending() const { return !held_.empty(); }

 private:
  const Tokenizer& tokenizer_;
  std::string held_;
};

}  // namespace verbatim::tokenizer
