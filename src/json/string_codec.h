#pragma once

#include <string>
#include <string_view>

namespace verbatim::json {

// Appends the text that the inside of a valid JSON string (without its quotes) stands for.
// Surrogate pairs are joined; a lone surrogate becomes U+FFFD.
void append_unescaped(std::string& out, std::string_view inside);

// Appends the escape of a character below 0x20, of '"' or of '\\': the short form where JSON has
// one, else \u00xx.
void append_escape(std::string& out, unsigned char c);

// Appends "\uxxxx" for a UTF-16 code unit.
void append_unit_escape(std::string& out, unsigned unit);

}  // namespace verbatim::json
