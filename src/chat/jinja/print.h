#pragma once

#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// str(value) of Python, as {{ value }} prints it. What prints an address in Python (generators,
// methods) is an error.
void append_str(Runtime& runtime, TextBuilder& out, const Value& value);
// repr(value)
void append_repr(Runtime& runtime, TextBuilder& out, const Value& value);
// str(value) as a string value; strings stay what they are, but lose Markup.
Value to_str(Runtime& runtime, const Value& value);
// The same, but Markup stays Markup (markupsafe's soft_str).
Value to_soft_str(Runtime& runtime, const Value& value);

// The tojson filter of transformers: json.dumps(value, ensure_ascii=..., indent=...,
// separators=..., sort_keys=...).
struct JsonOptions {
  bool ensure_ascii = false;
  bool indented = false;
  std::string indent;  // one level of it
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sort_keys = false;
};
void append_json(Runtime& runtime, TextBuilder& out, const Value& value,
                 const JsonOptions& options);

}  // namespace verbatim::chat::jinja
