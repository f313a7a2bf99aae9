#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace verbatim::json {

// Appends `text` as a JSON string with quotes: escapes ", \, control characters; everything else as
// it is. `text` must be UTF-8.
void append_string(std::string& out, std::string_view text);
// Shortest text that parses back to the same double, as JavaScript and most engines print it (1e-7
// -> 1e-07 is Python's, see dumps.h); `value` must be finite.
void append_double(std::string& out, double value);

// Writes compact JSON into a string of its own, commas and colons by itself. Misuse (a value
// without a key in an object) is a bug.
class Writer {
 public:
  Writer& begin_object();
  Writer& end_object();
  Writer& begin_array();
  Writer& end_array();
  Writer& key(std::string_view name);
  Writer& string(std::string_view text);
  Writer& integer(std::int64_t value);
  Writer& unsigned_integer(std::uint64_t value);
  Writer& number(double value);
  Writer& boolean(bool value);
  Writer& null();
  // Bytes that are JSON already (a raw number, a sub-document).
  Writer& raw(std::string_view json);

  // key + value in one call.
  Writer& field(std::string_view name, std::string_view text) { return key(name).string(text); }
  Writer& field(std::string_view name, const char* text) { return key(name).string(text); }
  Writer& field(std::string_view name, bool value) { return key(name).boolean(value); }
  Writer& field(std::string_view name, std::int64_t value) { return key(name).integer(value); }
  Writer& field(std::string_view name, int value) { return key(name).integer(value); }
  Writer& field(std::string_view name, std::uint64_t value) {
    return key(name).unsigned_integer(value);
  }
  Writer& field(std::string_view name, double value) { return key(name).number(value); }

  [[nodiscard]] const std::string& text() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void separate();
  std::string out_;
  bool need_comma_ = false;
};

}  // namespace verbatim::json
