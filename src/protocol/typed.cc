#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

constexpr std::size_t kMaxShown = 40;  // bytes of a value that a message repeats

}  // namespace

std::string found(const json::Value& value) {
  const bool plain = value.is_number() || value.is_string() || value.is_bool();
  if (plain && value.raw().size() <= kMaxShown) return std::string(value.raw());
  return std::string(json::describe(value.kind()));
}

base::Error mismatch(std::string field, std::string_view expected, const json::Value& value) {
  return base::invalid(std::move(field), "expected " + std::string(expected) + ", found " +
                                             std::string(json::describe(value.kind())));
}

base::Error unsupported(std::string field, std::string_view why) {
  auto error = base::error(base::ErrorKind::kUnsupported, "unsupported: " + std::string(why));
  error.field = std::move(field);
  error.code = "unsupported_parameter";
  return error;
}

base::Result<std::string> read_string(const json::Value& value, const std::string& field) {
  if (!value.is_string()) return mismatch(field, "a string", value);
  return value.string();
}

base::Result<bool> read_bool(const json::Value& value, const std::string& field) {
  if (!value.is_bool()) return mismatch(field, "a boolean", value);
  return value.boolean();
}

base::Result<json::Value> read_array(const json::Value& value, const std::string& field) {
  if (!value.is_array()) return mismatch(field, "an array", value);
  return value;
}

base::Result<json::Value> read_object(const json::Value& value, const std::string& field) {
  if (!value.is_object()) return mismatch(field, "an object", value);
  return value;
}

base::Result<std::int64_t> read_integer(const json::Value& value, const std::string& field,
                                        const IntegerRange& range) {
  const auto number = value.is_number() ? value.integer() : std::nullopt;
  if (!number || *number < range.min || *number > range.max) {
    return base::invalid(field,
                         "expected " + std::string(range.expected) + ", found " + found(value));
  }
  return *number;
}

base::Result<double> read_number(const json::Value& value, const std::string& field,
                                 const NumberRange& range) {
  const auto number = value.is_number() ? value.number() : std::nullopt;
  const bool fits = number && *number >= range.min && *number <= range.max &&
                    !(range.above_min && *number == range.min);
  if (!fits) {
    return base::invalid(field,
                         "expected " + std::string(range.expected) + ", found " + found(value));
  }
  return *number;
}

base::Status take_string(const json::Value& object, std::string_view name, const std::string& field,
                         std::string& into) {
  const auto value = object.get(name);
  if (!value) return {};
  auto text = read_string(*value, std::string(field).append(".").append(name));
  if (!text) return std::move(text).error();
  into = std::move(*text);
  return {};
}

std::string text_or_nothing(const json::Value& object, std::string_view name) {
  const auto value = object.is_object() ? object.get(name) : std::nullopt;
  return value && value->is_string() ? value->string() : std::string();
}

base::Error too_many(std::string field, std::string_view things, std::size_t limit,
                     std::size_t found) {
  std::string message = "expected at most " + std::to_string(limit) + " ";
  message.append(things).append(", found ").append(std::to_string(found));
  auto error = base::error(base::ErrorKind::kTooLarge, std::move(message));
  error.field = std::move(field);
  return error;
}

base::Error too_many_members(std::string field, std::size_t limit) {
  auto error = base::error(base::ErrorKind::kTooLarge,
                           "an object with more than " + std::to_string(limit) + " members");
  error.field = std::move(field);
  return error;
}

bool is_last(const json::Value& object, std::string_view name, const json::Value& member) {
  const auto last = object.find(name);
  return last && last->raw().data() == member.raw().data();
}

std::string at(std::string_view field, std::size_t index) {
  return std::string(field) + "[" + std::to_string(index) + "]";
}

}  // namespace verbatim::protocol
