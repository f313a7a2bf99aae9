#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace verbatim::json {

// What Python's json.dumps prints for what json.loads read (CPython 3.11, Lib/json/encoder.py),
// byte for byte: the text chat templates put into prompts. Integers keep all digits, -0 prints 0,
// floats print as repr (1e-07, 1e+22, inf as Infinity), of equal keys the last value stands at the
// place of the first.
struct DumpOptions {
  bool ensure_ascii = false;               // the tojson filter of transformers
  std::string_view item_separator = ", ";  // with indent, Python's default is ","
  std::string_view key_separator = ": ";
  int indent = -1;         // -1: one line
  bool sort_keys = false;  // by code points
};
std::string dumps(const Value& value, const DumpOptions& options = {});
void append_dumps(std::string& out, const Value& value, const DumpOptions& options = {});

// repr(float) of Python: shortest digits, exponent form below 1e-4 and from 1e16 on; "inf", "nan".
std::string python_float_repr(double value);
// The string as dumps prints it, with quotes.
void append_dumped_string(std::string& out, std::string_view text, bool ensure_ascii);

}  // namespace verbatim::json
