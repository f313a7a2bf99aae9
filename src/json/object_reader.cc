#include "json/object_reader.h"

#include <algorithm>

namespace verbatim::json {

void ObjectReader::only(std::initializer_list<std::string_view> keys) {
  for (const auto member : object_) {
    const std::string name = member.name();
    if (std::find(keys.begin(), keys.end(), name) == keys.end()) fail(name, "unknown key");
  }
}

std::optional<std::string> ObjectReader::text(std::string_view key) {
  const auto value = object_.get(key);
  if (!value) return std::nullopt;
  if (value->is_string()) return value->string();
  expected(key, "a string", *value);
  return std::nullopt;
}

std::string ObjectReader::required(std::string_view key) {
  auto value = text(key);
  if (!value || value->empty()) fail(key, "missing");
  return value.value_or("");
}

std::optional<bool> ObjectReader::boolean(std::string_view key) {
  const auto value = object_.get(key);
  if (!value) return std::nullopt;
  if (value->kind() == Kind::kBool) return value->boolean();
  expected(key, "true or false", *value);
  return std::nullopt;
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view key) {
  const auto value = object_.get(key);
  if (!value) return std::nullopt;
  const auto number = value->is_number() ? value->integer() : std::nullopt;
  if (!number) expected(key, "an integer", *value);
  return number;
}

std::vector<std::string> ObjectReader::strings(std::string_view key) {
  std::vector<std::string> list;
  for (const auto& value : elements(key)) {
    if (value.is_string()) {
      list.push_back(value.string());
    } else {
      expected(key, "strings", value);
    }
  }
  return list;
}

std::vector<Value> ObjectReader::elements(std::string_view key) {
  std::vector<Value> list;
  const auto value = object_.get(key);
  if (!value) return list;
  if (!value->is_array()) {
    expected(key, "a list", *value);
    return list;
  }
  for (const auto member : *value) list.push_back(member.value);
  return list;
}

std::optional<ObjectReader> ObjectReader::object(std::string_view key) {
  const auto value = object_.get(key);
  if (!value) return std::nullopt;
  if (value->is_object())
    return ObjectReader(*value, file_, path_ + std::string(key) + ".", error_);
  expected(key, "an object", *value);
  return std::nullopt;
}

std::vector<ObjectReader> ObjectReader::objects(std::string_view key) {
  std::vector<ObjectReader> list;
  for (const auto& value : elements(key)) {
    if (!value.is_object()) {
      expected(key, "objects", value);
      continue;
    }
    const std::string place = std::string(key) + "[" + std::to_string(list.size()) + "].";
    list.push_back(ObjectReader(value, file_, path_ + place, error_));
  }
  return list;
}

void ObjectReader::expected(std::string_view key, std::string_view what, const Value& found) {
  fail(key, "expected " + std::string(what) + ", found " + std::string(describe(found.kind())));
}

void ObjectReader::fail(std::string_view key, std::string message) {
  if (error_) return;
  const std::string place = path_ + std::string(key);
  error_ = base::invalid(place, std::string(file_) + ", " + place + ": " + std::move(message));
}

}  // namespace verbatim::json
