#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "tokenizer/bpe.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/image.h"
#include "tokenizer/image_layout.h"
#include "tokenizer/nfc.h"

namespace verbatim::tokenizer {
namespace {

using base::Status;

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

// The parts of an image while they grow.
class Builder {
 public:
  explicit Builder(const Definition& definition) : definition_(definition) {}

  base::Result<std::vector<std::uint64_t>> build(const Fingerprint& source) {
    for (auto step : {&Builder::place_vocab, &Builder::place_added, &Builder::index_bytes,
                      &Builder::index_merges}) {
      if (auto status = (this->*step)(); !status) return std::move(status).error();
    }
    mark_whole_words();
    return lay_out(source);
  }

 private:
  Status place_vocab();
  Status place_added();
  Status index_bytes();
  Status index_merges();
  Status insert_word(const Definition::VocabEntry& entry);
  void insert_merge(TokenId left, TokenId right, std::uint32_t rank);
  void mark_whole_words();
  std::vector<std::uint64_t> lay_out(const Fingerprint& source) const;
  std::string added_section() const;

  [[nodiscard]] std::optional<TokenId> find(std::string_view bytes) const;
  [[nodiscard]] std::optional<TokenId> find_written(const std::string& written) const;

  const Definition& definition_;
  Tables tables_;                        // views what merging needs of the vectors below
  std::vector<std::string_view> texts_;  // per id, into the definition's arena or added_texts_
  std::vector<std::uint8_t> flags_;
  std::unordered_map<TokenId, std::string> added_texts_;
  std::unordered_map<std::string_view, TokenId> odd_words_;  // entries without a byte-level form
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> merges_;
  std::vector<std::uint64_t> pair_filter_;
  std::vector<std::uint32_t> merged_;
  std::vector<std::uint32_t> byte_pairs_;
  std::vector<std::uint32_t> byte_ids_;
};

std::size_t table_size(std::size_t entries) {
  return std::bit_ceil(std::max<std::size_t>(entries * 2, 8));
}

Status Builder::place_vocab() {
  TokenId last = 0;
  for (const auto& entry : definition_.vocab) last = std::max(last, entry.id);
  for (const auto& token : definition_.added) last = std::max(last, token.id);
  texts_.resize(std::size_t{last} + 1);
  flags_.resize(texts_.size());
  words_.assign(table_size(definition_.vocab.size()), kEmptySlot);
  for (const auto& entry : definition_.vocab) {
    const std::string_view text = definition_.view(entry.text);
    if (text.empty())
      return malformed("model.vocab", "the token " + std::to_string(entry.id) + " is empty");
    if (flags_[entry.id] != 0)
      return malformed("model.vocab", "the id " + std::to_string(entry.id) + " is there twice");
    texts_[entry.id] = text;
    flags_[entry.id] = kHasToken;
    if (auto status = insert_word(entry); !status) return status;
  }
  return {};
}

Status Builder::insert_word(const Definition::VocabEntry& entry) {
  const std::string_view text = texts_[entry.id];
  if (!entry.byte_level) {
    if (!odd_words_.emplace(text, entry.id).second)
      return malformed("model.vocab", quoted(text) + " is there twice");
    return {};
  }
  flags_[entry.id] |= kByteLevel;
  const std::uint64_t hash = hash_of(text);
  const std::uint64_t mask = words_.size() - 1;
  std::uint64_t slot = hash & mask;
  for (; words_[slot] != kEmptySlot; slot = (slot + 1) & mask) {
    const auto id = static_cast<TokenId>(words_[slot] & ((1U << kIdBits) - 1));
    if (texts_[id] == text) {
      return malformed("model.vocab", "the ids " + std::to_string(id) + " and " +
                                          std::to_string(entry.id) + " are the same token");
    }
  }
  words_[slot] = hash >> kIdBits << kIdBits | entry.id;
  return {};
}

std::optional<TokenId> Builder::find(std::string_view bytes) const {
  const std::uint64_t hash = hash_of(bytes);
  const std::uint64_t mask = words_.size() - 1;
  for (std::uint64_t slot = hash & mask; words_[slot] != kEmptySlot; slot = (slot + 1) & mask) {
    const auto id = static_cast<TokenId>(words_[slot] & ((1U << kIdBits) - 1));
    if (texts_[id] == bytes) return id;
  }
  return std::nullopt;
}

std::optional<TokenId> Builder::find_written(const std::string& written) const {
  if (const auto bytes = bytes_of_written(written)) return find(*bytes);
  const auto found = odd_words_.find(written);
  return found == odd_words_.end() ? std::nullopt : std::optional(found->second);
}

// Hugging Face ignores the stated id of an added token: one whose text is in the vocabulary has the
// id of that entry, any other is numbered after the vocabulary, in the order of the file. A file
// that states something else means two different tokenizers.
Status Builder::place_added() {
  std::unordered_set<std::string> contents;
  std::unordered_set<std::string> patterns;
  auto next = static_cast<TokenId>(definition_.vocab.size());
  for (std::size_t i = 0; i < definition_.added.size(); ++i) {
    const AddedToken& token = definition_.added[i];
    const std::string field = "added_tokens[" + std::to_string(i) + "]";
    if (!contents.insert(token.content).second)
      return malformed(field + ".content", quoted(token.content) + " is there twice");
    const auto known = find_written(token.content);
    const TokenId id = known ? *known : next++;
    if (id != token.id) {
      return malformed(field + ".id",
                       quoted(token.content) + " has the id " + std::to_string(token.id) +
                           ", but its place in the file gives it " + std::to_string(id));
    }
    if (!known && flags_[id] != 0)
      return malformed(field + ".id", std::to_string(id) + " belongs to another token");
    const std::string pattern = added_pattern(token, definition_.nfc);
    if (!patterns.insert((token.normalized ? "n" : "r") + pattern).second) {
      return malformed(field + ".content",
                       quoted(token.content) + " is there twice after normalisation");
    }
    const std::string text = decoded_token(pattern);
    if (known && texts_[id] != text) {
      return unsupported(field + ", a token of the vocabulary that normalisation changes,");
    }
    if (known) continue;
    texts_[id] = added_texts_[id] = text;
    flags_[id] = kHasToken;
  }
  return {};
}

Status Builder::index_bytes() {
  byte_ids_.resize(256);
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const auto id = find({&c, 1});
    if (!id) {
      return unsupported("model.vocab without a token for the byte " + std::to_string(byte));
    }
    byte_ids_[byte] = *id;
  }
  return {};
}

void Builder::insert_merge(TokenId left, TokenId right, std::uint32_t rank) {
  const std::uint64_t key = pair_key(left, right);
  const std::uint64_t mask = merges_.size() - 1;
  std::uint64_t slot = pair_slot(key) & mask;
  // Of a pair that is there twice the last rank counts, as in Hugging Face.
  while (merges_[slot] != kEmptySlot && merges_[slot] >> kRankBits != key) slot = (slot + 1) & mask;
  merges_[slot] = key << kRankBits | rank;
  const std::uint64_t bit = filter_bit(pair_slot(key), pair_filter_.size());
  pair_filter_[bit / 64] |= std::uint64_t{1} << bit % 64;
  if (texts_[left].size() == 1 && texts_[right].size() == 1) {
    const auto byte = [](std::string_view text) { return static_cast<std::uint8_t>(text[0]); };
    byte_pairs_[std::size_t{byte(texts_[left])} << 8 | byte(texts_[right])] = rank;
  }
}

Status Builder::index_merges() {
  merges_.assign(table_size(definition_.merges.size()), kEmptySlot);
  pair_filter_.assign(std::bit_ceil(definition_.merges.size() / 8 + 1),
                      0);  // eight bits or more for each
  byte_pairs_.assign(65536, kNoRank);
  merged_.reserve(definition_.merges.size());
  std::string joined;
  for (const auto& merge : definition_.merges) {
    joined.assign(definition_.view(merge.left)).append(definition_.view(merge.right));
    const std::string field = "model.merges[" + std::to_string(merged_.size()) + "]";
    const auto left = merge.left.size == 0 ? std::nullopt : find(definition_.view(merge.left));
    const auto right = merge.right.size == 0 ? std::nullopt : find(definition_.view(merge.right));
    const auto whole = left && right ? find(joined) : std::nullopt;
    if (!whole) return malformed(field, "a side or the whole is not in the vocabulary");
    insert_merge(*left, *right, static_cast<std::uint32_t>(merged_.size()));
    merged_.push_back(*whole);
  }
  return {};
}

void Builder::mark_whole_words() {
  tables_.vocab_size = texts_.size();
  tables_.merges = merges_;
  tables_.pair_filter = pair_filter_;
  tables_.merged = merged_;
  tables_.byte_pairs = byte_pairs_;
  tables_.byte_ids = byte_ids_;
  BpeScratch scratch;
  base::TokenIds ids;
  for (const auto& entry : definition_.vocab) {
    if (!entry.byte_level) continue;
    ids.clear();
    if (!definition_.ignore_merges) merge_word(tables_, texts_[entry.id], scratch, ids);
    if (definition_.ignore_merges || ids.size() == 1) flags_[entry.id] |= kWhole;
  }
}

std::string Builder::added_section() const {
  std::string out;
  for (const AddedToken& token : definition_.added) {
    const std::uint32_t flags =
        (token.special ? layout::kSpecial : 0U) | (token.normalized ? layout::kNormalized : 0U) |
        (token.single_word ? layout::kSingleWord : 0U) | (token.lstrip ? layout::kLstrip : 0U) |
        (token.rstrip ? layout::kRstrip : 0U);
    const layout::Added record{token.id, flags, static_cast<std::uint32_t>(token.content.size())};
    out.append(reinterpret_cast<const char*>(&record), sizeof record);
    out.append(token.content);
    out.append((4 - out.size() % 4) % 4, '\0');
  }
  return out;
}

std::vector<std::uint64_t> Builder::lay_out(const Fingerprint& source) const {
  std::vector<std::uint32_t> ends{0};
  std::string texts;
  for (const std::string_view text : texts_) {
    texts.append(text);
    ends.push_back(static_cast<std::uint32_t>(texts.size()));
  }
  const std::string added = added_section();

  std::array<std::span<const std::byte>, layout::kSections> parts;
  const auto bytes_of = [](const auto& container) { return std::as_bytes(std::span(container)); };
  parts[layout::kTokenEnds] = bytes_of(ends);
  parts[layout::kTokenFlags] = bytes_of(flags_);
  parts[layout::kTokenBytes] = bytes_of(texts);
  parts[layout::kWords] = bytes_of(words_);
  parts[layout::kMerges] = bytes_of(merges_);
  parts[layout::kPairFilter] = bytes_of(pair_filter_);
  parts[layout::kMerged] = bytes_of(merged_);
  parts[layout::kBytePairs] = bytes_of(byte_pairs_);
  parts[layout::kByteIds] = bytes_of(byte_ids_);
  parts[layout::kAdded] = bytes_of(added);

  const auto aligned = [](std::uint64_t n) {
    return (n + layout::kAlignment - 1) / layout::kAlignment * layout::kAlignment;
  };
  layout::Header header{.pattern = static_cast<std::uint32_t>(definition_.pattern),
                        .flags = definition_.nfc ? layout::kNfc : 0U,
                        .vocab_size = static_cast<std::uint32_t>(texts_.size()),
                        .total = aligned(sizeof header),
                        .source = source};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    header.sections[i] = {header.total, parts[i].size()};
    header.total = aligned(header.total + parts[i].size());
  }
  std::vector<std::uint64_t> image(header.total / sizeof(std::uint64_t));
  auto* base = reinterpret_cast<std::byte*>(image.data());
  for (std::size_t i = 0; i < parts.size(); ++i)
    std::copy(parts[i].begin(), parts[i].end(), base + header.sections[i].offset);
  std::memcpy(base, &header, sizeof header);
  return image;
}

}  // namespace

std::string added_pattern(const AddedToken& token, bool nfc) {
  if (!nfc || !token.normalized) return token.content;
  Normalized out;
  normalize_nfc(token.content, out);
  return std::move(out.text);
}

base::Result<std::vector<std::uint64_t>> build_image(const Definition& definition,
                                                     const Fingerprint& source) {
  return Builder(definition).build(source);
}

}  // namespace verbatim::tokenizer
