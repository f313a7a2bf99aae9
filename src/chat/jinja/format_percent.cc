#include <cmath>

#include "base/utf8.h"
#include "chat/jinja/escape.h"
#include "chat/jinja/format.h"
#include "chat/jinja/numbers.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/print.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 30;

class PercentFormatter {
 public:
  PercentFormatter(Runtime& runtime, const Value& format, const Value& values)
      : runtime_(runtime),
        format_(format),
        values_(values),
        is_tuple_(values.kind() == Kind::kTuple),
        is_map_(values.kind() == Kind::kDict) {}

  Value run() {
    const std::string_view text = format_.text();
    std::size_t done = 0;
    while (!runtime_.failed()) {
      const std::size_t at = text.find('%', done);
      if (at == std::string_view::npos) break;
      format_.string_object().append_part_to(out_, done, at);
      source_ = format_.string_object().source_at(at);
      at_ = at + 1;
      directive(text);
      done = at_;
      if (!runtime_.step() || !runtime_.allocate(0)) return {};
    }
    if (runtime_.failed()) return {};
    format_.string_object().append_part_to(out_, done, text.size());
    const bool used_up = is_tuple_ ? used_ == values_.items().size() : (used_ != 0 || has_items());
    if (!used_up)
      return runtime_.type_error("not all arguments converted during string formatting");
    return runtime_.make_string(std::move(out_)).with_markup(format_.is_markup());
  }

 private:
  // What counts as a mapping here need not be used up: everything with [], but strings and tuples.
  [[nodiscard]] bool has_items() const {
    return is_map_ || values_.kind() == Kind::kList || values_.kind() == Kind::kRange ||
           values_.is_undefined();
  }

  Value bad(const char* message) { return runtime_.value_error(message); }

  // The value of the next directive.
  Value next_value() {
    if (named_.is_string()) return named_value();
    if (is_tuple_ && used_ < values_.items().size()) return values_.items()[used_++];
    if (!is_tuple_ && used_++ == 0) return values_;
    return runtime_.type_error("not enough arguments for format string");
  }

  Value named_value() {
    if (!is_map_) return runtime_.type_error("format requires a mapping");
    const Value* found = values_.dict_object().find(named_.text());
    if (found != nullptr) return *found;
    return runtime_.raise("KeyError", "'" + std::string(named_.text()) + "'");
  }

  // Digits, or * for a value.
  std::int64_t count(std::string_view text) {
    if (at_ < text.size() && text[at_] == '*') {
      ++at_;
      const Value value = next_value();
      if (!runtime_.failed() && !value.is_integral()) runtime_.type_error("* wants int");
      return runtime_.failed() ? 0 : value.integer();
    }
    std::int64_t value = 0;
    while (at_ < text.size() && text[at_] >= '0' && text[at_] <= '9') {
      value = value * 10 + (text[at_++] - '0');
      if (value > kMaxWidth) bad("width too big");
      value = std::min(value, kMaxWidth);
    }
    return value;
  }

  void name(std::string_view text) {
    named_ = Value();
    if (at_ >= text.size() || text[at_] != '(') return;
    std::size_t depth = 1;
    const std::size_t start = ++at_;
    for (; at_ < text.size() && depth > 0; ++at_) {
      if (text[at_] == '(') ++depth;
      if (text[at_] == ')') --depth;
    }
    if (depth > 0) {
      bad("incomplete format key");
      return;
    }
    named_ = Value::string(std::string(text.substr(start, at_ - 1 - start)));
  }

  void directive(std::string_view text) {
    Layout layout;
    name(text);
    bool zero = false;
    layout.align = '>';
    for (; at_ < text.size(); ++at_) {
      const char flag = text[at_];
      if (flag == '-') {
        layout.align = '<';
      } else if (flag == '+') {
        layout.sign = '+';
      } else if (flag == ' ') {
        if (layout.sign != '+') layout.sign = ' ';
      } else if (flag == '#') {
        layout.alternate = true;
      } else if (flag == '0') {
        zero = true;
      } else {
        break;
      }
    }
    layout.width = count(text);
    if (layout.width < 0) {
      layout.align = '<';
      layout.width = -layout.width;
    }
    if (at_ < text.size() && text[at_] == '.') {
      ++at_;
      layout.precision = std::max<std::int64_t>(count(text), 0);
    }
    while (at_ < text.size() && (text[at_] == 'l' || text[at_] == 'h' || text[at_] == 'L')) ++at_;
    if (runtime_.failed()) return;
    if (at_ >= text.size()) {
      bad("incomplete format");
      return;
    }
    layout.type = text[at_++];
    convert(layout, zero);
  }

  void convert(Layout layout, bool zero) {
    if (layout.type == '%') return out_.append("%", source_);
    const Value value = next_value();
    if (runtime_.failed()) return;
    switch (layout.type) {
      case 's':
      case 'r':
      case 'a':
        return append_text(layout, value);
      case 'c':
        return append_character(layout, value);
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return append_integer(layout, value, zero);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        if (!value.is_number()) {
          runtime_.type_error("must be real number, not " + std::string(type_name(value)));
          return;
        }
        if (zero && layout.align != '<') pad_with_zeros(layout);
        return append_number(layout, Value::floating(as_double(value), value.source()));
      default:
        bad("unsupported format character");
    }
  }

  static void pad_with_zeros(Layout& layout) {
    layout.align = '=';
    layout.fill = '0';
  }

  void append_text(const Layout& layout, const Value& value) {
    if (layout.type == 'a') {
      runtime_.unsupported("%a in formats");
      return;
    }
    TextBuilder text;
    if (layout.type == 's') {
      append_str(runtime_, text, value);
    } else {
      append_repr(runtime_, text, value);
    }
    if (runtime_.failed()) return;
    Value string = Value::string(text.take());
    if (format_.is_markup() && !(layout.type == 's' && value.is_markup())) {
      TextBuilder escaped;
      append_escaped(escaped, string);
      string = Value::string(escaped.take());
    }
    if (layout.precision >= 0) {
      string =
          slice(runtime_, string, Value::none(), Value::integer(layout.precision), Value::none());
    }
    append_padded(runtime_, out_, string, layout, source_);
  }

  void append_character(const Layout& layout, const Value& value) {
    Value character = value;
    if (value.is_integral()) {
      const std::int64_t code = value.integer();
      if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
        runtime_.raise("OverflowError", "%c arg not in range(0x110000)");
        return;
      }
      std::string text;
      base::append_utf8(text, static_cast<char32_t>(code));
      character = Value::string(std::move(text), value.source());
    }
    if (!character.is_string() || character.string_object().characters() != 1) {
      runtime_.type_error("%c requires int or char");
      return;
    }
    append_padded(runtime_, out_, character, layout, source_);
  }

  void append_integer(Layout layout, const Value& value, bool zero) {
    Value number = value;
    const bool decimal = layout.type == 'd' || layout.type == 'i' || layout.type == 'u';
    if (value.kind() == Kind::kFloat && decimal) {
      const auto whole = truncated(value.floating());
      if (!whole) {
        runtime_.unsupported("formatting a float beyond 64 bits as an integer");
        return;
      }
      number = Value::integer(*whole, value.source());
    }
    if (!number.is_integral() && number.kind() != Kind::kBigInt) {
      runtime_.type_error(std::string("%") + layout.type +
                          " format: a real number is required, not " +
                          std::string(type_name(value)));
      return;
    }
    if (decimal) layout.type = 'd';
    if (layout.precision > 0) {
      runtime_.unsupported("a precision for integers in % formats");
      return;
    }
    layout.precision = -1;
    if (zero && layout.align != '<') pad_with_zeros(layout);
    append_number(layout, number);
  }

  void append_number(const Layout& layout, const Value& number) {
    std::string text = format_number(runtime_, number, layout);
    if (runtime_.failed()) return;
    append_padded(runtime_, out_, Value::string(std::move(text), number.source()), layout, source_);
  }

  Runtime& runtime_;
  const Value& format_;
  const Value& values_;
  bool is_tuple_, is_map_;
  std::size_t used_ = 0;
  std::size_t at_ = 0;
  SourceId source_ = kTemplate;
  Value named_;
  TextBuilder out_;
};

}  // namespace

Value format_percent(Runtime& runtime, const Value& format, const Value& values) {
  if (!runtime.scan(format.text().size())) return {};
  return PercentFormatter(runtime, format, values).run();
}

}  // namespace verbatim::chat::jinja
