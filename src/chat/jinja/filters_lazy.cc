#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "chat/jinja/arguments.h"
#include "chat/jinja/attribute_path.h"
#include "chat/jinja/filters_list.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/strings.h"
#include "chat/jinja/tests.h"

namespace verbatim::chat::jinja::filter {
namespace {

// A generator over another iterable. Like Python's, it does nothing before its first item is asked
// for: wrong arguments of a generator that nobody uses are no error.
struct LazyIterator : IteratorObject {
  LazyIterator(const Value& input_in, Arguments&& arguments_in)
      : input(input_in), arguments(std::move(arguments_in)) {
    depth = depth_of(input);
    for (const Value& value : arguments.positional) depth = std::max(depth, depth_of(value));
    for (const auto& [name, value] : arguments.named) depth = std::max(depth, depth_of(value));
    ++depth;
  }
  bool next(Runtime& runtime, Value& out) final {
    const Runtime::Depth guard(runtime);
    if (runtime.failed()) return false;
    if (!started) {
      started = true;
      if (!skip_when_empty() || truthy(input)) {
        if (!start(runtime)) return false;
        items.emplace(runtime, input);
      }
    }
    return items && !runtime.failed() && produce(runtime, out);
  }
  virtual bool start(Runtime& runtime) = 0;
  virtual bool produce(Runtime& runtime, Value& out) = 0;
  [[nodiscard]] virtual bool skip_when_empty() const { return true; }

  Value input;
  Arguments arguments;
  std::optional<Iteration> items;
  bool started = false;
};

Value generator(Runtime& runtime, std::unique_ptr<IteratorObject> iterator) {
  if (!runtime.allocate(256)) return {};
  return runtime.checked(Value::of(Kind::kIterator, iterator.release()));
}

struct MapIterator final : LazyIterator {
  using LazyIterator::LazyIterator;
  bool start(Runtime& runtime) override {
    if (arguments.positional.empty()) {
      const Value attribute = arguments.take("attribute");
      if (!attribute.is_missing()) {
        path.emplace(attribute);
        otherwise = arguments.take("default");
        if (arguments.named.empty()) return true;
      }
      runtime.raise("FilterArgumentError", attribute.is_missing() ? "map requires a filter argument"
                                                                  : "Unexpected keyword argument");
      return false;
    }
    const Value name = arguments.positional.front();
    arguments.positional.erase(arguments.positional.begin());
    filter = name.is_string() ? find_filter(name.text()) : nullptr;
    if (filter == nullptr) runtime.raise("TemplateRuntimeError", "map: there is no such filter");
    return filter != nullptr;
  }
  bool produce(Runtime& runtime, Value& out) override {
    Value item;
    if (!items->next(item)) return false;
    if (path) {
      out = path->get(runtime, item, otherwise);
    } else {
      Arguments copy = arguments;
      out = filter(runtime, item, copy);
    }
    return !runtime.failed();
  }
  std::optional<AttributePath> path;
  Value otherwise = Value::missing();
  FilterFunction filter = nullptr;
};

enum class Keep : bool { kFailing, kPassing };
enum class Look : bool { kAtItem, kAtAttribute };

struct SelectIterator final : LazyIterator {
  SelectIterator(const Value& input_in, Arguments&& arguments_in, Keep keep_in, Look look_in)
      : LazyIterator(input_in, std::move(arguments_in)), keep(keep_in), look(look_in) {}
  bool start(Runtime& runtime) override {
    auto& given = arguments.positional;
    if (look == Look::kAtAttribute) {
      if (given.empty()) {
        runtime.raise("FilterArgumentError", "Missing parameter for attribute name");
        return false;
      }
      path.emplace(given.front());
      given.erase(given.begin());
    }
    if (given.empty()) return true;
    const Value name = given.front();
    given.erase(given.begin());
    test = name.is_string() ? find_test(name.text()) : nullptr;
    if (test == nullptr) runtime.raise("TemplateRuntimeError", "select: there is no such test");
    return test != nullptr;
  }
  bool produce(Runtime& runtime, Value& out) override {
    while (items->next(out)) {
      const Value looked_at = path ? path->get(runtime, out) : out;
      if (runtime.failed()) return false;
      bool passes = false;
      if (test == nullptr) {
        passes = truthy(looked_at);
      } else {
        Arguments copy = arguments;
        passes = test(runtime, looked_at, copy);
      }
      if (runtime.failed()) return false;
      if (passes == (keep == Keep::kPassing)) return true;
    }
    return false;
  }
  Keep keep;
  Look look;
  std::optional<AttributePath> path;
  TestFunction test = nullptr;
};

struct UniqueIterator final : LazyIterator {
  using LazyIterator::LazyIterator;
  struct Less {
    bool operator()(const Value& a, const Value& b) const { return compare_keys(a, b) < 0; }
  };
  [[nodiscard]] bool skip_when_empty() const override { return false; }
  bool start(Runtime& runtime) override {
    Value given[2];
    if (!bind(runtime, "unique", arguments, {"case_sensitive", "attribute"}, 0, given))
      return false;
    exact = flag_argument(given[0]);
    path.emplace(given[1]);
    return true;
  }
  bool produce(Runtime& runtime, Value& out) override {
    while (items->next(out)) {
      Value key = path->get(runtime, out);
      if (!exact) key = ignore_case(runtime, key);
      if (runtime.failed()) return false;
      if (!is_hashable(key)) {
        runtime.type_error("unhashable type: " + type_name_quoted(key));
        return false;
      }
      if (key.is_string()) runtime.scan(key.text().size() * 8);
      if (runtime.allocate(64) && seen.insert(key).second) return true;
    }
    return false;
  }
  bool exact = false;
  std::optional<AttributePath> path;
  std::set<Value, Less> seen;
};

struct ItemsIterator final : LazyIterator {
  using LazyIterator::LazyIterator;
  [[nodiscard]] bool skip_when_empty() const override { return false; }
  bool start(Runtime& runtime) override {
    if (!bind(runtime, "items", arguments, {}, 0, nullptr)) return false;
    if (input.is_undefined() || input.kind() == Kind::kDict) return true;
    runtime.type_error("Can only get item pairs from a mapping.");
    return false;
  }
  bool produce(Runtime& runtime, Value& out) override {
    if (!runtime.step() || input.is_undefined()) return false;
    const auto& entries = input.dict_object().entries;
    if (at >= entries.size()) return false;
    const DictEntry& entry = entries[at++];
    out = Value::tuple({entry.key, entry.value}, input.source());
    return true;
  }
  std::size_t at = 0;
};

// A generator over items that are there already.
struct ListIterator final : IteratorObject {
  explicit ListIterator(std::vector<Value> items_in) : items(std::move(items_in)) {
    for (const Value& item : items) depth = std::max(depth, depth_of(item) + 1);
  }
  bool next(Runtime& runtime, Value& out) override {
    if (!runtime.step() || at >= items.size()) return false;
    out = items[at++];
    return true;
  }
  std::vector<Value> items;
  std::size_t at = 0;
};

Value list_generator(Runtime& runtime, std::vector<Value> items) {
  if (runtime.failed()) return {};
  return generator(runtime, std::make_unique<ListIterator>(std::move(items)));
}

}  // namespace

Value map(Runtime& runtime, const Value& input, Arguments& arguments) {
  return generator(runtime, std::make_unique<MapIterator>(input, std::move(arguments)));
}

Value select(Runtime& runtime, const Value& input, Arguments& arguments) {
  return generator(runtime, std::make_unique<SelectIterator>(input, std::move(arguments),
                                                             Keep::kPassing, Look::kAtItem));
}

Value reject(Runtime& runtime, const Value& input, Arguments& arguments) {
  return generator(runtime, std::make_unique<SelectIterator>(input, std::move(arguments),
                                                             Keep::kFailing, Look::kAtItem));
}

Value select_attribute(Runtime& runtime, const Value& input, Arguments& arguments) {
  return generator(runtime, std::make_unique<SelectIterator>(input, std::move(arguments),
                                                             Keep::kPassing, Look::kAtAttribute));
}

Value reject_attribute(Runtime& runtime, const Value& input, Arguments& arguments) {
  return generator(runtime, std::make_unique<SelectIterator>(input, std::move(arguments),
                                                             Keep::kFailing, Look::kAtAttribute));
}

Value unique(Runtime& runtime, const Value& input, Arguments& arguments) {
  return generator(runtime, std::make_unique<UniqueIterator>(input, std::move(arguments)));
}

Value items(Runtime& runtime, const Value& input, Arguments& arguments) {
  return generator(runtime, std::make_unique<ItemsIterator>(input, std::move(arguments)));
}

Value reverse(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!bind(runtime, "reverse", arguments, {}, 0, nullptr)) return {};
  if (input.is_string())
    return slice(runtime, input, Value::none(), Value::none(), Value::integer(-1));
  if (!is_iterable(input)) return runtime.raise("FilterArgumentError", "argument must be iterable");
  std::vector<Value> all = collect(runtime, input);
  std::reverse(all.begin(), all.end());
  if (input.kind() == Kind::kIterator) return runtime.make_list(std::move(all));
  return list_generator(runtime, std::move(all));
}

Value batch(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[2];
  if (!bind(runtime, "batch", arguments, {"linecount", "fill_with"}, 1, given)) return {};
  const std::int64_t count = integer_argument(runtime, given[0], 1);
  if (runtime.failed()) return {};
  const bool fills = !given[1].is_missing() && !given[1].is_none();
  std::vector<Value> rows;
  std::vector<Value> row;
  Iteration iteration(runtime, input);
  for (Value item; iteration.next(item);) {
    if (static_cast<std::int64_t>(row.size()) == count)
      rows.push_back(runtime.make_list(std::exchange(row, {})));
    row.push_back(item);
  }
  if (!row.empty()) {
    while (fills && static_cast<std::int64_t>(row.size()) < count && runtime.step() &&
           runtime.allocate(sizeof(Value))) {
      row.push_back(given[1]);
    }
    rows.push_back(runtime.make_list(std::move(row)));
  }
  return list_generator(runtime, std::move(rows));
}

Value slices(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[2];
  if (!bind(runtime, "slice", arguments, {"slices", "fill_with"}, 1, given)) return {};
  const std::int64_t count = integer_argument(runtime, given[0], 1);
  if (count == 0) return runtime.raise("ZeroDivisionError", "integer division or modulo by zero");
  const std::vector<Value> all = collect(runtime, input);
  const bool fills = !given[1].is_missing() && !given[1].is_none();
  const auto size = static_cast<std::int64_t>(all.size());
  std::vector<Value> columns;
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < count && runtime.step(); ++i) {
    const bool longer = i < size % count;
    const std::int64_t end = at + size / count + (longer ? 1 : 0);
    std::vector<Value> column(all.begin() + at, all.begin() + end);
    if (fills && !longer) column.push_back(given[1]);
    columns.push_back(runtime.make_list(std::move(column)));
    at = end;
  }
  return list_generator(runtime, std::move(columns));
}

}  // namespace verbatim::chat::jinja::filter
