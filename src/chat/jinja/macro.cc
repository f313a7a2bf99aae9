#include "chat/jinja/macro.h"

#include <algorithm>

namespace verbatim::chat::jinja {

std::string macro_label(const MacroObject& macro) {
  const Value& name = macro.function->name;
  return name.is_string() ? "'" + std::string(name.text()) + "'" : "anonymous";
}

bool LoopObject::next(Value& item) {
  if (!ahead.empty()) {
    item = std::move(ahead.back());
    ahead.pop_back();
  } else if (!items || !items->next(item)) {
    return false;
  }
  ++index0;
  before = std::move(current);
  current = item;
  return true;
}

bool LoopObject::peek(Value& item) {
  if (ahead.empty()) {
    if (!items || !items->next(item)) return false;
    ahead.push_back(std::move(item));
  }
  item = ahead.back();
  return true;
}

std::int64_t LoopObject::count(Runtime& runtime) {
  if (length) return *length;
  std::vector<Value> rest;
  for (Value item; items && items->next(item) && runtime.allocate(sizeof(Value));) {
    rest.push_back(std::move(item));
  }
  std::reverse(rest.begin(), rest.end());
  rest.insert(rest.end(), ahead.begin(), ahead.end());
  ahead = std::move(rest);
  length = static_cast<std::int64_t>(ahead.size()) + index0 + 1;
  return *length;
}

void LoopObject::end() {
  items.reset();
  ahead.clear();
  current = Value::missing();
  before = Value::missing();
  last_changed.reset();
}

Value loop_attribute(Runtime& runtime, LoopObject& loop, std::string_view name) {
  const auto hint = [](const char* text) {
    return make_undefined(UndefinedBy::kHint, Value::string(text));
  };
  if (name == "index0") return Value::integer(loop.index0);
  if (name == "index") return Value::integer(loop.index0 + 1);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "last") {
    if (loop.length) return Value::boolean(loop.index0 + 1 >= *loop.length);
    Value item;
    return Value::boolean(!loop.peek(item));
  }
  if (name == "length") return Value::integer(loop.count(runtime));
  if (name == "revindex") return Value::integer(loop.count(runtime) - loop.index0);
  if (name == "revindex0") return Value::integer(loop.count(runtime) - loop.index0 - 1);
  if (name == "depth") return Value::integer(loop.depth0 + 1);
  if (name == "depth0") return Value::integer(loop.depth0);
  if (name == "previtem") {
    return loop.index0 == 0 || loop.before.is_missing() ? hint("there is no previous item")
                                                        : loop.before;
  }
  if (name == "nextitem") {
    Value item;
    return loop.peek(item) ? item : hint("there is no next item");
  }
  return Value::missing();
}

}  // namespace verbatim::chat::jinja
