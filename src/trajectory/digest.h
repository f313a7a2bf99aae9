#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace verbatim::trajectory {

// 128 bits of a keyed SHA-256. Index keys of turns: equal digests are taken for equal histories, so
// they must resist a client that looks for collisions.
struct Digest {
  std::array<std::uint8_t, 16> bytes{};
  auto operator<=>(const Digest&) const = default;
};

struct DigestHash {
  std::size_t operator()(const Digest& d) const noexcept {
    std::size_t word = 0;
    std::memcpy(&word, d.bytes.data(), sizeof word);
    return word;  // uniformly distributed already
  }
};

// Names the rule set below; part of every digest, so that a change of the rules can't match old
// digests.
inline constexpr std::uint8_t kDigestVersion = 1;

// Hashes length-prefixed, typed fields under a key: no two different field lists feed the same
// bytes. One at a time per instance; not thread-safe.
class DigestBuilder {
 public:
  explicit DigestBuilder(std::string_view key);
  DigestBuilder(const DigestBuilder&) = delete;
  DigestBuilder& operator=(const DigestBuilder&) = delete;
  ~DigestBuilder();

  DigestBuilder& add(char type, std::string_view bytes);
  DigestBuilder& add(const Digest& digest);
  // The digest of what was added since the last finish().
  Digest finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string pending_;
};

}  // namespace verbatim::trajectory
