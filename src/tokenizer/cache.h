#pragma once

#include <memory>
#include <string>

#include "base/files.h"
#include "base/result.h"
#include "tokenizer/image.h"

namespace verbatim::tokenizer {

// Images as files, named by the SHA-256 of the tokenizer.json they were made from and the version
// of the format. A file is used only if all of it has the checksum in its header and every index in
// it is in range. Writers replace whole files, so two of them can't mix.
class ImageCache {
 public:
  ImageCache(base::Files& files, std::string folder) : files_(files), folder_(std::move(folder)) {}

  // Null where there is no usable image.
  [[nodiscard]] std::unique_ptr<const Image> find(const Fingerprint& source) const;
  // Failing to write is no failure of the caller's: the next start is slower, that's all. The
  // status is for logs and tests.
  base::Status put(const Image& image) const;

  [[nodiscard]] std::string path(const Fingerprint& source) const;

 private:
  base::Files& files_;
  std::string folder_;
};

}  // namespace verbatim::tokenizer
