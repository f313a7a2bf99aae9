#pragma once

#include <concepts>
#include <cstdint>
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

// A set of added tokens that callers must not be able to write; made by Tokenizer::control_tokens,
// once per model and template. Immutable, thread-safe; may outlive the tokenizer.
class ControlTokens;

// Which bytes of a text were written by a caller, and what they must not become.
struct CallerText {
  CallerText() = default;
  template <class Ranges>
    requires std::convertible_to<const Ranges&, std::span<const ByteRange>>
  CallerText(const Ranges& caller_ranges,
             const ControlTokens* control_tokens = nullptr)  // NOLINT(google-explicit-constructor)
      : ranges(caller_ranges), control(control_tokens) {}

  std::span<const ByteRange> ranges;       // sorted, disjoint; ranges that touch count as one
  const ControlTokens* control = nullptr;  // null: every added token
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
  // Folder for the binary cache (made if missing); empty: none is read or written. Files there are
  // trusted as little as anything from outside, and are found by the hash of tokenizer.json's
  // bytes, so no stale one is ever used.
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

  // Appends the ids of `text` (UTF-8, shorter than 4 GiB; bad bytes are a bug of the caller) to
  // `ids`: policy kHfExact.
  void encode(std::string_view text, TokenIds& ids) const { encode(text, {}, ids, nullptr); }

  // Policy kInjectionSafe, as the `sanitize_control_tokens` of transformers 5.23
  // (encode_marked_chat) encodes a chat:
  // - Where a control token is spelled inside a caller's range (leftmost, longest first), its text
  // is encoded by itself, as ordinary text
  //   without any added token; what stands before and behind it is encoded as texts of their own.
  //   So a border of a *spelled-out token* separates words, while the border of a range separates
  //   nothing: without such a token the ids are those of the whole text.
  // - Added tokens that are not control tokens match inside a range as they do elsewhere.
  // - Beyond that mode: no added token matches across the border of a range, so a caller can
  // neither complete a token with the template's
  //   bytes nor take bytes away from one of the template's.
  // With `begins`, appends per id the byte offset in `text` where the token begins; inside a
  // character where the token begins there; where NFC changed the text, the offset of the first
  // original character it came from. Offsets never decrease.
  virtual void encode(std::string_view text, const CallerText& caller, TokenIds& ids,
                      std::vector<std::uint32_t>* begins) const = 0;

  // The set for CallerText::control. Errors: kInvalidRequest for an id that is no added token;
  // kUnsupported where ordinary text becomes the token anyway, so that no policy could keep callers
  // from writing it.
  [[nodiscard]] virtual base::Result<std::shared_ptr<const ControlTokens>> control_tokens(
      std::span<const TokenId> ids) const = 0;
  // The ids that transformers 5.23 counts as control tokens: the special ones, and those that occur
  // in the template's literal text and aren't white space. `template_literals`: text outside of
  // tags and every string constant, joined by '\0'.
  [[nodiscard]] TokenIds default_control_tokens(std::string_view template_literals) const;
  // The same where tokenizer_config.json lists "chat_control_tokens": the special ones and the
  // listed.
  [[nodiscard]] TokenIds listed_control_tokens(
      std::span<const std::string> chat_control_tokens) const;

  // What a token decodes to: the bytes it stands for; of an added token its content. Empty for ids
  // without a token.
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
