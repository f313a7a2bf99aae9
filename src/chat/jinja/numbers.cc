#include "chat/jinja/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "chat/jinja/unicode.h"
#include "json/dumps.h"

namespace verbatim::chat::jinja {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;

// An integer of any size against a finite double that is at least 2^63 away from zero or has no
// fraction.
int compare_digits(std::string_view a, std::string_view b) {
  const bool negative = a.front() == '-';
  if (negative != (b.front() == '-')) return negative ? -1 : 1;
  const int longer = a.size() == b.size() ? a.compare(b) : (a.size() < b.size() ? -1 : 1);
  return (longer < 0 ? -1 : (longer > 0 ? 1 : 0)) * (negative ? -1 : 1);
}

std::string digits_of(double whole) {
  char text[400];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, whole, std::chars_format::fixed, 0);
  return {text, end};
}

int compare_integer_double(const Value& a, double b) {
  if (std::isinf(b)) return b > 0 ? -1 : 1;
  const double whole = std::floor(b);
  if (a.kind() != Kind::kBigInt && std::fabs(whole) < kTwo63) {
    const auto w = static_cast<std::int64_t>(whole);
    if (a.integer() != w) return a.integer() < w ? -1 : 1;
    return b > whole ? -1 : 0;
  }
  const int c = compare_digits(number_text(a), digits_of(whole));
  return c == 0 && b > whole ? -1 : c;
}

SourceId source_of(const Value& a, const Value& b) {
  return a.source() != kTemplate ? a.source() : b.source();
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}

double float_mod(double a, double b) {
  double m = std::fmod(a, b);
  if (m != 0) {
    if ((b < 0) != (m < 0)) m += b;
  } else {
    m = std::copysign(0.0, b);
  }
  return m;
}

double float_floor_div(double a, double b) {
  const double m = std::fmod(a, b);
  double div = (a - m) / b;
  if (m != 0 && ((b < 0) != (m < 0))) div -= 1.0;
  if (div == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(div);
  return div - floor > 0.5 ? floor + 1.0 : floor;
}

// False on overflow.
bool int_pow(std::int64_t base, std::int64_t exponent, std::int64_t& out) {
  out = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(out, base, &out)) return false;
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  return true;
}

Value too_big(Runtime& runtime) {
  return runtime.unsupported("arithmetic on integers beyond 64 bits");
}

Value integer_arithmetic(Runtime& runtime, Arithmetic op, std::int64_t a, std::int64_t b,
                         SourceId source) {
  std::int64_t out = 0;
  bool overflow = false;
  switch (op) {
    case Arithmetic::kAdd:
      overflow = __builtin_add_overflow(a, b, &out);
      break;
    case Arithmetic::kSub:
      overflow = __builtin_sub_overflow(a, b, &out);
      break;
    case Arithmetic::kMul:
      overflow = __builtin_mul_overflow(a, b, &out);
      break;
    case Arithmetic::kPow:
      if (b < 0 && a == 0) {
        return runtime.raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
      }
      if (b < 0) {
        return Value::floating(std::pow(static_cast<double>(a), static_cast<double>(b)), source);
      }
      overflow = !int_pow(a, b, out);
      break;
    case Arithmetic::kDiv:
      if (b == 0) return runtime.raise("ZeroDivisionError", "division by zero");
      return Value::floating(static_cast<double>(a) / static_cast<double>(b), source);
    case Arithmetic::kFloorDiv:
    case Arithmetic::kMod:
      if (b == 0) return runtime.raise("ZeroDivisionError", "integer division or modulo by zero");
      if (b == -1) {
        overflow = op == Arithmetic::kFloorDiv && __builtin_sub_overflow(std::int64_t{0}, a, &out);
        break;
      }
      out = op == Arithmetic::kMod ? a - floor_div(a, b) * b : floor_div(a, b);
      break;
  }
  return overflow ? too_big(runtime) : Value::integer(out, source);
}

Value float_arithmetic(Runtime& runtime, Arithmetic op, double a, double b, SourceId source) {
  switch (op) {
    case Arithmetic::kAdd:
      return Value::floating(a + b, source);
    case Arithmetic::kSub:
      return Value::floating(a - b, source);
    case Arithmetic::kMul:
      return Value::floating(a * b, source);
    case Arithmetic::kPow: {
      if (a == 0 && b < 0) {
        return runtime.raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
      }
      const double power = std::pow(a, b);
      if (std::isnan(power) && !std::isnan(a) && !std::isnan(b)) {
        return runtime.unsupported("complex numbers");
      }
      if (std::isinf(power) && std::isfinite(a) && std::isfinite(b)) {
        return runtime.raise("OverflowError", "result too large");
      }
      return Value::floating(power, source);
    }
    case Arithmetic::kDiv:
    case Arithmetic::kFloorDiv:
    case Arithmetic::kMod:
      break;
  }
  if (b == 0) return runtime.raise("ZeroDivisionError", "float division by zero");
  if (op == Arithmetic::kDiv) return Value::floating(a / b, source);
  return Value::floating(op == Arithmetic::kMod ? float_mod(a, b) : float_floor_div(a, b), source);
}

std::string_view stripped(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = decode(text, 0);
    if (!is_space(c.value)) break;
    text.remove_prefix(c.size);
  }
  while (!text.empty()) {
    const CodePoint c = decode_before(text, text.size());
    if (!is_space(c.value)) break;
    text.remove_suffix(c.size);
  }
  return text;
}

// Digits without the underscores Python allows between two of them; empty when there is something
// else.
std::string plain_digits(std::string_view text, int base) {
  std::string out;
  bool after_digit = false;
  for (const char c : text) {
    if (c == '_') {
      if (!after_digit) return {};
      after_digit = false;
      continue;
    }
    const int lower = (c >= 'A' && c <= 'Z') ? c + 32 : c;
    const int digit =
        c >= '0' && c <= '9' ? c - '0' : (lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99);
    if (digit >= base) return {};
    out += c;
    after_digit = true;
  }
  return after_digit ? out : std::string();
}

}  // namespace

std::string_view sign_of(Arithmetic op) {
  constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "//", "%", "**"};
  return kSigns[static_cast<int>(op)];
}

std::optional<int> compare_numbers(const Value& a, const Value& b) {
  const bool a_float = a.kind() == Kind::kFloat;
  const bool b_float = b.kind() == Kind::kFloat;
  if ((a_float && std::isnan(a.floating())) || (b_float && std::isnan(b.floating()))) return {};
  if (a_float && b_float) {
    return a.floating() < b.floating() ? -1 : (a.floating() > b.floating() ? 1 : 0);
  }
  if (b_float) return compare_integer_double(a, b.floating());
  if (a_float) return -compare_integer_double(b, a.floating());
  if (a.kind() == Kind::kBigInt || b.kind() == Kind::kBigInt) {
    return compare_digits(number_text(a), number_text(b));
  }
  return a.integer() < b.integer() ? -1 : (a.integer() > b.integer() ? 1 : 0);
}

double as_double(const Value& number) {
  if (number.kind() == Kind::kFloat) return number.floating();
  if (number.kind() == Kind::kBigInt)
    return std::strtod(std::string(number.text()).c_str(), nullptr);
  return static_cast<double>(number.integer());
}

Value arithmetic(Runtime& runtime, Arithmetic op, const Value& a, const Value& b) {
  const SourceId source = source_of(a, b);
  if (a.kind() == Kind::kFloat || b.kind() == Kind::kFloat) {
    return float_arithmetic(runtime, op, as_double(a), as_double(b), source);
  }
  if (a.kind() == Kind::kBigInt || b.kind() == Kind::kBigInt) return too_big(runtime);
  return integer_arithmetic(runtime, op, a.integer(), b.integer(), source);
}

Value negated(Runtime& runtime, const Value& value) {
  if (value.kind() == Kind::kFloat) return Value::floating(-value.floating(), value.source());
  if (value.kind() == Kind::kBigInt) return too_big(runtime);
  return arithmetic(runtime, Arithmetic::kSub, Value::integer(0), value);
}

std::optional<Value> parse_integer(std::string_view text, int base) {
  text = stripped(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const auto prefix = [&text](char small) {
    return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == small;
  };
  const int marked = prefix('x') ? 16 : (prefix('o') ? 8 : (prefix('b') ? 2 : 0));
  if (marked != 0 && (base == marked || base == 0)) {
    base = marked;
    text.remove_prefix(2);
    if (text.front() == '_') text.remove_prefix(1);
  } else if (base == 0) {
    base = 10;
    if (text.size() > 1 && text[0] == '0' &&
        text.find_first_not_of("0_") != std::string_view::npos) {
      return std::nullopt;
    }
  }
  if (base < 2 || base > 36) return std::nullopt;
  std::string digits = plain_digits(text, base);
  if (digits.empty()) return std::nullopt;
  if (negative) digits.insert(0, 1, '-');
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error == std::errc()) return Value::integer(value);
  if (base != 10) return std::nullopt;
  const std::size_t first = digits.find_first_not_of("-0");
  digits.erase(negative ? 1 : 0, first - (negative ? 1 : 0));
  Value text_value = Value::string(std::move(digits));
  text_value.object()->references.fetch_add(1, std::memory_order_relaxed);
  return Value::of(Kind::kBigInt, text_value.object());
}

std::optional<double> parse_float(std::string_view text) {
  text = stripped(text);
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit_at = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    if (text[i] == '_') {
      if (i == 0 || !digit_at(i - 1) || !digit_at(i + 1)) return std::nullopt;
      continue;
    }
    plain += static_cast<char>(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
  }
  std::string_view body = plain;
  const bool negative = !body.empty() && body[0] == '-';
  if (!body.empty() && (body[0] == '-' || body[0] == '+')) body.remove_prefix(1);
  if (body == "inf" || body == "infinity") return negative ? -HUGE_VAL : HUGE_VAL;
  if (body == "nan") return std::nan("");
  if (body.empty() || body.find_first_not_of("0123456789.e+-") != std::string_view::npos)
    return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (end != body.data() + body.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string(body).c_str(), nullptr);
  return negative ? -value : value;
}

std::optional<std::int64_t> truncated(double value) {
  if (!(std::fabs(value) < kTwo63)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::string number_text(const Value& number) {
  switch (number.kind()) {
    case Kind::kBool:
      return number.boolean() ? "1" : "0";
    case Kind::kFloat:
      return json::python_float_repr(number.floating());
    case Kind::kBigInt:
      return std::string(number.text());
    default:
      return std::to_string(number.integer());
  }
}

}  // namespace verbatim::chat::jinja
