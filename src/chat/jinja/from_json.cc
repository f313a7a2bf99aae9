#include <charconv>
#include <cmath>
#include <limits>

#include "chat/jinja/objects.h"
#include "json/value.h"

namespace verbatim::chat::jinja {
namespace {

Value number(const json::Value& json, SourceId source) {
  std::string_view raw = json.raw();
  if (!json.written_as_integer()) {
    const auto value = json.number();
    const double infinity = std::numeric_limits<double>::infinity();
    return Value::floating(value ? *value : (raw.front() == '-' ? -infinity : infinity), source);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (error == std::errc()) return Value::integer(value, source);
  Value digits = Value::string(std::string(raw), source);
  auto* object = digits.object();
  object->references.fetch_add(1, std::memory_order_relaxed);
  return Value::of(Kind::kBigInt, object, source);
}

}  // namespace

Value Value::from_json(const json::Value& json, SourceId source) {
  switch (json.kind()) {
    case json::Kind::kNull:
      return none(source);
    case json::Kind::kBool:
      return boolean(json.boolean(), source);
    case json::Kind::kNumber:
      return number(json, source);
    case json::Kind::kString:
      return string(json.string(), source);
    case json::Kind::kArray: {
      std::vector<Value> items;
      items.reserve(json.size());
      for (const auto& member : json) items.push_back(from_json(member.value, source));
      return list(std::move(items), source);
    }
    case json::Kind::kObject:
      break;
  }
  std::vector<std::pair<Value, Value>> entries;
  entries.reserve(json.size());
  for (const auto& member : json) {
    entries.emplace_back(string(member.name(), source), from_json(member.value, source));
  }
  return dict(std::move(entries), source);
}

}  // namespace verbatim::chat::jinja
