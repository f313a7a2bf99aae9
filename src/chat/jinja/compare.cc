#include <algorithm>
#include <cstring>
#include <numeric>

#include "chat/jinja/operations.h"

namespace verbatim::chat::jinja {
namespace {

bool equal_sequences(Runtime& runtime, const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!equal(runtime, a[i], b[i])) return false;
  }
  return true;
}

bool equal_dicts(Runtime& runtime, const DictObject& a, const DictObject& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const DictEntry& entry : a.entries) {
    const Value* other = b.find(entry.key);
    if (other == nullptr || !equal(runtime, entry.value, *other)) return false;
  }
  return true;
}

bool equal_ranges(const RangeObject& a, const RangeObject& b) {
  if (a.count != b.count) return false;
  if (a.count == 0) return true;
  return a.start == b.start && (a.count == 1 || a.step == b.step);
}

bool equal_objects(Runtime& runtime, const Value& a, const Value& b) {
  if (a.object() == b.object()) return true;
  switch (a.kind()) {
    case Kind::kList:
    case Kind::kTuple:
      return equal_sequences(runtime, a.items(), b.items());
    case Kind::kDict:
      return equal_dicts(runtime, a.dict_object(), b.dict_object());
    case Kind::kRange:
      return equal_ranges(*static_cast<const RangeObject*>(a.object()),
                          *static_cast<const RangeObject*>(b.object()));
    case Kind::kDictView:
      runtime.unsupported("comparing views of dicts");
      return false;
    default:
      return false;
  }
}

// -1, 0, 1, or nothing when the values have no order (an error is raised) or NaN is involved.
std::optional<int> compare(Runtime& runtime, std::string_view sign, const Value& a,
                           const Value& b) {
  if (!runtime.step()) return {};
  if (a.is_undefined() || b.is_undefined()) {
    runtime.undefined_error(a.is_undefined() ? a : b);
    return {};
  }
  if (a.is_number() && b.is_number()) return compare_numbers(a, b);
  if (a.is_string() && b.is_string()) {
    runtime.scan(std::min(a.text().size(), b.text().size()));
    const int c = a.text().compare(b.text());
    return c < 0 ? -1 : (c > 0 ? 1 : 0);
  }
  if (a.is_sequence() && a.kind() == b.kind()) {
    const auto& x = a.items();
    const auto& y = b.items();
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (!equal(runtime, x[i], y[i])) return compare(runtime, sign, x[i], y[i]);
      if (runtime.failed()) return {};
    }
    return x.size() < y.size() ? -1 : (x.size() > y.size() ? 1 : 0);
  }
  runtime.type_error("'" + std::string(sign) + "' not supported between instances of " +
                     type_name_quoted(a) + " and " + type_name_quoted(b));
  return {};
}

}  // namespace

bool truthy(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kMissing:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.integer() != 0;
    case Kind::kFloat:
      return value.floating() != 0;
    case Kind::kString:
      return !value.text().empty();
    default:
      break;
  }
  const auto length = length_of(value);
  return !length || *length != 0;
}

std::optional<std::int64_t> length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      return static_cast<std::int64_t>(value.string_object().characters());
    case Kind::kList:
    case Kind::kTuple:
      return static_cast<std::int64_t>(value.items().size());
    case Kind::kDict:
      return static_cast<std::int64_t>(value.dict_object().entries.size());
    case Kind::kDictView:
      return length_of(static_cast<const DictViewObject*>(value.object())->dict);
    case Kind::kRange:
      return static_cast<const RangeObject*>(value.object())->count;
    default:
      return std::nullopt;
  }
}

bool equal(Runtime& runtime, const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) {
    const std::string_view x = a.text();
    const std::string_view y = b.text();
    if (x.size() != y.size()) return false;
    if (x.size() > 64) runtime.scan(x.size());
    return std::memcmp(x.data(), y.data(), x.size()) == 0;
  }
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind() || !runtime.step()) return false;
  switch (a.kind()) {
    case Kind::kUndefined:
    case Kind::kMissing:
    case Kind::kNone:
      return true;
    case Kind::kFunction:
      return a.extra() == b.extra();
    default:
      return equal_objects(runtime, a, b);
  }
}

bool ordered(Runtime& runtime, Order order, const Value& a, const Value& b) {
  constexpr std::string_view kSigns[] = {"<", "<=", ">", ">="};
  const auto c = compare(runtime, kSigns[static_cast<int>(order)], a, b);
  if (!c) return false;
  switch (order) {
    case Order::kLess:
      return *c < 0;
    case Order::kLessEqual:
      return *c <= 0;
    case Order::kGreater:
      return *c > 0;
    case Order::kGreaterEqual:
      return *c >= 0;
  }
  return false;
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kString: {
      if (!item.is_string()) {
        runtime.type_error("'in <string>' requires string as left operand, not " +
                           std::string(type_name(item)));
        return false;
      }
      const std::string_view text = container.text();
      const std::string_view part = item.text();
      runtime.scan(text.size());
      return part.empty() ||
             (part.size() <= text.size() &&
              memmem(text.data(), text.size(), part.data(), part.size()) != nullptr);
    }
    case Kind::kDict:
      if (!is_hashable(item)) {
        runtime.type_error("unhashable type: " + type_name_quoted(item));
        return false;
      }
      return container.dict_object().find(item) != nullptr;
    case Kind::kDictView: {
      const auto& view = *static_cast<const DictViewObject*>(container.object());
      if (view.what == ViewOf::kKeys) return contains(runtime, view.dict, item);
      break;
    }
    default:
      break;
  }
  if (!is_iterable(container)) {
    runtime.type_error("argument of type " + type_name_quoted(container) + " is not iterable");
    return false;
  }
  Iteration iteration(runtime, container);
  for (Value other; iteration.next(other);) {
    if (equal(runtime, other, item)) return true;
  }
  return false;
}

void sort_by_keys(Runtime& runtime, std::vector<Value>& items, std::vector<Value>& keys,
                  bool reverse) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  if (!runtime.allocate(items.size() * 4 * sizeof(Value))) return;
  // A merge sort of our own: comparisons may raise errors or be inconsistent (NaN), which
  // std::stable_sort does not stand.
  std::vector<std::uint32_t> merged(order.size());
  for (std::size_t width = 1; width < order.size(); width *= 2) {
    for (std::size_t low = 0; low < order.size(); low += 2 * width) {
      const std::size_t middle = std::min(low + width, order.size());
      const std::size_t high = std::min(low + 2 * width, order.size());
      std::size_t left = low;
      std::size_t right = middle;
      for (std::size_t out = low; out < high; ++out) {
        bool take_right = left >= middle;
        if (!take_right && right < high) {
          const Value& a = keys[order[left]];
          const Value& b = keys[order[right]];
          take_right =
              reverse ? ordered(runtime, Order::kLess, a, b) : ordered(runtime, Order::kLess, b, a);
          if (runtime.failed()) return;
        }
        merged[out] = take_right ? order[right++] : order[left++];
      }
    }
    order.swap(merged);
  }
  std::vector<Value> sorted;
  sorted.reserve(items.size());
  for (const std::uint32_t at : order) sorted.push_back(std::move(items[at]));
  items = std::move(sorted);
}

}  // namespace verbatim::chat::jinja
