#include "tokenizer/image.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/utf8.h"
#include "tokenizer/image_layout.h"

namespace verbatim::tokenizer {
namespace {

using base::Status;

static_assert(std::endian::native == std::endian::little, "images are little endian");

base::Error broken(const char* what) {
  return base::error(base::ErrorKind::kInvalidRequest, std::string("tokenizer image: ") + what);
}

// A section as an array; `ok` turns false where its range or size is impossible.
template <class T>
std::span<const T> section_of(std::span<const std::byte> bytes, const layout::Range& range,
                              bool& ok) {
  if (range.offset % layout::kAlignment != 0 || range.offset > bytes.size() ||
      range.size > bytes.size() - range.offset || range.size % sizeof(T) != 0) {
    ok = false;
    return {};
  }
  return {reinterpret_cast<const T*>(bytes.data() + range.offset),
          static_cast<std::size_t>(range.size / sizeof(T))};
}

// Open addressing needs a power of two and an empty slot to stop at.
bool is_hash_table(std::span<const std::uint64_t> slots) {
  return std::has_single_bit(slots.size()) &&
         std::find(slots.begin(), slots.end(), kEmptySlot) != slots.end();
}

template <class Predicate>
bool entries_ok(std::span<const std::uint64_t> slots, Predicate ok) {
  return std::all_of(slots.begin(), slots.end(),
                     [&](std::uint64_t entry) { return entry == kEmptySlot || ok(entry); });
}

bool all_below(std::span<const std::uint32_t> values, std::size_t limit) {
  return std::all_of(values.begin(), values.end(), [&](std::uint32_t v) { return v < limit; });
}

Status check_tokens(const Tables& t) {
  if (t.token_ends.size() != t.vocab_size + 1 || t.token_flags.size() != t.vocab_size)
    return broken("sizes of the vocabulary");
  if (!std::is_sorted(t.token_ends.begin(), t.token_ends.end()) ||
      t.token_ends.back() > t.token_bytes.size()) {
    return broken("offsets of token texts");
  }
  return {};
}

Status check_tables(const Tables& t) {
  if (!is_hash_table(t.words) || !is_hash_table(t.merges)) return broken("size of a hash table");
  if (!std::has_single_bit(t.pair_filter.size())) return broken("size of the filter");
  if (t.byte_pairs.size() != 65536 || t.byte_ids.size() != 256)
    return broken("sizes of byte tables");
  if (!all_below(t.byte_ids, t.vocab_size) || !all_below(t.merged, t.vocab_size))
    return broken("ids of merges");
  const auto rank_ok = [&](std::uint64_t rank) { return rank < t.merged.size(); };
  if (!std::all_of(t.byte_pairs.begin(), t.byte_pairs.end(),
                   [&](auto r) { return r == kNoRank || rank_ok(r); })) {
    return broken("ranks of byte pairs");
  }
  constexpr std::uint64_t kIdMask = (1U << kIdBits) - 1;
  constexpr std::uint64_t kRankMask = (1U << kRankBits) - 1;
  if (!entries_ok(t.words, [&](std::uint64_t e) { return (e & kIdMask) < t.vocab_size; }))
    return broken("ids of words");
  if (!entries_ok(t.merges, [&](std::uint64_t e) { return rank_ok(e & kRankMask); }))
    return broken("ranks of merges");
  return {};
}

}  // namespace

base::Result<std::unique_ptr<const Image>> Image::open(std::vector<std::uint64_t> words) {
  // Made in this process: no checksum needed, but every index is checked as in a file.
  std::unique_ptr<Image> image(new Image());
  image->words_ = std::move(words);
  auto status = image->read(std::as_bytes(std::span(image->words_)));
  if (!status) return std::move(status).error();
  return std::unique_ptr<const Image>(std::move(image));
}

base::Result<std::unique_ptr<const Image>> Image::open(std::unique_ptr<base::MappedFile> file) {
  layout::Header header;
  const auto bytes = file->bytes();
  if (bytes.size() < sizeof header) return broken("too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() % layout::kAlignment != 0 ||
      header.checksum != layout::checksum_of(header, bytes.subspan(sizeof header))) {
    return broken("checksum");
  }
  std::unique_ptr<Image> image(new Image());
  image->file_ = std::move(file);
  auto status = image->read(image->file_->bytes());
  if (!status) return std::move(status).error();
  return std::unique_ptr<const Image>(std::move(image));
}

Status Image::read(std::span<const std::byte> bytes) {
  layout::Header header;
  if (bytes.size() < sizeof header) return broken("too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != layout::kMagic || header.version != layout::kVersion)
    return broken("another format or version");
  if (header.total != bytes.size()) return broken("size");
  if (header.vocab_size == 0 || header.vocab_size > kMaxVocabSize) return broken("vocabulary size");
  bytes_ = bytes;
  source_ = header.source;
  nfc_ = (header.flags & layout::kNfc) != 0;
  pattern_ = static_cast<Pattern>(header.pattern);
  if (header.pattern < 1 || header.pattern > 3) return broken("pattern");

  bool ok = true;
  const auto words = [&](layout::Section s) {
    return section_of<std::uint32_t>(bytes, header.sections[s], ok);
  };
  const auto slots = [&](layout::Section s) {
    return section_of<std::uint64_t>(bytes, header.sections[s], ok);
  };
  const auto texts = section_of<char>(bytes, header.sections[layout::kTokenBytes], ok);
  tables_ = {
      .vocab_size = header.vocab_size,
      .token_ends = words(layout::kTokenEnds),
      .token_flags = section_of<std::uint8_t>(bytes, header.sections[layout::kTokenFlags], ok),
      .token_bytes = {texts.data(), texts.size()},
      .words = slots(layout::kWords),
      .merges = slots(layout::kMerges),
      .pair_filter = slots(layout::kPairFilter),
      .merged = words(layout::kMerged),
      .byte_pairs = words(layout::kBytePairs),
      .byte_ids = words(layout::kByteIds)};
  const auto added = section_of<std::byte>(bytes, header.sections[layout::kAdded], ok);
  if (!ok) return broken("range of a section");
  if (auto status = check_tokens(tables_); !status) return status;
  if (auto status = check_tables(tables_); !status) return status;
  return read_added(added);
}

Status Image::read_added(std::span<const std::byte> section) {
  while (!section.empty()) {
    layout::Added record;
    if (section.size() < sizeof record) return broken("added tokens");
    std::memcpy(&record, section.data(), sizeof record);
    section = section.subspan(sizeof record);
    // In 64 bits: a size near 2^32 must not wrap.
    const std::uint64_t padded = (std::uint64_t{record.size} + 3) / 4 * 4;
    if (padded > section.size() || record.size == 0 || record.id >= tables_.vocab_size)
      return broken("added tokens");
    const auto has = [&](layout::AddedFlag flag) { return (record.flags & flag) != 0; };
    added_.push_back(
        {.id = record.id,
         .content = std::string(reinterpret_cast<const char*>(section.data()), record.size),
         .special = has(layout::kSpecial),
         .normalized = has(layout::kNormalized),
         .single_word = has(layout::kSingleWord),
         .lstrip = has(layout::kLstrip),
         .rstrip = has(layout::kRstrip)});
    if (!base::valid_utf8(added_.back().content)) return broken("text of an added token");
    section = section.subspan(static_cast<std::size_t>(padded));
  }
  return {};
}

}  // namespace verbatim::tokenizer
