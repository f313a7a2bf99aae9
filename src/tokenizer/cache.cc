#include "tokenizer/cache.h"

#include <cstring>

#include "tokenizer/image_layout.h"

namespace verbatim::tokenizer {

std::string ImageCache::path(const Fingerprint& source) const {
  return folder_ + "/tokenizer-" + std::string(source.begin(), source.end()) + ".v" +
         std::to_string(layout::kVersion);
}

std::unique_ptr<const Image> ImageCache::find(const Fingerprint& source) const {
  const std::string file_path = path(source);
  if (!files_.exists(file_path)) return nullptr;
  auto file = files_.map(file_path);
  if (!file) return nullptr;
  auto image = Image::open(*std::move(file));
  if (!image || (*image)->source() != source) return nullptr;
  return *std::move(image);
}

base::Status ImageCache::put(const Image& image) const {
  if (auto status = files_.make_directories(folder_); !status) return status;
  const auto bytes = image.bytes();
  std::string file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  layout::Header header;
  std::memcpy(&header, file.data(), sizeof header);
  header.checksum = layout::checksum_of(header, bytes.subspan(sizeof header));
  std::memcpy(file.data(), &header, sizeof header);
  return files_.replace(path(image.source()), file);
}

}  // namespace verbatim::tokenizer
