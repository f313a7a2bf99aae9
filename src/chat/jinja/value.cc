#include "chat/jinja/value.h"

#include <algorithm>
#include <memory>

#include "chat/jinja/objects.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

template <class Items>
std::uint32_t depth_above(const Items& items) {
  std::uint32_t depth = 0;
  for (const Value& item : items) depth = std::max(depth, depth_of(item));
  return depth + 1;
}

}  // namespace

std::uint32_t depth_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kMissing:
    case Kind::kFunction:
    case Kind::kString:
      return 0;
    default:
      return value.object() == nullptr ? 0 : value.object()->depth;
  }
}

Value Value::none(SourceId source) {
  Value v;
  v.head_.kind = Kind::kNone;
  v.head_.source = source;
  return v;
}

Value Value::boolean(bool value, SourceId source) {
  Value v;
  v.head_.kind = Kind::kBool;
  v.head_.source = source;
  v.payload_.integer = value ? 1 : 0;
  return v;
}

Value Value::integer(std::int64_t value, SourceId source) {
  Value v;
  v.head_.kind = Kind::kInt;
  v.head_.source = source;
  v.payload_.integer = value;
  return v;
}

Value Value::floating(double value, SourceId source) {
  Value v;
  v.head_.kind = Kind::kFloat;
  v.head_.source = source;
  v.payload_.floating = value;
  return v;
}

Value Value::string(std::string text, SourceId source) {
  auto* object = new StringObject;
  object->own = std::move(text);
  object->text = object->own;
  object->source = source;
  return of(Kind::kString, object);
}

Value Value::string(Text text) {
  auto* object = new StringObject;
  object->own = std::move(text.bytes);
  object->text = object->own;
  if (text.runs.size() == 1) {
    object->source = text.runs.front().source;
  } else {
    object->runs = std::move(text.runs);
  }
  return of(Kind::kString, object);
}

Value Value::list(std::vector<Value> items, SourceId source) {
  auto* object = new ListObject;
  object->depth = depth_above(items);
  object->items = std::move(items);
  return of(Kind::kList, object, source);
}

Value Value::tuple(std::vector<Value> items, SourceId source) {
  Value v = list(std::move(items), source);
  v.head_.kind = Kind::kTuple;
  return v;
}

Value Value::dict(std::vector<std::pair<Value, Value>> entries, SourceId source) {
  auto object = std::make_unique<DictObject>();
  object->entries.reserve(entries.size());
  for (auto& [key, value] : entries) {
    object->depth = std::max({object->depth, depth_of(key) + 1, depth_of(value) + 1});
    object->entries.push_back({std::move(key), std::move(value)});
  }
  object->finish();
  return of(Kind::kDict, object.release(), source);
}

Value Value::dict(std::vector<std::pair<std::string, Value>> entries, SourceId source) {
  std::vector<std::pair<Value, Value>> converted;
  converted.reserve(entries.size());
  for (auto& [key, value] : entries) {
    converted.emplace_back(string(std::move(key), source), std::move(value));
  }
  return dict(std::move(converted), source);
}

Value Value::missing() {
  Value v;
  v.head_.kind = Kind::kMissing;
  return v;
}

Value Value::function(std::uint16_t id) {
  Value v;
  v.head_.kind = Kind::kFunction;
  v.head_.extra = id;
  return v;
}

Value Value::of(Kind kind, Object* object, SourceId source) {
  Value v;
  v.head_.kind = kind;
  v.head_.source = source;
  v.payload_.object = object;
  return v;
}

Value Value::with_markup(bool markup) const {
  Value v = *this;
  v.head_.flag = markup ? 1 : 0;
  return v;
}

SourceId Value::source() const {
  return is_string() ? string_object().source_at(0) : head_.source;
}

const DictObject& Value::dict_object() const {
  return *static_cast<const DictObject*>(payload_.object);
}

std::size_t StringObject::characters() const {
  std::int64_t count = characters_.load(std::memory_order_relaxed);
  if (count < 0) {
    count = static_cast<std::int64_t>(count_characters(text));
    characters_.store(count, std::memory_order_relaxed);
  }
  return static_cast<std::size_t>(count);
}

SourceId StringObject::source_at(std::size_t byte) const {
  for (const Run& run : runs) {
    if (byte < run.size) return run.source;
    byte -= run.size;
  }
  return runs.empty() ? source : runs.back().source;
}

void StringObject::append_to(TextBuilder& out) const {
  if (runs.empty()) {
    out.append(text, source);
  } else {
    out.append(text, runs.data(), runs.size());
  }
}

void StringObject::append_part_to(TextBuilder& out, std::size_t from, std::size_t to) const {
  if (runs.empty()) return out.append(text.substr(from, to - from), source);
  std::size_t at = 0;
  for (const Run& run : runs) {
    const std::size_t begin = std::max(from, at);
    at += run.size;
    const std::size_t end = std::min(to, at);
    if (begin < end) out.append(text.substr(begin, end - begin), run.source);
    if (at >= to) break;
  }
}

Value substring(const Value& string, std::size_t from, std::size_t to) {
  const StringObject& whole = string.string_object();
  if (from == 0 && to == whole.text.size()) return string;
  auto* part = new StringObject;
  if (to - from <= 15) {  // fits into the string object itself
    part->own.assign(whole.text.substr(from, to - from));
    part->text = part->own;
  } else {
    part->text = whole.text.substr(from, to - from);
    part->base = whole.base.is_string() ? whole.base : string;
  }
  part->source = whole.source;
  std::size_t at = 0;
  for (const Run& run : whole.runs) {
    const std::size_t begin = std::max(from, at);
    at += run.size;
    const std::size_t end = std::min(to, at);
    if (begin < end) part->runs.push_back({static_cast<std::uint32_t>(end - begin), run.source});
    if (at >= to) break;
  }
  if (part->runs.size() == 1) {
    part->source = part->runs.front().source;
    part->runs.clear();
  }
  return Value::of(Kind::kString, part).with_markup(string.is_markup());
}

Value* NamespaceObject::find(std::string_view name) {
  for (DictEntry& entry : attributes) {
    if (entry.key.text() == name) return &entry.value;
  }
  return nullptr;
}

}  // namespace verbatim::chat::jinja
