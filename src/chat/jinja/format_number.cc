#include <cmath>
#include <cstdio>

#include "chat/jinja/format.h"
#include "chat/jinja/numbers.h"
#include "chat/jinja/unicode.h"
#include "json/dumps.h"

namespace verbatim::chat::jinja {
namespace {

constexpr std::string_view kLowerDigits = "0123456789abcdef";
constexpr std::string_view kUpperDigits = "0123456789ABCDEF";

std::string digits_in_base(std::uint64_t value, unsigned base,
                           std::string_view digits = kLowerDigits) {
  std::string out;
  do {
    out.insert(out.begin(), digits[value % base]);
    value /= base;
  } while (value != 0);
  return out;
}

std::string with_groups(const std::string& digits, char separator) {
  const std::size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && i < whole && (whole - i) % 3 == 0) out += separator;
    out += digits[i];
  }
  return out;
}

std::string format_integer(const Value& number, const Layout& layout, bool& negative) {
  if (number.kind() == Kind::kBigInt) {
    std::string digits(number.text());
    negative = digits.front() == '-';
    return negative ? digits.substr(1) : digits;
  }
  const std::int64_t value = number.integer();
  negative = value < 0;
  const auto magnitude =
      negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  switch (layout.type) {
    case 'x':
      return (layout.alternate ? "0x" : "") + digits_in_base(magnitude, 16);
    case 'X':
      return (layout.alternate ? "0X" : "") + digits_in_base(magnitude, 16, kUpperDigits);
    case 'o':
      return (layout.alternate ? "0o" : "") + digits_in_base(magnitude, 8);
    case 'b':
      return (layout.alternate ? "0b" : "") + digits_in_base(magnitude, 2);
    default:
      return digits_in_base(magnitude, 10);
  }
}

std::string format_float(double value, const Layout& layout) {
  value = std::fabs(value);
  const char type = layout.type == '%' ? 'f' : layout.type;
  if (layout.type == '%') value *= 100;
  if (!std::isfinite(value)) {
    const bool capital = type >= 'A' && type <= 'Z';
    return std::isnan(value) ? (capital ? "NAN" : "nan") : (capital ? "INF" : "inf");
  }
  if (type == '\0' && layout.precision < 0) return json::python_float_repr(value);
  const char printf_type = type == '\0' || type == 'n' ? 'g' : type;
  const int precision = layout.precision < 0 ? 6 : static_cast<int>(layout.precision);
  const char pattern[] = {'%', layout.alternate ? '#' : '-', '.', '*', printf_type, '\0'};
  const int size = std::snprintf(nullptr, 0, pattern, precision, value);
  std::string out(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(out.data(), out.size(), pattern, precision, value);
  out.pop_back();
  // Without a type there is always a digit behind the point, unless there is an exponent.
  if (type == '\0' && out.find_first_of(".e") == std::string::npos) out += ".0";
  return layout.type == '%' ? out + "%" : out;
}

}  // namespace

std::string format_number(Runtime& runtime, const Value& number, const Layout& layout) {
  constexpr std::int64_t kMaxPrecision = 400;
  if (layout.precision > kMaxPrecision) {
    runtime.unsupported("formats with a precision above 400");
    return {};
  }
  const bool integer_type =
      layout.type == '\0' || std::string_view("dxXobn").find(layout.type) != std::string_view::npos;
  bool negative = false;
  std::string digits;
  if (number.kind() != Kind::kFloat && integer_type) {
    if (layout.precision >= 0) {
      runtime.value_error("Precision not allowed in integer format specifier");
      return {};
    }
    if (number.kind() == Kind::kBigInt && layout.type != '\0' && layout.type != 'd') {
      runtime.unsupported("formatting a big integer in another base");
      return {};
    }
    digits = format_integer(number, layout, negative);
  } else if (std::string_view("eEfFgG%n").find(layout.type) != std::string_view::npos ||
             layout.type == '\0') {
    const double value = as_double(number);
    negative = std::signbit(value) && !std::isnan(value);
    digits = format_float(value, layout);
  } else {
    runtime.value_error(std::string("Unknown format code '") + layout.type +
                        "' for object of type " + type_name_quoted(number));
    return {};
  }
  if (layout.grouping != '\0') digits = with_groups(digits, layout.grouping);
  if (negative) return "-" + digits;
  return layout.sign == '-' ? digits : layout.sign + digits;
}

void append_padded(Runtime& runtime, TextBuilder& out, const Value& text, const Layout& layout,
                   SourceId source) {
  const auto size = static_cast<std::int64_t>(text.string_object().characters());
  const std::int64_t missing = layout.width - size;
  if (missing <= 0) return text.string_object().append_to(out);
  if (static_cast<std::uint64_t>(missing) + out.size() > runtime.options().max_output_bytes) {
    runtime.allocate(runtime.options().max_output_bytes + 1);
    return;
  }
  const std::string_view bytes = text.text();
  std::size_t head = 0;  // what stands before the padding
  std::int64_t left = missing;
  if (layout.align == '<') left = 0;
  if (layout.align == '^') left = missing / 2;
  if (layout.align == '=' && !bytes.empty() &&
      (bytes[0] == '-' || bytes[0] == '+' || bytes[0] == ' '))
    head = 1;
  if (layout.align == '=' && layout.alternate && bytes.size() > head + 1 && bytes[head] == '0')
    head += 2;
  text.string_object().append_part_to(out, 0, head);
  out.append(static_cast<std::size_t>(left), layout.fill, source);
  text.string_object().append_part_to(out, head, bytes.size());
  out.append(static_cast<std::size_t>(missing - left), layout.fill, source);
}

}  // namespace verbatim::chat::jinja
