#include "base/utf8.h"

namespace verbatim::base {
namespace {

// What the first byte of a character says: how many bytes follow, and which second bytes are
// allowed.
struct Lead {
  unsigned follow = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xBF;
  bool ok = false;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {0, 0x80, 0xBF, true};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {1, 0x80, 0xBF, true};
  if (byte < 0xF0) {
    return {2, static_cast<std::uint8_t>(byte == 0xE0 ? 0xA0 : 0x80),
            static_cast<std::uint8_t>(byte == 0xED ? 0x9F : 0xBF), true};
  }
  if (byte < 0xF5) {
    return {3, static_cast<std::uint8_t>(byte == 0xF0 ? 0x90 : 0x80),
            static_cast<std::uint8_t>(byte == 0xF4 ? 0x8F : 0xBF), true};
  }
  return {};
}

enum class Shape { kComplete, kBroken, kUnfinished };

// The longest beginning of a character at `at`: its size and whether it is all of one.
struct Part {
  std::size_t size = 1;
  Shape shape = Shape::kBroken;
};

Part part_at(std::string_view bytes, std::size_t at) {
  const Lead lead = lead_of(static_cast<std::uint8_t>(bytes[at]));
  if (!lead.ok) return {};
  std::uint8_t low = lead.low;
  std::uint8_t high = lead.high;
  for (unsigned i = 1; i <= lead.follow; ++i) {
    if (at + i == bytes.size()) return {i, Shape::kUnfinished};
    const auto byte = static_cast<std::uint8_t>(bytes[at + i]);
    if (byte < low || byte > high) return {i, Shape::kBroken};
    low = 0x80;
    high = 0xBF;
  }
  return {lead.follow + 1, Shape::kComplete};
}

}  // namespace

Decoded checked_decode_at(std::string_view text, std::size_t at) {
  if (part_at(text, at).shape != Shape::kComplete) return {0, 0};
  return decode_at(text, at);
}

bool valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Part part = part_at(text, at);
    if (part.shape != Shape::kComplete) return false;
    at += part.size;
  }
  return true;
}

std::size_t append_lossy(std::string_view bytes, std::string& out) {
  std::size_t at = 0;
  std::size_t done = 0;  // what stands before `done` is in `out`
  while (at < bytes.size()) {
    const Part part = part_at(bytes, at);
    if (part.shape == Shape::kComplete) {
      at += part.size;
      continue;
    }
    out.append(bytes.substr(done, at - done));
    if (part.shape == Shape::kUnfinished) return part.size;
    out.append(kReplacement);
    at += part.size;
    done = at;
  }
  out.append(bytes.substr(done));
  return 0;
}

}  // namespace verbatim::base
