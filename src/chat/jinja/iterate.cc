#include <utility>

#include "chat/jinja/operations.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kDictView:
    case Kind::kIterator:
    case Kind::kLoop:
      return true;
    default:
      return false;
  }
}

Iteration::Iteration(Runtime& runtime, Value iterable)
    : runtime_(runtime), iterable_(std::move(iterable)) {
  if (iterable_.kind() == Kind::kLoop) {
    runtime_.unsupported("iterating over `loop`");
  } else if (!is_iterable(iterable_)) {
    runtime_.type_error(type_name_quoted(iterable_) + " object is not iterable");
  }
}

bool Iteration::next_of_dict(Value& out) {
  const bool view = iterable_.kind() == Kind::kDictView;
  const auto* object = view ? static_cast<const DictViewObject*>(iterable_.object()) : nullptr;
  const auto& entries = (view ? object->dict : iterable_).dict_object().entries;
  if (at_ >= entries.size()) return false;
  const DictEntry& entry = entries[at_++];
  if (!view || object->what == ViewOf::kKeys) {
    out = entry.key;
  } else if (object->what == ViewOf::kValues) {
    out = entry.value;
  } else {
    out = Value::tuple({entry.key, entry.value}, object->dict.source());
  }
  return true;
}

bool Iteration::next_character(Value& out) {
  const std::string_view text = iterable_.text();
  const CodePoint c = decode(text, at_);
  if (c.size == 0) return false;
  // Iterating over Markup gives plain characters, as in Python.
  out = substring(iterable_, at_, at_ + c.size).with_markup(false);
  at_ += c.size;
  return true;
}

bool Iteration::next(Value& out) {
  if (!runtime_.step()) return false;
  switch (iterable_.kind()) {
    case Kind::kList:
    case Kind::kTuple:
      if (at_ >= iterable_.items().size()) return false;
      out = iterable_.items()[at_++];
      return true;
    case Kind::kDict:
    case Kind::kDictView:
      return next_of_dict(out);
    case Kind::kString:
      return next_character(out);
    case Kind::kRange: {
      const auto& range = *static_cast<const RangeObject*>(iterable_.object());
      if (at_ >= static_cast<std::size_t>(range.count)) return false;
      out = Value::integer(range.at(static_cast<std::int64_t>(at_++)), iterable_.source());
      return true;
    }
    case Kind::kIterator:
      return static_cast<IteratorObject*>(iterable_.object())->next(runtime_, out) &&
             !runtime_.failed();
    default:
      return false;
  }
}

std::vector<Value> collect(Runtime& runtime, const Value& iterable) {
  if (iterable.is_sequence()) {
    runtime.step(iterable.items().size());
    return runtime.allocate(iterable.items().size() * sizeof(Value)) ? iterable.items()
                                                                     : std::vector<Value>();
  }
  std::vector<Value> items;
  Iteration iteration(runtime, iterable);
  for (Value item; iteration.next(item);) {
    if (!runtime.allocate(sizeof(Value) + sizeof(StringObject))) break;
    items.push_back(item);
  }
  return items;
}

}  // namespace verbatim::chat::jinja
