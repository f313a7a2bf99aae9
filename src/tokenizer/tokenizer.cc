#include "tokenizer/tokenizer.h"

#include <algorithm>

#include "base/sha256.h"
#include "base/utf8.h"
#include "tokenizer/byte_level_bpe.h"
#include "tokenizer/cache.h"
#include "tokenizer/json_definition.h"

namespace verbatim::tokenizer {
namespace {

constexpr std::uint64_t kMaxJson = 512ULL << 20;

Fingerprint fingerprint_of(std::span<const std::byte> bytes) {
  const std::string hex =
      base::sha256_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  Fingerprint fingerprint{};
  std::copy_n(hex.begin(), fingerprint.size(), fingerprint.begin());
  return fingerprint;
}

base::Result<std::unique_ptr<const Image>> image_from_json(std::span<const std::byte> bytes,
                                                           const Fingerprint& source) {
  std::string json;
  json.reserve(bytes.size() + kJsonPadding);
  json.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto definition = parse_definition(json);
  if (!definition) return std::move(definition).error();
  auto words = build_image(*definition, source);
  if (!words) return std::move(words).error();
  return Image::open(*std::move(words));
}

std::string_view bytes_or_replacement(const Tokenizer& tokenizer, TokenId id) {
  return tokenizer.has_token(id) ? tokenizer.bytes(id) : base::kReplacement;
}

}  // namespace

base::Result<std::shared_ptr<const Tokenizer>> Tokenizer::load(base::Files& files,
                                                               const std::string& dir,
                                                               const LoadOptions& options) {
  // Mapped: with a cached image the file is hashed and nothing else, and reading it would take
  // longer than all the rest.
  auto json = files.map(dir + "/tokenizer.json");
  if (!json) return std::move(json).error();
  const auto bytes = (*json)->bytes();
  if (bytes.size() > kMaxJson)
    return base::error(base::ErrorKind::kTooLarge, dir + "/tokenizer.json is too large");
  const Fingerprint source = fingerprint_of(bytes);
  const ImageCache cache(files, options.cache_dir);
  if (!options.cache_dir.empty()) {
    if (auto image = cache.find(source))
      return std::shared_ptr<const Tokenizer>(new ByteLevelBpe(std::move(image)));
  }
  auto image = image_from_json(bytes, source);
  if (!image) return std::move(image).error();
  if (!options.cache_dir.empty()) static_cast<void>(cache.put(**image));
  return std::shared_ptr<const Tokenizer>(new ByteLevelBpe(*std::move(image)));
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) bytes.append(bytes_or_replacement(*this, id));
  std::string out;
  out.reserve(bytes.size());
  if (base::append_lossy(bytes, out) != 0) out.append(base::kReplacement);
  return out;
}

void IncrementalDecoder::feed(TokenId id, std::string& out) {
  held_.append(bytes_or_replacement(tokenizer_, id));
  held_.erase(0, held_.size() - base::append_lossy(held_, out));
}

void IncrementalDecoder::finish(std::string& out) {
  if (!held_.empty()) out.append(base::kReplacement);
  held_.clear();
}

}  // namespace verbatim::tokenizer
