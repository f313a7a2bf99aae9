#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chat/jinja/value.h"

// What Values of the engine point to (see value.h).
namespace verbatim::chat::jinja {

class Runtime;

struct DictEntry {
  Value key;
  Value value;
};

// Entries in order of insertion. Built as a whole, then never changed.
struct DictObject final : Object {
  std::vector<DictEntry> entries;

  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] const Value* find(
      const Value& key) const;  // nullptr for keys that can't be hashed, too
  // To be called once the entries are complete: removes duplicates (the last value at the place of
  // the first), makes the index.
  void finish();

 private:
  std::vector<std::uint32_t> order_;  // positions sorted by key; empty for few entries
};

struct RangeObject final : Object {
  std::int64_t start = 0, stop = 0, step = 1;
  std::int64_t count = 0;
  [[nodiscard]] std::int64_t at(std::int64_t i) const { return start + i * step; }
};

enum class ViewOf : std::uint8_t { kKeys, kValues, kItems };
struct DictViewObject final : Object {
  Value dict;
  ViewOf what = ViewOf::kItems;
};

// A generator: gives its items once, on demand.
struct IteratorObject : Object {
  // False at the end, or after an error (which the runtime holds).
  virtual bool next(Runtime& runtime, Value& out) = 0;
};

// Attributes can be set, so it may hold itself: the renderer that made it empties it at the end.
struct NamespaceObject final : Object {
  std::vector<DictEntry> attributes;
  [[nodiscard]] Value* find(std::string_view name);
};

struct MethodObject final : Object {
  Value self;
  std::uint16_t method = 0;
};

struct CyclerObject final : Object {
  std::vector<Value> items;
  std::size_t position = 0;
};

struct JoinerObject final : Object {
  Value separator;
  bool used = false;
};

// Python's order of dictionary keys for the index: any total order in which equal keys are equal. <
// 0, 0, > 0.
int compare_keys(const Value& a, const Value& b);
bool is_hashable(const Value& value);

// A part of a string, sharing its bytes. `from` and `to` are byte offsets at character borders.
Value substring(const Value& string, std::size_t from, std::size_t to);
std::uint32_t depth_of(const Value& value);

}  // namespace verbatim::chat::jinja
