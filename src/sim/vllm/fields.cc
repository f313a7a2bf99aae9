#include "sim/vllm/fields.h"

#include <charconv>
#include <cmath>

namespace verbatim::sim::vllm {
namespace {

constexpr std::string_view kNoInteger = "Input should be a valid integer";

std::optional<std::int64_t> parsed(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string Fields::at(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

std::optional<std::int64_t> Fields::as_integer(const json::Value& value, const std::string& where) {
  if (value.is_bool()) return value.boolean() ? 1 : 0;
  if (value.is_number()) {
    if (const auto whole = value.integer()) return whole;
    const auto real = value.number();
    if (value.written_as_integer() || !real || *real == std::floor(*real)) return kBeyond;
    problems_.add("int_from_float", where,
                  std::string(kNoInteger) + ", got a number with a fractional part", shown(value));
    return std::nullopt;
  }
  if (!value.is_string()) {
    problems_.add("int_type", where, kNoInteger, shown(value));
    return std::nullopt;
  }
  if (const auto whole = parsed(value.string())) return whole;
  problems_.add("int_parsing", where,
                std::string(kNoInteger) + ", unable to parse string as an integer", shown(value));
  return std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name) {
  const auto value = object_.get(name);
  return value ? as_integer(*value, at(name)) : std::nullopt;
}

std::optional<double> Fields::number(std::string_view name) {
  const auto value = object_.get(name);
  if (!value) return std::nullopt;
  if (value->is_number()) return value->number();
  if (value->is_bool()) return value->boolean() ? 1 : 0;
  constexpr std::string_view kNoNumber = "Input should be a valid number";
  if (value->is_string()) {
    problems_.add("float_parsing", at(name),
                  std::string(kNoNumber) + ", unable to parse string as a number", shown(*value));
  } else {
    problems_.add("float_type", at(name), kNoNumber, shown(*value));
  }
  return std::nullopt;
}

std::optional<bool> Fields::flag(std::string_view name) {
  const auto value = object_.get(name);
  if (!value) return std::nullopt;
  if (value->is_bool()) return value->boolean();
  problems_.add("bool_type", at(name), "Input should be a valid boolean", shown(*value));
  return std::nullopt;
}

std::optional<std::string> Fields::string(std::string_view name) {
  const auto value = object_.get(name);
  if (!value) return std::nullopt;
  if (value->is_string()) return value->string();
  problems_.add("string_type", at(name), "Input should be a valid string", shown(*value));
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> Fields::integers(std::string_view name) {
  const auto value = object_.get(name);
  if (!value) return std::nullopt;
  if (!value->is_array()) {
    problems_.add("list_type", at(name), "Input should be a valid list", shown(*value));
    return std::nullopt;
  }
  std::vector<std::int64_t> numbers;
  numbers.reserve(value->size());
  const std::size_t before = problems_.size();
  for (const auto& member : *value) {
    // The place is spelled for refused values only: prompts are long.
    const bool plain = member.value.is_number() && member.value.written_as_integer();
    const auto where = plain ? std::string() : at(name) + "." + std::to_string(numbers.size());
    numbers.push_back(as_integer(member.value, where).value_or(0));
  }
  return problems_.size() == before ? std::optional(std::move(numbers)) : std::nullopt;
}

std::optional<std::vector<std::string>> Fields::strings(std::string_view name) {
  const auto value = object_.get(name);
  if (!value) return std::nullopt;
  if (value->is_string()) return std::vector<std::string>{value->string()};
  if (!value->is_array()) {
    problems_.add("string_type", at(name), "Input should be a valid string", shown(*value));
    return std::nullopt;
  }
  std::vector<std::string> texts;
  for (const auto& member : *value) {
    if (!member.value.is_string()) {
      problems_.add("string_type", at(name) + "." + std::to_string(texts.size()),
                    "Input should be a valid string", shown(member.value));
      return std::nullopt;
    }
    texts.push_back(member.value.string());
  }
  return texts;
}

}  // namespace verbatim::sim::vllm
