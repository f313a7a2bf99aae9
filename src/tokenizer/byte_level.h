#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace verbatim::tokenizer {

// Vocabularies of byte-level BPE are written in an alphabet of 256 printable characters, one per
// byte (from GPT-2; `ByteLevel` of Hugging Face `tokenizers`): printable Latin-1 stands for itself,
// the other bytes are U+0100, U+0101, ... in order.

// The bytes that `written` stands for; none if it has a character outside the alphabet.
[[nodiscard]] std::optional<std::string> bytes_of_written(std::string_view written);

// The same appended to `out`. False, with `out` as it was, for a character outside the alphabet.
[[nodiscard]] bool append_bytes_of_written(std::string_view written, std::string& out);

// What a token's text decodes to: the bytes it stands for or, with a character outside the
// alphabet, the text as it is.
[[nodiscard]] std::string decoded_token(std::string_view written);

}  // namespace verbatim::tokenizer
