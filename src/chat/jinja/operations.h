#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "chat/jinja/numbers.h"
#include "chat/jinja/runtime.h"

// What Python's operators and built-in functions do with Values.
namespace verbatim::chat::jinja {

bool truthy(const Value& value);
bool equal(Runtime& runtime, const Value& a, const Value& b);
enum class Order : std::uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual };
bool ordered(Runtime& runtime, Order order, const Value& a, const Value& b);
bool contains(Runtime& runtime, const Value& container, const Value& item);
// len(); nothing for what has none (no error is raised).
std::optional<std::int64_t> length_of(const Value& value);

// a + b and so on, with strings, lists and tuples.
Value binary(Runtime& runtime, Arithmetic op, const Value& a, const Value& b);

// Stable, as sorted(); `keys` decide. Errors of comparisons stick in the runtime.
void sort_by_keys(Runtime& runtime, std::vector<Value>& items, std::vector<Value>& keys,
                  bool reverse);

// One pass over anything that can be iterated. Life: on the stack; the iterated value is kept
// alive.
class Iteration {
 public:
  // Raises TypeError for values that can't be iterated; then next() is false.
  Iteration(Runtime& runtime, Value iterable);
  bool next(Value& out);

 private:
  bool next_of_dict(Value& out);
  bool next_character(Value& out);
  Runtime& runtime_;
  Value iterable_;
  std::size_t at_ = 0;
};
bool is_iterable(const Value& value);
// list(value)
std::vector<Value> collect(Runtime& runtime, const Value& iterable);

// container[index] where that exists; kMissing for what Python answers with TypeError or
// LookupError.
Value subscript(Runtime& runtime, const Value& container, const Value& index);
// container[start:stop:step]; bounds are integers or None.
Value slice(Runtime& runtime, const Value& container, const Value& start, const Value& stop,
            const Value& step);
// Start, step and number of items of a slice of `size` items.
struct SliceRange {
  std::int64_t start = 0, stop = 0, step = 1, count = 0;
};
bool slice_range(Runtime& runtime, std::int64_t size, const Value& start, const Value& stop,
                 const Value& step, SliceRange& out);
// Characters picked out of a string.
Value slice_string(Runtime& runtime, const Value& string, const SliceRange& range);

}  // namespace verbatim::chat::jinja
