#include "tokenizer/byte_level_bpe.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "tokenizer/bpe.h"
#include "tokenizer/nfc.h"
#include "tokenizer/pre_tokenizer.h"

namespace verbatim::tokenizer {
namespace {

std::vector<const AddedToken*> pointers(std::span<const AddedToken> tokens) {
  std::vector<const AddedToken*> out;
  for (const AddedToken& token : tokens) out.push_back(&token);
  return out;
}

bool starts_with_space(std::string_view text) {
  return !text.empty() && (classes_of(base::decode_at(text, 0).code_point) & kSpace) != 0;
}

std::vector<ByteRange> joined(std::span<const ByteRange> ranges) {
  std::vector<ByteRange> out;
  for (const ByteRange& range : ranges) {
    if (range.begin >= range.end) continue;
    if (!out.empty() && out.back().end >= range.begin) {
      out.back().end = std::max(out.back().end, range.end);
      continue;
    }
    out.push_back(range);
  }
  return out;
}

}  // namespace

// One call of encode(): where it stands and where its ids go.
class ByteLevelBpe::Pass {
 public:
  Pass(const ByteLevelBpe& owner, Scratch& scratch, const CallerText& caller, TokenIds& ids,
       std::vector<std::uint32_t>* begins)
      : owner_(owner),
        tables_(owner.image_->tables()),
        scratch_(scratch),
        control_(caller.control != nullptr ? *caller.control : owner.every_added_),
        caller_(joined(caller.ranges)),
        ids_(ids),
        begins_(begins) {}

  void encode(std::string_view text) {
    std::size_t done = 0;
    for (const ByteRange& range : caller_) {
      control_.find(text, {range.begin, std::min(range.end, text.size())},
                    [&](std::size_t begin, std::size_t end) {
                      piece(text, done, begin);
                      separate_ = true;
                      piece(text, begin, end, Added::kNone);
                      done = end;
                    });
    }
    piece(text, done, text.size());
  }

  // Encodes text without any added token.
  void ordinary(std::string_view text) { chunk(text, {.size = text.size()}, Added::kNone); }

 private:
  enum class Added { kFound, kNone };

  // What turns a position in the text at hand into an offset in the caller's text.
  struct Origin {
    std::size_t base = 0;        // offset of the text before normalisation
    std::size_t size = 0;        // its size
    std::size_t artificial = 0;  // bytes at its front that aren't in the caller's text
    const std::vector<std::uint32_t>* normalized = nullptr;

    [[nodiscard]] std::size_t of(std::size_t position) const {
      if (normalized != nullptr)
        position = position < normalized->size() ? (*normalized)[position] : size;
      return base + (position > artificial ? position - artificial : 0);
    }
    [[nodiscard]] Origin part(std::size_t begin, std::size_t end) const {
      return {of(begin), end - begin, artificial > begin ? artificial - begin : 0, nullptr};
    }
  };

  void piece(std::string_view text, std::size_t begin, std::size_t end,
             Added added = Added::kFound);
  void behind_newline(std::string_view text, std::size_t base, Added added);
  void raw(std::string_view text, const Origin& origin, Added added);
  void chunk(std::string_view text, Origin origin, Added added);
  void words(std::string_view text, std::size_t begin, std::size_t end, const Origin& origin);
  void word(std::string_view text);
  void unknown_word(std::string_view text, std::uint64_t hash);
  void token(const AddedToken& token, std::size_t offset);
  void note_begins(std::size_t first, std::size_t position, const Origin& origin);
  [[nodiscard]] bool allowed(const AddedToken& token, std::size_t begin, std::size_t end) const;

  const ByteLevelBpe& owner_;
  const Tables& tables_;
  Scratch& scratch_;
  const ControlTokens& control_;
  const std::vector<ByteRange> caller_;
  TokenIds& ids_;
  std::vector<std::uint32_t>* begins_;
  bool separate_ = false;  // a spelled-out control token was cut out before
};

// A range of the text between borders. Behind a border transformers encodes a piece with a line
// feed in front of it, and takes that away again where it stayed a token of its own (a trick for
// vocabularies that put a space before a text). Only white space can join with the line feed.
void ByteLevelBpe::Pass::piece(std::string_view text, std::size_t begin, std::size_t end,
                               Added added) {
  if (begin == end) return;
  const std::string_view part = text.substr(begin, end - begin);
  if (separate_ && starts_with_space(part)) return behind_newline(part, begin, added);
  raw(part, {.base = begin, .size = part.size()}, added);
}

void ByteLevelBpe::Pass::behind_newline(std::string_view text, std::size_t base, Added added) {
  const std::size_t ids_before = ids_.size();
  const std::size_t begins_before = begins_ != nullptr ? begins_->size() : 0;
  const std::string longer = "\n" + std::string(text);
  raw(longer, {.base = base, .size = longer.size(), .artificial = 1}, added);

  const auto& newline = owner_.newline_;
  const auto from = ids_.begin() + static_cast<std::ptrdiff_t>(ids_before);
  const bool apart = ids_.size() - ids_before >= newline.size() &&
                     std::equal(newline.begin(), newline.end(), from);
  if (apart) {
    ids_.erase(from, from + static_cast<std::ptrdiff_t>(newline.size()));
    if (begins_ == nullptr) return;
    const auto first = begins_->begin() + static_cast<std::ptrdiff_t>(begins_before);
    begins_->erase(first, first + static_cast<std::ptrdiff_t>(newline.size()));
    return;
  }
  ids_.resize(ids_before);
  if (begins_ != nullptr) begins_->resize(begins_before);
  raw(text, {.base = base, .size = text.size()}, added);
}

void ByteLevelBpe::Pass::raw(std::string_view text, const Origin& origin, Added added) {
  if (added == Added::kNone || owner_.raw_.empty()) return chunk(text, origin, added);
  owner_.raw_.split(
      text,
      [&](const AddedToken& found, std::size_t begin, std::size_t end) {
        return allowed(found, origin.of(begin), origin.of(end));
      },
      [&](std::size_t begin, std::size_t end) {
        chunk(text.substr(begin, end - begin), origin.part(begin, end), added);
      },
      [&](const AddedToken& found, std::size_t begin, std::size_t) {
        token(found, origin.of(begin));
      });
}

void ByteLevelBpe::Pass::chunk(std::string_view text, Origin origin, Added added) {
  if (owner_.image_->nfc() && first_unsettled(text) < text.size()) {
    normalize_nfc(text, scratch_.normalized);
    text = scratch_.normalized.text;
    origin.normalized = &scratch_.normalized.origin;
  }
  if (added == Added::kNone || owner_.normalized_.empty())
    return words(text, 0, text.size(), origin);
  owner_.normalized_.split(
      text,
      [&](const AddedToken& found, std::size_t begin, std::size_t end) {
        return allowed(found, origin.of(begin), origin.of(end));
      },
      [&](std::size_t begin, std::size_t end) { words(text, begin, end, origin); },
      [&](const AddedToken& found, std::size_t begin, std::size_t) {
        token(found, origin.of(begin));
      });
}

void ByteLevelBpe::Pass::words(std::string_view text, std::size_t begin, std::size_t end,
                               const Origin& origin) {
  const std::string_view part = text.substr(begin, end - begin);
  cut_words(owner_.image_->pattern(), part, [&](std::size_t from, std::size_t to) {
    const std::size_t first = ids_.size();
    word(part.substr(from, to - from));
    if (begins_ != nullptr) note_begins(first, begin + from, origin);
  });
}

void ByteLevelBpe::Pass::word(std::string_view text) {
  if (text.size() == 1) return ids_.push_back(tables_.byte_ids[static_cast<std::uint8_t>(text[0])]);
  if (text.size() > kShortWord) return unknown_word(text, hash_of(text));
  const ShortKey key = short_key(text);
  const std::uint64_t hash = hash_of(key);
  if (scratch_.cache.append_short(key, hash, ids_)) return;
  const std::size_t before = ids_.size();
  unknown_word(text, hash);
  const std::span added(ids_.data() + before, ids_.size() - before);
  if (added.size() <= WordCache::kShortIds) scratch_.cache.put_short(key, hash, added);
}

void ByteLevelBpe::Pass::unknown_word(std::string_view text, std::uint64_t hash) {
  if (scratch_.cache.append_long(text, hash, ids_)) return;
  if (const auto id = tables_.find_word(text, hash);
      id && (tables_.token_flags[*id] & kWhole) != 0) {
    return ids_.push_back(*id);
  }
  const std::size_t before = ids_.size();
  merge_word(tables_, text, scratch_.bpe, ids_);
  const std::span added(ids_.data() + before, ids_.size() - before);
  if (text.size() > kShortWord || added.size() > WordCache::kShortIds)
    scratch_.cache.put_long(text, hash, added);
}

void ByteLevelBpe::Pass::token(const AddedToken& token, std::size_t offset) {
  ids_.push_back(token.id);
  if (begins_ == nullptr) return;
  // A token with rstrip may have taken in the beginning of this one.
  const std::uint32_t last = begins_->empty() ? 0 : begins_->back();
  begins_->push_back(std::max(last, static_cast<std::uint32_t>(offset)));
}

void ByteLevelBpe::Pass::note_begins(std::size_t first, std::size_t position,
                                     const Origin& origin) {
  for (std::size_t i = first; i < ids_.size(); ++i) {
    begins_->push_back(static_cast<std::uint32_t>(origin.of(position)));
    position += tables_.bytes(ids_[i]).size();
  }
}

// Inside a caller's range only what is no control token matches, across its border nothing.
bool ByteLevelBpe::Pass::allowed(const AddedToken& token, std::size_t begin,
                                 std::size_t end) const {
  if (caller_.empty()) return true;
  const auto range =
      std::upper_bound(caller_.begin(), caller_.end(), begin,
                       [](std::size_t at, const ByteRange& r) { return at < r.end; });
  if (range == caller_.end() || range->begin >= end) return true;
  return range->begin <= begin && end <= range->end && !control_.contains(token.id);
}

ByteLevelBpe::ByteLevelBpe(std::unique_ptr<const Image> image)
    : image_(std::move(image)),
      fingerprint_(image_->source().begin(), image_->source().end()),
      raw_(image_->added(), AddedTokenFinder::Kind::kRaw, image_->nfc()),
      normalized_(image_->added(), AddedTokenFinder::Kind::kNormalized, image_->nfc()),
      every_added_(pointers(image_->added())) {
  for (const AddedToken& token : image_->added()) {
    added_by_id_.emplace(token.id, &token);
    added_by_content_.emplace(token.content, &token);
  }
  encode("\n", newline_);
}

void ByteLevelBpe::encode(std::string_view text, const CallerText& caller, TokenIds& ids,
                          std::vector<std::uint32_t>* begins) const {
  auto scratch = scratches_.take();
  Pass(*this, *scratch, caller, ids, begins).encode(text);
  scratches_.give_back(std::move(scratch));
}

base::Result<std::shared_ptr<const ControlTokens>> ByteLevelBpe::control_tokens(
    std::span<const TokenId> ids) const {
  std::vector<const AddedToken*> tokens;
  for (const TokenId id : ids) {
    const AddedToken* token = added(id);
    if (token == nullptr)
      return base::invalid("control_tokens", std::to_string(id) + " is no added token");
    TokenIds plain;
    auto scratch = scratches_.take();
    Pass(*this, *scratch, {}, plain, nullptr).ordinary(token->content);
    scratches_.give_back(std::move(scratch));
    if (std::find(plain.begin(), plain.end(), id) != plain.end()) {
      return base::error(base::ErrorKind::kUnsupported,
                         "the added token \"" + token->content +
                             "\" can't be kept from callers: ordinary text becomes it");
    }
    tokens.push_back(token);
  }
  return std::make_shared<const ControlTokens>(tokens);
}

std::string_view ByteLevelBpe::bytes(TokenId id) const {
  return id < vocab_size() ? image_->tables().bytes(id) : std::string_view();
}

bool ByteLevelBpe::has_token(TokenId id) const {
  return id < vocab_size() && (image_->tables().token_flags[id] & kHasToken) != 0;
}

const AddedToken* ByteLevelBpe::added(TokenId id) const {
  const auto found = added_by_id_.find(id);
  return found == added_by_id_.end() ? nullptr : found->second;
}

const AddedToken* ByteLevelBpe::added(std::string_view content) const {
  const auto found = added_by_content_.find(content);
  return found == added_by_content_.end() ? nullptr : found->second;
}

}  // namespace verbatim::tokenizer
