#pragma once

#include <memory>
#include <string>

#include "tokenizer/tokenizer.h"

namespace verbatim::tokenizer::testing {

// tokenizer.json of a tokenizer whose vocabulary is the 256 bytes and what its merges need; the
// rest is as the caller says.
struct ToyFile {
  std::string normalizer = "null";
  std::string pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";
  std::string decoder = R"({"type":"ByteLevel"})";
  std::string added_tokens = "[]";
  std::string merges = R"([["l","l"],["h","e"],["he","ll"],["hell","o"]])";
  std::string
      more_vocab;  // ,"written":id ... behind the entries that `merges` above needs (256 to 259)
  std::string model_fields;  // ,"key":value ...
  std::string more_fields;

  [[nodiscard]] std::string json() const;
};

// Loads DIR/tokenizer.json out of memory.
base::Result<std::shared_ptr<const Tokenizer>> load_text(const std::string& json);
std::shared_ptr<const Tokenizer> toy(const ToyFile& file = {});
// The small vocabulary with chat tokens that the declarative cases use (found from the root of the
// repository).
std::shared_ptr<const Tokenizer> chat_toy();

TokenIds encoded(const Tokenizer& tokenizer, std::string_view text, const CallerText& caller = {});

}  // namespace verbatim::tokenizer::testing
