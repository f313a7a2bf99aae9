#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim::tokenizer {

// Canonical composition (NFC) as Hugging Face `tokenizers` 0.23.3 does it, whose normaliser knows
// an old version of Unicode: characters that are newer stay as they are. Algorithm: Unicode
// 16, 3.11.

// Where the first character of `text` stands that NFC might change or join with its neighbours;
// text.size() if there is none, and then NFC(text) is text.
[[nodiscard]] std::size_t first_unsettled(std::string_view text);

// A normalised text. `origin[i]` is the offset in the original of the character that byte i of
// `text` came from; it never decreases.
struct Normalized {
  std::string text;
  std::vector<std::uint32_t> origin;
};

// Replaces `out` by NFC(text). `text` is valid UTF-8, shorter than 4 GiB.
void normalize_nfc(std::string_view text, Normalized& out);

}  // namespace verbatim::tokenizer
