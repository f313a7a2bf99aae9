#pragma once

#include <vector>

#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// "address.city" or "0.name": the attribute argument of map, sort and others.
class AttributePath {
 public:
  // None: the item itself.
  explicit AttributePath(const Value& attribute);
  // `otherwise`: stands for what is undefined on the way; kMissing or None for nothing.
  Value get(Runtime& runtime, const Value& item, const Value& otherwise = Value::missing()) const;

 private:
  std::vector<Value> parts_;
};

// Strings in lower case, other values as they are.
Value ignore_case(Runtime& runtime, const Value& value);

}  // namespace verbatim::chat::jinja
