#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace verbatim::protocol {

// Typed reading of request fields. Every error names the field, what was expected and what was
// found ("temperature: expected a number >= 0, found -1").

// What stands there, for messages: the kind, or the value itself where it is short.
std::string found(const json::Value& value);
// "expected `expected`, found ..."
base::Error mismatch(std::string field, std::string_view expected, const json::Value& value);
// Known, but not served here. `why` completes "unsupported: ...".
base::Error unsupported(std::string field, std::string_view why);

base::Result<std::string> read_string(const json::Value& value, const std::string& field);
base::Result<bool> read_bool(const json::Value& value, const std::string& field);
base::Result<json::Value> read_array(const json::Value& value, const std::string& field);
base::Result<json::Value> read_object(const json::Value& value, const std::string& field);

// A string under `name`; where there is none, `into` stays as it is.
base::Status take_string(const json::Value& object, std::string_view name, const std::string& field,
                         std::string& into);
// The string under `name`; empty where there is none, or something else.
std::string text_or_nothing(const json::Value& object, std::string_view name);

struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  std::string_view expected;  // "an integer >= 1"
};
base::Result<std::int64_t> read_integer(const json::Value& value, const std::string& field,
                                        const IntegerRange& range);

struct NumberRange {
  double min = 0;
  double max = 0;
  bool above_min = false;     // min itself is not allowed
  std::string_view expected;  // "a number in (0, 1]"
};
base::Result<double> read_number(const json::Value& value, const std::string& field,
                                 const NumberRange& range);

// Objects whose members are looked up one by one may have so many.
inline constexpr std::size_t kMaxMembers = 512;
base::Error too_many_members(std::string field, std::size_t limit);
// kTooLarge: more `things` ("items") than may stand in a list.
base::Error too_many(std::string field, std::string_view things, std::size_t limit,
                     std::size_t found);
// Is `member` the one that counts among those of this name? (The last does.)
bool is_last(const json::Value& object, std::string_view name, const json::Value& member);

// "messages" + 2 -> "messages[2]"
std::string at(std::string_view field, std::size_t index);

}  // namespace verbatim::protocol
