#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "tokenizer/definition.h"
#include "tokenizer/tables.h"

namespace verbatim::tokenizer {

// SHA-256 in hex.
using Fingerprint = std::array<char, 64>;

// A tokenizer in the form it is used in and cached in: one block of bytes, made from a Definition
// in memory or mapped from a cache file. Little endian; a header, then sections aligned to 64 bytes
// (image_layout.h). Whoever gets an Image may follow every index in its tables: open() has checked
// them all. Immutable. Its checksum is only needed, and only set, in a file (cache.h).
class Image {
 public:
  // Takes a block made by build_image() or written by anybody: any bytes are either an image or an
  // error (kInvalidRequest).
  static base::Result<std::unique_ptr<const Image>> open(std::vector<std::uint64_t> words);
  // The same for a mapped cache file, which must also have the checksum its header states.
  static base::Result<std::unique_ptr<const Image>> open(std::unique_ptr<base::MappedFile> file);

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const Tables& tables() const { return tables_; }
  [[nodiscard]] std::span<const AddedToken> added() const { return added_; }
  [[nodiscard]] Pattern pattern() const { return pattern_; }
  [[nodiscard]] bool nfc() const { return nfc_; }
  // Hash of the tokenizer.json that this was made from.
  [[nodiscard]] const Fingerprint& source() const { return source_; }

 private:
  Image() = default;
  base::Status read(std::span<const std::byte> bytes);
  base::Status read_added(std::span<const std::byte> section);

  std::vector<std::uint64_t> words_;
  std::unique_ptr<base::MappedFile> file_;
  std::span<const std::byte> bytes_;
  Tables tables_;
  std::vector<AddedToken> added_;
  Pattern pattern_ = Pattern::kQwen2;
  bool nfc_ = false;
  Fingerprint source_{};
};

// What an added token looks like in the text it is searched in: its content, normalised if the text
// is.
std::string added_pattern(const AddedToken& token, bool nfc);

// Checks that the parts of a definition fit together and lays them out. Errors: kInvalidRequest or
// kUnsupported, naming the part of tokenizer.json.
base::Result<std::vector<std::uint64_t>> build_image(const Definition& definition,
                                                     const Fingerprint& source);

}  // namespace verbatim::tokenizer
