#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace verbatim::chat::jinja {

enum class TokenKind : std::uint8_t {
  kData,
  kVariableBegin,
  kVariableEnd,
  kBlockBegin,
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint32_t line = 1;
  std::string text;  // data, name, unescaped string, digits without underscores, operator
};

// Cuts a template into tokens by the rules of Jinja2 3.1 with trim_blocks and lstrip_blocks set,
// "\n" for every line end and one line end at the end of the template dropped. Comments vanish, raw
// blocks become data. Errors name the line.
base::Result<std::vector<Token>> tokenize(std::string_view source);

base::Error syntax_error(std::uint32_t line, std::string message);

}  // namespace verbatim::chat::jinja
