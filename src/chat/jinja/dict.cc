#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "chat/jinja/numbers.h"
#include "chat/jinja/objects.h"

namespace verbatim::chat::jinja {
namespace {

constexpr std::size_t kFewEntries = 8;  // looked through one by one

// Keys of different classes are never equal.
int key_class(const Value& key) {
  if (key.is_number()) return 1;
  switch (key.kind()) {
    case Kind::kNone:
      return 0;
    case Kind::kString:
      return 2;
    case Kind::kTuple:
      return 3;
    case Kind::kUndefined:
      return 4;
    default:
      return 5;
  }
}

bool same_text(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// Tuples may share parts and so be far bigger than they take memory: a key with more parts than
// this counts as one that has no hash.
constexpr int kMaxKeyParts = 10000;

bool is_hashable_within(const Value& value, int& parts) {
  if (++parts > kMaxKeyParts) return false;
  if (value.kind() == Kind::kDictView) {
    return static_cast<const DictViewObject*>(value.object())->what == ViewOf::kValues;
  }
  if (value.kind() != Kind::kTuple) {
    return value.kind() != Kind::kList && value.kind() != Kind::kDict;
  }
  return std::all_of(value.items().begin(), value.items().end(),
                     [&parts](const Value& part) { return is_hashable_within(part, parts); });
}

template <class T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

}  // namespace

bool is_hashable(const Value& value) {
  int parts = 0;
  return is_hashable_within(value, parts);
}

int compare_keys(const Value& a, const Value& b) {
  const int class_a = key_class(a);
  const int class_b = key_class(b);
  if (class_a != class_b) return class_a - class_b;
  switch (class_a) {
    case 1:
      return compare_numbers(a, b).value_or(0);
    case 2:
      return a.text().compare(b.text());
    case 3: {
      const auto& x = a.items();
      const auto& y = b.items();
      for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        if (const int c = compare_keys(x[i], y[i]); c != 0) return c;
      }
      return three_way(x.size(), y.size());
    }
    case 5:
      return three_way(a.object(), b.object());
    default:
      return 0;
  }
}

const Value* DictObject::find(std::string_view key) const {
  if (order_.empty()) {
    for (const DictEntry& entry : entries) {
      if (entry.key.is_string() && same_text(entry.key.text(), key)) return &entry.value;
    }
    return nullptr;
  }
  const auto before = [this](std::uint32_t at, std::string_view k) {
    const Value& other = entries[at].key;
    return other.is_string() ? other.text() < k : key_class(other) < 2;
  };
  const auto it = std::lower_bound(order_.begin(), order_.end(), key, before);
  if (it == order_.end()) return nullptr;
  const DictEntry& entry = entries[*it];
  return entry.key.is_string() && same_text(entry.key.text(), key) ? &entry.value : nullptr;
}

const Value* DictObject::find(const Value& key) const {
  if (key.is_string()) return find(key.text());
  if (!is_hashable(key)) return nullptr;
  if (order_.empty()) {
    for (const DictEntry& entry : entries) {
      if (compare_keys(entry.key, key) == 0) return &entry.value;
    }
    return nullptr;
  }
  const auto before = [this](std::uint32_t at, const Value& k) {
    return compare_keys(entries[at].key, k) < 0;
  };
  const auto it = std::lower_bound(order_.begin(), order_.end(), key, before);
  if (it == order_.end() || compare_keys(entries[*it].key, key) != 0) return nullptr;
  return &entries[*it].value;
}

void DictObject::finish() {
  order_.clear();
  const auto less = [this](std::uint32_t a, std::uint32_t b) {
    return compare_keys(entries[a].key, entries[b].key) < 0;
  };
  std::vector<bool> drop(entries.size(), false);
  bool any = false;
  const auto merge = [&](std::uint32_t first, std::uint32_t later) {
    entries[first].value = entries[later].value;
    drop[later] = any = true;
  };
  if (entries.size() <= kFewEntries) {
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      for (std::uint32_t j = 0; j < i; ++j) {
        if (!drop[j] && compare_keys(entries[j].key, entries[i].key) == 0) {
          merge(j, i);
          break;
        }
      }
    }
  } else {
    order_.resize(entries.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(), less);
    for (std::size_t i = 0; i + 1 < order_.size();) {
      std::size_t j = i + 1;
      while (j < order_.size() && !less(order_[i], order_[j])) merge(order_[i], order_[j++]);
      i = j;
    }
  }
  if (!any) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (drop[i]) continue;
    if (kept != i) entries[kept] = std::move(entries[i]);
    ++kept;
  }
  entries.resize(kept);
  finish();  // positions have moved; no duplicates are left
}

}  // namespace verbatim::chat::jinja
