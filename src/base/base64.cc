#include "base/base64.h"

#include <array>
#include <cstdint>

namespace verbatim::base {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNone = 64;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::uint8_t i = 0; i < kNone; ++i) values[static_cast<std::uint8_t>(kDigits[i])] = i;
  return values;
}();

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t three =
        byte_at(bytes, at) << 16 | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2);
    text += kDigits[three >> 18];
    text += kDigits[three >> 12 & 63];
    text += at + 1 < bytes.size() ? kDigits[three >> 6 & 63] : '=';
    text += at + 2 < bytes.size() ? kDigits[three & 63] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  const std::size_t digits = text.size() - padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::uint8_t value = at < digits ? kValues[static_cast<std::uint8_t>(text[at])] : 0;
    if (value == kNone) return std::nullopt;
    bits = bits << 6 | value;
    if (at % 4 != 3) continue;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(bits >> shift & 255);
    bits = 0;
  }
  bytes.resize(bytes.size() - padding);
  // Bits behind the last byte are zero, so that there is one spelling for each bytes.
  if (to_base64(std::string_view(bytes).substr(bytes.size() - bytes.size() % 3)) !=
      text.substr(text.size() - (bytes.size() % 3 == 0 ? 0 : 4)))
    return std::nullopt;
  return bytes;
}

}  // namespace verbatim::base
