#include "chat/jinja/macro.h"

#include <algorithm>
#include <utility>

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
  // A generator does not know its length: it is read to its end, and the items wait in `ahead`.
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

LoopField find_loop_field(std::string_view name) {
  constexpr std::pair<std::string_view, LoopField> kFields[] = {
      {"index", LoopField::kIndex},       {"index0", LoopField::kIndex0},
      {"revindex", LoopField::kRevindex}, {"revindex0", LoopField::kRevindex0},
      {"first", LoopField::kFirst},       {"last", LoopField::kLast},
      {"length", LoopField::kLength},     {"depth", LoopField::kDepth},
      {"depth0", LoopField::kDepth0},     {"previtem", LoopField::kPrevitem},
      {"nextitem", LoopField::kNextitem},
  };
  for (const auto& [text, field] : kFields) {
    if (text == name) return field;
  }
  return LoopField::kNone;
}

Value loop_attribute(Runtime& runtime, LoopObject& loop, LoopField field) {
  const auto hint = [](const char* text) {
    return make_undefined(UndefinedBy::kHint, Value::string(text));
  };
  Value item;
  switch (field) {
    case LoopField::kIndex:
      return Value::integer(loop.index0 + 1);
    case LoopField::kIndex0:
      return Value::integer(loop.index0);
    case LoopField::kRevindex:
      return Value::integer(loop.count(runtime) - loop.index0);
    case LoopField::kRevindex0:
      return Value::integer(loop.count(runtime) - loop.index0 - 1);
    case LoopField::kFirst:
      return Value::boolean(loop.index0 == 0);
    case LoopField::kLast:
      return Value::boolean(loop.length ? loop.index0 + 1 >= *loop.length : !loop.peek(item));
    case LoopField::kLength:
      return Value::integer(loop.count(runtime));
    case LoopField::kDepth:
      return Value::integer(loop.depth0 + 1);
    case LoopField::kDepth0:
      return Value::integer(loop.depth0);
    case LoopField::kPrevitem:
      return loop.index0 == 0 || loop.before.is_missing() ? hint("there is no previous item")
                                                          : loop.before;
    case LoopField::kNextitem:
      return loop.peek(item) ? item : hint("there is no next item");
    case LoopField::kNone:
      break;
  }
  return Value::missing();
}

}  // namespace verbatim::chat::jinja
