#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "chat/jinja/arguments.h"
#include "chat/jinja/attributes.h"
#include "chat/jinja/filters_list.h"
#include "chat/jinja/macro.h"
#include "chat/jinja/operations.h"

namespace verbatim::chat::jinja::filter {
namespace {

// round(x, digits) of Python: the decimal that is nearest to the binary value, halves to even.
Value rounded(Runtime& runtime, const Value& value, std::int64_t digits) {
  if (value.kind() != Kind::kFloat) {
    if (digits < 0) return runtime.unsupported("rounding integers to tens");
    return value.kind() == Kind::kBool ? Value::integer(value.integer(), value.source()) : value;
  }
  if (!std::isfinite(value.floating())) return value;
  if (digits < 0) return runtime.unsupported("rounding floats to tens");
  if (digits > 322) return value;
  char text[700];
  std::snprintf(text, sizeof text, "%.*f", static_cast<int>(digits), value.floating());
  return Value::floating(std::strtod(text, nullptr), value.source());
}

}  // namespace

Value absolute(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!bind(runtime, "abs", arguments, {}, 0, nullptr)) return {};
  if (!input.is_number())
    return runtime.type_error("bad operand type for abs(): " + type_name_quoted(input));
  if (input.kind() == Kind::kFloat)
    return Value::floating(std::fabs(input.floating()), input.source());
  const bool negative = *compare_numbers(input, Value::integer(0)) < 0;
  if (negative) return negated(runtime, input);
  return input.kind() == Kind::kBool ? Value::integer(input.integer(), input.source()) : input;
}

Value attribute(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value name;
  if (!bind(runtime, "attr", arguments, {"name"}, 1, &name)) return {};
  if (!name.is_string()) return runtime.type_error("attribute name must be string");
  return get_attribute_only(runtime, input, name);
}

Value otherwise(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[2];
  if (!bind(runtime, "default", arguments, {"default_value", "boolean"}, 0, given)) return {};
  const bool replace = input.is_undefined() || (flag_argument(given[1]) && !truthy(input));
  if (!replace) return input;
  return given[0].is_missing() ? Value::string(std::string()) : given[0];
}

Value length(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!bind(runtime, "length", arguments, {}, 0, nullptr)) return {};
  if (input.kind() == Kind::kLoop) {
    return Value::integer(static_cast<LoopObject*>(input.object())->count(runtime));
  }
  const auto length = length_of(input);
  if (!length)
    return runtime.type_error("object of type " + type_name_quoted(input) + " has no len()");
  return Value::integer(*length, input.source());
}

Value integer(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[2];
  if (!bind(runtime, "int", arguments, {"default", "base"}, 0, given)) return {};
  const std::int64_t base = integer_argument(runtime, given[1], 10);
  Value fallback = given[0].is_missing() ? Value::integer(0) : given[0];
  if (input.is_undefined()) return runtime.undefined_error(input);
  if (runtime.failed()) return {};
  if (input.kind() == Kind::kInt || input.kind() == Kind::kBigInt) return input;
  if (input.kind() == Kind::kBool) return Value::integer(input.integer(), input.source());
  double value = 0;
  if (input.is_string()) {
    runtime.scan(input.text().size() * 4);
    if (auto whole = parse_integer(input.text(), static_cast<int>(base))) {
      whole->set_source(input.source());
      return *whole;
    }
    const auto number = parse_float(input.text());
    if (!number || !std::isfinite(*number)) return fallback;
    value = *number;
  } else if (input.kind() == Kind::kFloat) {
    value = input.floating();
    if (std::isnan(value)) return fallback;
    if (std::isinf(value))
      return runtime.raise("OverflowError", "cannot convert float infinity to integer");
  } else {
    return fallback;
  }
  const auto whole = truncated(value);
  if (!whole) return runtime.unsupported("floats beyond 64 bits as integers");
  return Value::integer(*whole, input.source());
}

Value floating(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value fallback;
  if (!bind(runtime, "float", arguments, {"default"}, 0, &fallback)) return {};
  if (input.is_undefined()) return runtime.undefined_error(input);
  if (input.is_number()) return Value::floating(as_double(input), input.source());
  if (input.is_string()) {
    runtime.scan(input.text().size() * 4);
    if (const auto number = parse_float(input.text()))
      return Value::floating(*number, input.source());
  }
  return fallback.is_missing() ? Value::floating(0.0) : fallback;
}

Value round(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[2];
  if (!bind(runtime, "round", arguments, {"precision", "method"}, 0, given)) return {};
  const std::string method = given[1].is_string() ? std::string(given[1].text()) : "common";
  const std::int64_t digits = integer_argument(runtime, given[0], 0);
  if (method != "common" && method != "ceil" && method != "floor") {
    return runtime.raise("FilterArgumentError", "method must be common, ceil or floor");
  }
  if (input.is_undefined()) return runtime.undefined_error(input);
  if (!input.is_number())
    return runtime.type_error("round: " + type_name_quoted(input) + " is no number");
  if (runtime.failed()) return {};
  if (method == "common") return rounded(runtime, input, digits);
  const Value scale =
      arithmetic(runtime, Arithmetic::kPow, Value::integer(10), Value::integer(digits));
  if (runtime.failed()) return {};
  const double scaled = as_double(input) * as_double(scale);
  const double whole = method == "ceil" ? std::ceil(scaled) : std::floor(scaled);
  // Python's floor() gives an integer, which has no negative zero.
  return Value::floating((whole + 0.0) / as_double(scale), input.source());
}

}  // namespace verbatim::chat::jinja::filter
