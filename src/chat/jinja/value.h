#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/jinja/text.h"

namespace verbatim::json {
class Value;
}

namespace verbatim::chat::jinja {

// The kinds of values a template can hold. Hosts build the first group; the second one is made by
// templates.
enum class Kind : std::uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kBigInt,  // beyond 64 bits; kept as its digits
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,

  kMissing,  // no value at all: an unset variable, an argument that was not given
  kRange,
  kDictView,
  kIterator,  // what Python calls a generator
  kNamespace,
  kLoop,
  kMacro,
  kMethod,
  kFunction,
  kCycler,
  kJoiner,
};

// What a Value points to where it doesn't fit into a word. Counted by reference, from any thread;
// never changed once a host can share it.
struct Object {
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  std::atomic<std::uint32_t> references{1};
  std::uint32_t depth =
      1;  // longest chain of objects below, itself included: bounds every recursion
};

struct StringObject;
struct DictObject;

// A value with Python's semantics. Strings know for each byte which source it came from; numbers,
// booleans, None, lists and dicts carry one source, which is what text made of them (str(), repr(),
// tojson) gets. Cheap to copy: a word, or a counted reference.
//
// Hosts build a context out of dict(), list(), string() and from_json(), once per request, and may
// render with it from several threads.
class Value {
 public:
  Value() = default;  // undefined
  Value(const Value& other) : head_(other.head_), payload_(other.payload_) { retain(); }
  Value(Value&& other) noexcept : head_(other.head_), payload_(other.payload_) {
    other.head_ = Head{};
    other.payload_.integer = 0;
  }
  Value& operator=(const Value& other) {
    Value copy(other);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Value() { release(); }
  void swap(Value& other) noexcept {
    std::swap(head_, other.head_);
    std::swap(payload_, other.payload_);
  }

  static Value none(SourceId source = kTemplate);
  static Value boolean(bool value, SourceId source = kTemplate);
  static Value integer(std::int64_t value, SourceId source = kTemplate);
  static Value floating(double value, SourceId source = kTemplate);
  // UTF-8.
  static Value string(std::string text, SourceId source = kTemplate);
  static Value string(Text text);
  static Value list(std::vector<Value> items, SourceId source = kTemplate);
  static Value tuple(std::vector<Value> items, SourceId source = kTemplate);
  // Of equal keys the last value stands at the place of the first. Keys are strings, numbers,
  // booleans, None or tuples of these.
  static Value dict(std::vector<std::pair<Value, Value>> entries, SourceId source = kTemplate);
  static Value dict(std::vector<std::pair<std::string, Value>> entries,
                    SourceId source = kTemplate);
  // What Python's json.loads makes of it: integers keep all digits, other numbers are doubles,
  // equal keys as in dict(). Every part gets the source.
  static Value from_json(const json::Value& json, SourceId source = kTemplate);

  [[nodiscard]] Kind kind() const { return head_.kind; }
  [[nodiscard]] bool is_string() const { return head_.kind == Kind::kString; }
  [[nodiscard]] bool is_undefined() const { return head_.kind == Kind::kUndefined; }
  [[nodiscard]] bool is_missing() const { return head_.kind == Kind::kMissing; }
  [[nodiscard]] bool is_none() const { return head_.kind == Kind::kNone; }
  [[nodiscard]] bool is_integral() const {  // bool is a kind of int
    return head_.kind == Kind::kInt || head_.kind == Kind::kBool;
  }
  [[nodiscard]] bool is_number() const {
    return is_integral() || head_.kind == Kind::kFloat || head_.kind == Kind::kBigInt;
  }
  [[nodiscard]] bool is_sequence() const {  // list or tuple
    return head_.kind == Kind::kList || head_.kind == Kind::kTuple;
  }

  // Where the value came from: the source of a number or container, of a string's first byte.
  [[nodiscard]] SourceId source() const;

  // Readers. Asking for another kind than kind() is a bug.
  [[nodiscard]] bool boolean() const { return payload_.integer != 0; }
  [[nodiscard]] std::int64_t integer() const { return payload_.integer; }  // kBool too
  [[nodiscard]] double floating() const { return payload_.floating; }
  [[nodiscard]] std::string_view text() const;            // kString, kBigInt
  [[nodiscard]] const std::vector<Value>& items() const;  // kList, kTuple
  [[nodiscard]] const StringObject& string_object() const;
  [[nodiscard]] const DictObject& dict_object() const;

  // For the engine: values of the second group.
  static Value missing();
  static Value function(std::uint16_t id);
  // Takes over the reference the object was created with.
  static Value of(Kind kind, Object* object, SourceId source = kTemplate);
  [[nodiscard]] Object* object() const { return payload_.object; }
  // A string |safe was applied to: Python's Markup.
  [[nodiscard]] bool is_markup() const { return head_.flag != 0 && is_string(); }
  [[nodiscard]] Value with_markup(bool markup) const;
  // Why a value is undefined, for messages.
  [[nodiscard]] std::uint16_t extra() const { return head_.extra; }
  void set_extra(std::uint16_t extra) { head_.extra = extra; }
  void set_source(SourceId source) { head_.source = source; }

 private:
  struct Head {
    Kind kind = Kind::kUndefined;
    std::uint8_t flag = 0;
    std::uint16_t extra = 0;
    SourceId source = kTemplate;
  };
  union Payload {
    std::int64_t integer;
    double floating;
    Object* object;
  };
  [[nodiscard]] bool has_object() const {
    switch (head_.kind) {
      case Kind::kNone:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kFloat:
      case Kind::kMissing:
      case Kind::kFunction:
        return false;
      default:
        return payload_.object != nullptr;
    }
  }
  void retain() const {
    if (has_object()) payload_.object->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    if (has_object() && payload_.object->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete payload_.object;
    }
  }

  Head head_;
  Payload payload_{0};
};

// The two objects every render reads all the time; the others are in objects.h.

// A string: bytes of its own or a part of another string's, with one source or a list of runs.
struct StringObject final : Object {
  std::string own;
  std::string_view text;  // own, or a part of base's
  SourceId source = kTemplate;
  std::vector<Run> runs;  // tiles the text; empty when all of it is from `source`
  Value base;             // keeps the bytes of a part alive

  // Number of code points, counted once.
  [[nodiscard]] std::size_t characters() const;
  [[nodiscard]] bool ascii() const { return characters() == text.size(); }
  [[nodiscard]] SourceId source_at(std::size_t byte) const;
  void append_to(TextBuilder& out) const;
  void append_part_to(TextBuilder& out, std::size_t from, std::size_t to) const;

 private:
  mutable std::atomic<std::int64_t> characters_{-1};
};

struct ListObject final : Object {
  std::vector<Value> items;
};

inline const StringObject& Value::string_object() const {
  return *static_cast<const StringObject*>(payload_.object);
}

inline std::string_view Value::text() const {
  return string_object().text;
}

inline const std::vector<Value>& Value::items() const {
  return static_cast<const ListObject*>(payload_.object)->items;
}

}  // namespace verbatim::chat::jinja
