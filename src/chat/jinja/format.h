#pragma once

#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// format % values: printf-style formatting of Python.
Value format_percent(Runtime& runtime, const Value& format, const Value& values);
// format.format(*args, **kwargs): fields with attributes and items, conversions !r !s, format
// specifications for strings, integers and floats.
Value format_braces(Runtime& runtime, const Value& format, Arguments& arguments);

// How a number or text is laid out; the common part of both.
struct Layout {
  char fill = ' ';
  char align = '\0';  // '<' '>' '^' '='
  char sign = '-';    // '-' '+' ' '
  bool alternate = false;
  char grouping = '\0';
  std::int64_t width = 0;
  std::int64_t precision = -1;
  char type = '\0';
};
// Text of a number for a layout, with its sign, without padding; an error for types it does not
// know.
std::string format_number(Runtime& runtime, const Value& number, const Layout& layout);
// Appends text with padding; `numeric`: '=' pads between sign and digits.
void append_padded(Runtime& runtime, TextBuilder& out, const Value& text, const Layout& layout,
                   SourceId source);

}  // namespace verbatim::chat::jinja
