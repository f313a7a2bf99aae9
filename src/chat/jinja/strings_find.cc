#include <algorithm>
#include <cstring>

#include "chat/jinja/escape.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/print.h"
#include "chat/jinja/strings.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

std::size_t find_bytes(std::string_view text, std::string_view part, std::size_t from) {
  if (from > text.size()) return kNone;
  if (part.empty()) return from;
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found == nullptr ? kNone
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// The part [start, end) of a string that a method looks at, in bytes; false when it starts behind
// the string's end.
struct Window {
  std::size_t from = 0, to = 0;
};
bool window(Runtime& runtime, const Value& string, const Arguments& arguments, Window& out) {
  const Value none = Value::none();
  const auto at = [&](std::size_t i) -> const Value& {
    return arguments.positional.size() > i ? arguments.positional[i] : none;
  };
  const std::string_view text = string.text();
  out.to = text.size();
  if (at(1).is_none() && at(2).is_none()) return true;
  const auto size = static_cast<std::int64_t>(string.string_object().characters());
  SliceRange range;
  if (!slice_range(runtime, size, at(1), at(2), none, range)) return false;
  if (at(1).is_integral() && at(1).integer() > size) return false;
  if (range.start > range.stop) return false;
  out.from = character_offset(text, static_cast<std::size_t>(range.start));
  out.to = character_offset(text, static_cast<std::size_t>(range.stop - range.start), out.from);
  return true;
}

std::int64_t count_in(std::string_view text, std::string_view part) {
  if (part.empty()) return static_cast<std::int64_t>(count_characters(text)) + 1;
  std::int64_t count = 0;
  for (std::size_t at = find_bytes(text, part, 0); at != kNone;
       at = find_bytes(text, part, at + part.size()))
    ++count;
  return count;
}

bool matches(std::string_view text, std::string_view affix, Side side) {
  if (affix.size() > text.size()) return false;
  return text.substr(side == Side::kLeft ? 0 : text.size() - affix.size(), affix.size()) == affix;
}

void append(TextBuilder& out, const Value& string, bool escape) {
  if (escape && !string.is_markup()) {
    append_escaped(out, string);
  } else {
    string.string_object().append_to(out);
  }
}

}  // namespace

Value find_in(Runtime& runtime, const Value& string, Method method, Arguments& arguments) {
  if (!positional_only(runtime, "find", arguments, 1, 3)) return {};
  const Value& part = arguments.positional[0];
  if (!expect_string(runtime, part, "find")) return {};
  runtime.scan(string.text().size() * (method == Method::kRfind ? part.text().size() + 1 : 1));
  Window seen;
  const bool inside = window(runtime, string, arguments, seen);
  if (runtime.failed()) return {};
  const std::string_view text = string.text().substr(seen.from, seen.to - seen.from);
  if (method == Method::kCount) return Value::integer(inside ? count_in(text, part.text()) : 0);
  const bool from_right = method == Method::kRfind || method == Method::kRindex;
  const std::size_t found =
      !inside ? kNone : (from_right ? text.rfind(part.text()) : find_bytes(text, part.text(), 0));
  if (found != kNone) {
    const std::string_view before = string.text().substr(0, seen.from + found);
    return Value::integer(static_cast<std::int64_t>(count_characters(before)));
  }
  if (method == Method::kIndex || method == Method::kRindex)
    return runtime.value_error("substring not found");
  return Value::integer(-1);
}

Value has_affix(Runtime& runtime, const Value& string, Side side, Arguments& arguments) {
  const std::string_view name = side == Side::kLeft ? "startswith" : "endswith";
  if (!positional_only(runtime, name, arguments, 1, 3)) return {};
  Window seen;
  const bool inside = window(runtime, string, arguments, seen);
  if (runtime.failed()) return {};
  const std::string_view text = string.text().substr(seen.from, seen.to - seen.from);
  const Value& affix = arguments.positional[0];
  if (affix.kind() == Kind::kTuple) {
    for (const Value& one : affix.items()) {
      if (!expect_string(runtime, one, name)) return {};
      if (inside && matches(text, one.text(), side)) return Value::boolean(true);
    }
    return Value::boolean(false);
  }
  if (!affix.is_string()) {
    return runtime.type_error(std::string(name) + " first arg must be str or a tuple of str, not " +
                              std::string(type_name(affix)));
  }
  return Value::boolean(inside && matches(text, affix.text(), side));
}

Value replaced(Runtime& runtime, const Value& string, const Value& from, const Value& to,
               std::int64_t most) {
  if (!expect_string(runtime, from, "replace") || !expect_string(runtime, to, "replace")) return {};
  const StringObject& object = string.string_object();
  const std::string_view text = object.text;
  if (!runtime.scan(text.size())) return {};
  TextBuilder out;
  std::size_t done = 0;
  for (std::size_t at = 0; most != 0; --most) {
    at = find_bytes(text, from.text(), at);
    if (at == kNone) break;
    object.append_part_to(out, done, at);
    append(out, to, string.is_markup());
    done = at + from.text().size();
    if (!runtime.step()) return {};
    if (out.size() > runtime.options().max_output_bytes) break;  // make_string() says so
    // An empty text is found before every character and at the end.
    at = from.text().empty() ? at + std::max<std::size_t>(decode(text, at).size, 1) : done;
  }
  if (done == 0 && out.empty()) return string;
  object.append_part_to(out, done, text.size());
  return runtime.make_string(std::move(out)).with_markup(string.is_markup());
}

Value joined(Runtime& runtime, const Value& separator, const Value& items) {
  TextBuilder out;
  Iteration iteration(runtime, items);
  std::size_t count = 0;
  for (Value item; iteration.next(item); ++count) {
    if (!item.is_string() && separator.is_markup())
      item = to_str(runtime, item);  // escape() makes text of anything
    if (!item.is_string()) {
      return runtime.type_error("sequence item " + std::to_string(count) +
                                ": expected str instance, " + std::string(type_name(item)) +
                                " found");
    }
    if (count != 0) separator.string_object().append_to(out);
    append(out, item, separator.is_markup());
    if (out.size() > runtime.options().max_output_bytes) break;
  }
  if (runtime.failed()) return {};
  return runtime.make_string(std::move(out)).with_markup(separator.is_markup());
}

}  // namespace verbatim::chat::jinja
