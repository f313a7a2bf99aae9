#include "gateway/handles.h"

#include <array>
#include <cstring>

namespace verbatim::gateway {

namespace {

constexpr std::size_t kLetters = 24;
constexpr std::size_t kMaxText = 40;
constexpr std::size_t kBytes = 17;  // 136 bits; 24 letters hold 142
constexpr unsigned kBase = 62;
constexpr std::string_view kAlphabet =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

using Bytes = std::array<std::uint8_t, kBytes>;

void put(Bytes& bytes, std::size_t at, std::uint64_t number) {
  for (std::size_t i = 0; i < 8; ++i)
    bytes[at + i] = static_cast<std::uint8_t>(number >> (8 * (7 - i)));
}

std::uint64_t number_at(const Bytes& bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | bytes[at + i];
  return number;
}

std::string letters_of(Bytes bytes) {
  std::string letters(kLetters, kAlphabet[0]);
  for (std::size_t i = kLetters; i-- > 0;) {
    unsigned rest = 0;
    for (auto& byte : bytes) {
      rest = rest << 8 | byte;
      byte = static_cast<std::uint8_t>(rest / kBase);
      rest %= kBase;
    }
    letters[i] = kAlphabet[rest];
  }
  return letters;
}

// Nothing where a letter is none of ours, or the number is too large for the bytes.
std::optional<Bytes> bytes_of(std::string_view letters) {
  Bytes bytes{};
  for (const char letter : letters) {
    const auto digit = kAlphabet.find(letter);
    if (digit == std::string_view::npos) return {};
    unsigned carry = static_cast<unsigned>(digit);
    for (std::size_t i = kBytes; i-- > 0;) {
      carry += bytes[i] * kBase;
      bytes[i] = static_cast<std::uint8_t>(carry);
      carry >>= 8;
    }
    if (carry != 0) return {};
  }
  return bytes;
}

}  // namespace

std::uint64_t Handles::mac(std::string_view scope, const Handle& handle) {
  Bytes bytes{};
  put(bytes, 0, handle.turn);
  bytes[8] = handle.item;
  const std::string_view named(reinterpret_cast<const char*>(bytes.data()), 9);
  const auto digest = digests_.add('H', scope).add('n', named).finish();
  std::uint64_t mac = 0;
  std::memcpy(&mac, digest.bytes.data(), sizeof mac);
  return mac;
}

std::string Handles::make(std::string_view prefix, std::string_view scope, const Handle& handle) {
  Bytes bytes{};
  put(bytes, 0, handle.turn);
  bytes[8] = handle.item;
  put(bytes, 9, mac(scope, handle));
  return std::string(prefix) + letters_of(bytes);
}

std::optional<Handle> Handles::read(std::string_view text, std::string_view scope) {
  if (text.size() < kLetters || text.size() > kMaxText) return {};
  const auto bytes = bytes_of(text.substr(text.size() - kLetters));
  if (!bytes) return {};
  const Handle handle{number_at(*bytes, 0), (*bytes)[8]};
  if (number_at(*bytes, 9) != mac(scope, handle)) return {};
  return handle;
}

}  // namespace verbatim::gateway
