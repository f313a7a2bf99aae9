#pragma once

#include <string>

#include "base/result.h"
#include "tokenizer/definition.h"

namespace verbatim::tokenizer {

// Bytes that parsing wants to have reserved behind the text (it reads them, whatever they are).
inline constexpr std::size_t kJsonPadding = 64;

// Reads tokenizer.json of Hugging Face `tokenizers` (format version "1.0"). `json` is changed in
// capacity only. What this build can't do exactly is kUnsupported and names the component
// ("pre_tokenizer.type Metaspace"); what is malformed is kInvalidRequest and names the part. Parts
// without influence on ids here (truncation, padding, post_processor: nothing is added to a text)
// are not looked at.
base::Result<Definition> parse_definition(std::string& json);

}  // namespace verbatim::tokenizer
