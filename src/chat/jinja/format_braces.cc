#include <algorithm>

#include "chat/jinja/attributes.h"
#include "chat/jinja/escape.h"
#include "chat/jinja/format.h"
#include "chat/jinja/numbers.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/print.h"

namespace verbatim::chat::jinja {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 30;
constexpr std::size_t kNone = std::string_view::npos;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == kNone;
}

class BraceFormatter {
 public:
  BraceFormatter(Runtime& runtime, const Value& format, const Arguments& arguments)
      : runtime_(runtime), format_(format), arguments_(arguments) {}

  Value run() {
    const std::string_view text = format_.text();
    std::size_t done = 0;
    while (!runtime_.failed() && runtime_.step()) {
      const std::size_t at = text.find_first_of("{}", done);
      if (at == kNone) break;
      const bool doubled = at + 1 < text.size() && text[at + 1] == text[at];
      format_.string_object().append_part_to(out_, done, doubled ? at + 1 : at);
      if (doubled) {
        done = at + 2;
        continue;
      }
      if (text[at] == '}') return runtime_.value_error("Single '}' encountered in format string");
      const std::size_t end = field_end(text, at + 1);
      if (end == kNone) return runtime_.value_error("expected '}' before end of string");
      source_ = format_.string_object().source_at(at);
      field(text.substr(at + 1, end - at - 1));
      done = end + 1;
      if (out_.size() > runtime_.options().max_output_bytes) break;
    }
    if (runtime_.failed()) return {};
    format_.string_object().append_part_to(out_, done, text.size());
    return runtime_.make_string(std::move(out_)).with_markup(format_.is_markup());
  }

 private:
  static std::size_t field_end(std::string_view text, std::size_t at) {
    int depth = 1;
    for (; at < text.size(); ++at) {
      if (text[at] == '{') ++depth;
      if (text[at] == '}' && --depth == 0) return at;
    }
    return kNone;
  }

  // "name.attribute[item]!r:specification"
  void field(std::string_view text) {
    const std::size_t bracket = text.find('[');
    std::size_t stop = text.find_first_of("!:");
    if (bracket < stop) {
      const std::size_t close = text.rfind(']');
      stop = close == kNone ? kNone : text.find_first_of("!:", close);
    }
    const std::string_view path = text.substr(0, std::min(stop, text.size()));
    std::string_view rest = stop == kNone ? std::string_view() : text.substr(stop);
    char conversion = '\0';
    if (!rest.empty() && rest[0] == '!') {
      if (rest.size() < 2 || (rest.size() > 2 && rest[2] != ':')) {
        runtime_.value_error("expected ':' after conversion specifier");
        return;
      }
      conversion = rest[1];
      rest.remove_prefix(2);
    }
    if (!rest.empty()) rest.remove_prefix(1);
    if (rest.find_first_of("{}") != kNone) {
      runtime_.unsupported("fields inside of format specifications");
      return;
    }
    const Value value = look_up(path);
    if (!runtime_.failed()) print(value, conversion, rest);
  }

  // `path`: the whole field; as in string.Formatter only a field without any path is numbered by
  // itself.
  Value first_value(std::string_view name, std::string_view path) {
    const bool automatic = path.empty();
    if (automatic || all_digits(name)) {
      if (numbering_ != '\0' && (numbering_ == 'a') != automatic) {
        return runtime_.value_error(
            "cannot switch between manual field specification and automatic field numbering");
      }
      numbering_ = automatic ? 'a' : 'm';
      const std::int64_t at =
          automatic ? next_++ : parse_integer(name, 10).value_or(Value::integer(-1)).integer();
      if (at < 0 || at >= static_cast<std::int64_t>(arguments_.positional.size())) {
        return runtime_.raise("IndexError",
                              "Replacement index out of range for positional args tuple");
      }
      return arguments_.positional[static_cast<std::size_t>(at)];
    }
    for (const auto& [key, value] : arguments_.named) {
      if (key.text() == name) return value;
    }
    return runtime_.raise("KeyError", "'" + std::string(name) + "'");
  }

  Value look_up(std::string_view path) {
    std::size_t at = std::min(path.find_first_of(".["), path.size());
    Value value = first_value(path.substr(0, at), path);
    while (at < path.size() && !runtime_.failed()) {
      if (path[at] == '.') {
        const std::size_t end = std::min(path.find_first_of(".[", at + 1), path.size());
        const std::string_view name = path.substr(at + 1, end - at - 1);
        if (name.empty()) return runtime_.value_error("Empty attribute in format string");
        value =
            get_attribute(runtime_, value, Value::string(std::string(name)), find_attribute(name));
        at = end;
        continue;
      }
      const std::size_t end = path.find(']', at);
      if (path[at] != '[' || end == kNone)
        return runtime_.value_error("Missing ']' in format string");
      const std::string_view name = path.substr(at + 1, end - at - 1);
      if (name.empty()) return runtime_.value_error("Empty attribute in format string");
      const auto number = all_digits(name) ? parse_integer(name, 10) : std::nullopt;
      value = get_item(runtime_, value, number ? *number : Value::string(std::string(name)));
      at = end + 1;
    }
    return value;
  }

  void print(const Value& value, char conversion, std::string_view specification) {
    Value converted = value;
    if (conversion == 'r' || conversion == 's') {
      TextBuilder text;
      if (conversion == 'r') {
        append_repr(runtime_, text, value);
      } else {
        append_str(runtime_, text, value);
      }
      converted = Value::string(text.take());
    } else if (conversion != '\0') {
      runtime_.unsupported(std::string("conversion !") + conversion + " in formats");
      return;
    }
    if (converted.is_markup() && format_.is_markup() && !specification.empty()) {
      runtime_.value_error("Unsupported format specification for Markup.");
      return;
    }
    TextBuilder text;
    append_formatted(text, converted, specification);
    if (runtime_.failed()) return;
    const Value done = Value::string(text.take());
    if (format_.is_markup() && !converted.is_markup()) {
      append_escaped(out_, done);
    } else {
      done.string_object().append_to(out_);
    }
  }

  // format(value, specification)
  void append_formatted(TextBuilder& text, const Value& value, std::string_view specification) {
    if (specification.empty()) return append_str(runtime_, text, value);
    Layout layout;
    if (!parse(specification, layout)) {
      runtime_.value_error("Invalid format specifier");
      return;
    }
    if (value.is_number()) return append_number(text, value, layout);
    if (!value.is_string()) {
      runtime_.type_error("unsupported format string passed to " + std::string(type_name(value)) +
                          ".__format__");
      return;
    }
    const bool for_numbers =
        layout.sign != '-' || layout.alternate || layout.grouping != '\0' || layout.align == '=';
    if (for_numbers || (layout.type != '\0' && layout.type != 's')) {
      runtime_.value_error("format specification not allowed for strings");
      return;
    }
    if (layout.align == '\0') layout.align = '<';
    Value string = value;
    if (layout.precision >= 0) {
      string =
          slice(runtime_, string, Value::none(), Value::integer(layout.precision), Value::none());
    }
    append_padded(runtime_, text, string, layout, source_);
  }

  void append_number(TextBuilder& text, const Value& value, Layout layout) {
    if (value.kind() == Kind::kBool && layout.type == '\0') {
      // bool.__format__ is int's, but without a type it prints as a number, too.
      layout.type = 'd';
    }
    if (layout.align == '\0') layout.align = '>';
    std::string digits = format_number(runtime_, value, layout);
    if (runtime_.failed()) return;
    if (layout.grouping != '\0' && layout.align == '=' && layout.fill == '0') {
      runtime_.unsupported("zero padding together with grouping");
      return;
    }
    append_padded(runtime_, text, Value::string(std::move(digits), value.source()), layout,
                  source_);
  }

  // [[fill]align][sign][#][0][width][grouping][.precision][type]
  static bool parse(std::string_view text, Layout& layout) {
    const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
    if (text.size() > 1 && is_align(text[1])) {
      if (static_cast<unsigned char>(text[0]) >= 0x80) return false;
      layout.fill = text[0];
      layout.align = text[1];
      text.remove_prefix(2);
    } else if (!text.empty() && is_align(text[0])) {
      layout.align = text[0];
      text.remove_prefix(1);
    }
    const auto take = [&text](char c) {
      if (text.empty() || text[0] != c) return false;
      text.remove_prefix(1);
      return true;
    };
    for (const char sign : {'+', '-', ' '}) {
      if (take(sign)) {
        layout.sign = sign;
        break;
      }
    }
    layout.alternate = take('#');
    if (take('0')) {
      if (layout.align == '\0') {
        layout.fill = '0';
        layout.align = '=';
      }
    }
    const auto number = [&text](std::int64_t& value) {
      const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
      if (size == 0 || size > 9) return false;
      value = parse_integer(text.substr(0, size), 10)->integer();
      text.remove_prefix(size);
      return value <= kMaxWidth;
    };
    if (!text.empty() && text[0] >= '0' && text[0] <= '9' && !number(layout.width)) return false;
    if (take(',')) layout.grouping = ',';
    if (take('_')) layout.grouping = '_';
    if (take('.') && !number(layout.precision)) return false;
    if (!text.empty()) {
      layout.type = text[0];
      text.remove_prefix(1);
    }
    return text.empty();
  }

  Runtime& runtime_;
  const Value& format_;
  const Arguments& arguments_;
  TextBuilder out_;
  SourceId source_ = kTemplate;
  std::int64_t next_ = 0;
  char numbering_ = '\0';
};

}  // namespace

Value format_braces(Runtime& runtime, const Value& format, Arguments& arguments) {
  if (!runtime.scan(format.text().size())) return {};
  return BraceFormatter(runtime, format, arguments).run();
}

}  // namespace verbatim::chat::jinja
