#include "chat/jinja/arguments.h"

#include <algorithm>

#include "chat/jinja/operations.h"

namespace verbatim::chat::jinja {

bool bind(Runtime& runtime, std::string_view function, Arguments& arguments,
          std::initializer_list<std::string_view> parameters, std::size_t required, Value* out) {
  const std::string name(function);
  const std::size_t count = parameters.size();
  auto& given = arguments.positional;
  if (given.size() > count) {
    runtime.type_error(name + "() takes at most " + std::to_string(count) + " arguments (" +
                       std::to_string(given.size()) + " given)");
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = i < given.size() ? std::move(given[i]) : Value::missing();
  }
  for (auto& [key, value] : arguments.named) {
    const auto* at = std::find(parameters.begin(), parameters.end(), key.text());
    const bool known = at != parameters.end();
    if (!known || !out[at - parameters.begin()].is_missing()) {
      runtime.type_error(name + "() got " +
                         (known ? "multiple values for" : "an unexpected keyword") + " argument '" +
                         std::string(key.text()) + "'");
      return false;
    }
    out[at - parameters.begin()] = std::move(value);
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!out[i].is_missing()) continue;
    runtime.type_error(name + "() misses the argument '" + std::string(*(parameters.begin() + i)) +
                       "'");
    return false;
  }
  return true;
}

bool flag_argument(const Value& value, bool otherwise) {
  return value.is_missing() ? otherwise : truthy(value);
}

std::int64_t integer_argument(Runtime& runtime, const Value& value, std::int64_t otherwise) {
  if (value.is_missing()) return otherwise;
  if (value.is_integral()) return value.integer();
  runtime.type_error(type_name_quoted(value) + " object cannot be interpreted as an integer");
  return otherwise;
}

bool expect_string(Runtime& runtime, const Value& value, std::string_view function) {
  if (value.is_string()) return true;
  runtime.type_error(std::string(function) + "() argument must be str, not " +
                     std::string(type_name(value)));
  return false;
}

}  // namespace verbatim::chat::jinja
