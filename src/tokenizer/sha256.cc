#include "tokenizer/sha256.h"

#include <cstdlib>

#include <openssl/evp.h>

namespace verbatim::tokenizer {

Sha256 sha256(std::span<const std::byte> bytes) {
  Sha256 hash{};
  if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(hash.data()), nullptr,
                 EVP_sha256(), nullptr) != 1) {
    std::abort();  // only an OpenSSL without SHA-256 does that
  }
  return hash;
}

std::string hex(const Sha256& hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const std::byte b : hash) {
    out += kDigits[std::to_integer<unsigned>(b) >> 4];
    out += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  return out;
}

}  // namespace verbatim::tokenizer
