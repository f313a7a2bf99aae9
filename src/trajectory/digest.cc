#include "trajectory/digest.h"

#include <algorithm>
#include <cstdlib>

#include <openssl/evp.h>

namespace verbatim::trajectory {

struct DigestBuilder::Impl {
  EVP_MD* md = nullptr;
  EVP_MD_CTX* keyed = nullptr;  // state behind the key: copied instead of hashing the key each time
  EVP_MD_CTX* work = nullptr;
};

namespace {
// libcrypto fails here only when it is broken or out of memory.
void require(int ok) {
  if (ok != 1) std::abort();
}
}  // namespace

DigestBuilder::DigestBuilder(std::string_view key) : impl_(std::make_unique<Impl>()) {
  impl_->md = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  impl_->keyed = EVP_MD_CTX_new();
  impl_->work = EVP_MD_CTX_new();
  require(EVP_DigestInit_ex2(impl_->keyed, impl_->md, nullptr));
  // A whole block of key: nothing of it is hashed again per digest.
  std::string block(key);
  block.resize(63, '\0');
  block += static_cast<char>(kDigestVersion);
  require(EVP_DigestUpdate(impl_->keyed, block.data(), block.size()));
}

DigestBuilder::~DigestBuilder() {
  EVP_MD_CTX_free(impl_->work);
  EVP_MD_CTX_free(impl_->keyed);
  EVP_MD_free(impl_->md);
}

DigestBuilder& DigestBuilder::add(char type, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  char head[9];
  head[0] = type;
  std::memcpy(head + 1, &size, sizeof size);
  pending_.append(head, sizeof head).append(bytes);
  return *this;
}

DigestBuilder& DigestBuilder::add(const Digest& digest) {
  return add('d', std::string_view(reinterpret_cast<const char*>(digest.bytes.data()),
                                   digest.bytes.size()));
}

Digest DigestBuilder::finish() {
  require(EVP_MD_CTX_copy_ex(impl_->work, impl_->keyed));
  require(EVP_DigestUpdate(impl_->work, pending_.data(), pending_.size()));
  pending_.clear();
  std::array<std::uint8_t, 32> full{};
  require(EVP_DigestFinal_ex(impl_->work, full.data(), nullptr));
  Digest digest;
  std::copy_n(full.begin(), digest.bytes.size(), digest.bytes.begin());
  return digest;
}

}  // namespace verbatim::trajectory
