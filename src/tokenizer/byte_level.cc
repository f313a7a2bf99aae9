#include "tokenizer/byte_level.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace verbatim::tokenizer {
namespace {

constexpr std::size_t kAlphabetEnd = 0x144;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

// Byte per character, -1 outside the alphabet.
constexpr std::array<std::int16_t, kAlphabetEnd> make_alphabet() {
  std::array<std::int16_t, kAlphabetEnd> bytes{};
  bytes.fill(-1);
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    bytes[stands_for_itself(byte) ? byte : next++] = static_cast<std::int16_t>(byte);
  }
  return bytes;
}

constexpr auto kAlphabet = make_alphabet();

}  // namespace

bool append_bytes_of_written(std::string_view written, std::string& out) {
  const std::size_t before = out.size();
  for (std::size_t at = 0; at < written.size();) {
    const base::Decoded next = base::decode_at(written, at);
    if (next.code_point >= kAlphabetEnd || kAlphabet[next.code_point] < 0) {
      out.resize(before);
      return false;
    }
    out.push_back(static_cast<char>(kAlphabet[next.code_point]));
    at += next.size;
  }
  return true;
}

std::optional<std::string> bytes_of_written(std::string_view written) {
  std::string bytes;
  if (!append_bytes_of_written(written, bytes)) return std::nullopt;
  return bytes;
}

std::string decoded_token(std::string_view written) {
  auto bytes = bytes_of_written(written);
  return bytes ? *std::move(bytes) : std::string(written);
}

}  // namespace verbatim::tokenizer
