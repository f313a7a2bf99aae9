#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// -1, 0, 1; nothing when one of them is not a number (NaN). Exact between integers of any size and
// doubles.
std::optional<int> compare_numbers(const Value& a, const Value& b);

enum class Arithmetic : std::uint8_t { kAdd, kSub, kMul, kDiv, kFloorDiv, kMod, kPow };
std::string_view sign_of(Arithmetic op);

// Both sides are numbers. Integers beyond 64 bits take part in comparisons and printing only.
Value arithmetic(Runtime& runtime, Arithmetic op, const Value& a, const Value& b);
Value negated(Runtime& runtime, const Value& value);

double as_double(const Value& number);
// int(text) and float(text) as Python reads them; nothing where it raises ValueError.
std::optional<Value> parse_integer(std::string_view text, int base);
std::optional<double> parse_float(std::string_view text);
// int(float); nothing for inf and NaN or beyond 64 bits.
std::optional<std::int64_t> truncated(double value);

std::string number_text(const Value& number);  // str()

}  // namespace verbatim::chat::jinja
