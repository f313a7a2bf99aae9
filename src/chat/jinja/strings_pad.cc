#include <algorithm>

#include "chat/jinja/escape.h"
#include "chat/jinja/strings.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

void fill_with(TextBuilder& out, const Value& fill, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) fill.string_object().append_to(out);
}

}  // namespace

Value padded(Runtime& runtime, const Value& string, std::int64_t width, const Value& fill,
             Side side) {
  if (!expect_string(runtime, fill, "center")) return {};
  Value character = fill;
  if (string.is_markup() && !fill.is_markup()) {
    TextBuilder escaped;
    append_escaped(escaped, fill);
    character = Value::string(escaped.take());
  }
  if (character.string_object().characters() != 1) {
    return runtime.type_error("The fill character must be exactly one character long");
  }
  const auto size = static_cast<std::int64_t>(string.string_object().characters());
  const std::int64_t missing = width - size;
  if (missing <= 0) return string;
  if (static_cast<std::uint64_t>(missing) > runtime.options().max_output_bytes ||
      !runtime.step(static_cast<std::uint64_t>(missing) / 16)) {
    runtime.allocate(runtime.options().max_output_bytes + 1);
    return {};
  }
  // Where an odd place goes, CPython decides by the parities of both numbers.
  const std::int64_t left = side == Side::kBoth ? missing / 2 + (missing & width & 1)
                                                : (side == Side::kLeft ? missing : 0);
  TextBuilder out;
  fill_with(out, character, left);
  string.string_object().append_to(out);
  fill_with(out, character, missing - left);
  return runtime.make_string(std::move(out)).with_markup(string.is_markup());
}

Value zero_filled(Runtime& runtime, const Value& string, std::int64_t width) {
  const std::string_view text = string.text();
  const bool sign = !text.empty() && (text[0] == '+' || text[0] == '-');
  const Value zero = Value::string("0", string.source());
  if (!sign)
    return padded(runtime, string.with_markup(false), width, zero, Side::kLeft)
        .with_markup(string.is_markup());
  const Value rest = padded(runtime, substring(string, 1, text.size()).with_markup(false),
                            width - 1, zero, Side::kLeft);
  if (runtime.failed()) return {};
  TextBuilder out;
  string.string_object().append_part_to(out, 0, 1);
  rest.string_object().append_to(out);
  return runtime.make_string(std::move(out)).with_markup(string.is_markup());
}

Value expanded_tabs(Runtime& runtime, const Value& string, std::int64_t size) {
  const StringObject& object = string.string_object();
  if (!runtime.scan(object.text.size())) return {};
  TextBuilder out;
  std::int64_t column = 0;
  for (std::size_t at = 0; at < object.text.size();) {
    const CodePoint c = decode(object.text, at);
    if (c.value == '\t') {
      const std::int64_t count = size > 0 ? size - column % size : 0;
      if (static_cast<std::uint64_t>(count) + out.size() > runtime.options().max_output_bytes) {
        runtime.allocate(runtime.options().max_output_bytes + 1);
        return {};
      }
      out.append(static_cast<std::size_t>(count), ' ', object.source_at(at));
      column += count;
    } else {
      object.append_part_to(out, at, at + c.size);
      column = c.value == '\n' || c.value == '\r' ? 0 : column + 1;
    }
    at += c.size;
  }
  return runtime.make_string(std::move(out)).with_markup(string.is_markup());
}

}  // namespace verbatim::chat::jinja
