#include "chat/jinja/globals.h"

#include "chat/jinja/arguments.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/print.h"
#include "chat/jinja/strings.h"

namespace verbatim::chat::jinja {
namespace {

constexpr std::int64_t kMaxRange = 100000;  // jinja2's sandbox

struct NamedGlobal {
  std::string_view name;
  Global global;
};
constexpr NamedGlobal kGlobals[] = {
    {"range", Global::kRange},
    {"dict", Global::kDict},
    {"namespace", Global::kNamespace},
    {"raise_exception", Global::kRaiseException},
    {"strftime_now", Global::kStrftimeNow},
    {"joiner", Global::kJoiner},
    {"cycler", Global::kCycler},
};

// Entries of dict(mapping or pairs, **named).
bool collect_entries(Runtime& runtime, Arguments& arguments,
                     std::vector<std::pair<Value, Value>>& out) {
  if (arguments.positional.size() > 1) {
    runtime.type_error("dict expected at most 1 argument");
    return false;
  }
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    if (from.kind() == Kind::kDict) {
      for (const DictEntry& entry : from.dict_object().entries)
        out.emplace_back(entry.key, entry.value);
    } else {
      Iteration iteration(runtime, from);
      for (Value item; iteration.next(item);) {
        const std::vector<Value> pair = collect(runtime, item);
        if (runtime.failed()) return false;
        if (pair.size() != 2 || !is_hashable(pair[0])) {
          runtime.value_error("dict(): the items must be pairs of a key and a value");
          return false;
        }
        out.emplace_back(pair[0], pair[1]);
      }
    }
  }
  for (auto& [name, value] : arguments.named) out.emplace_back(name, std::move(value));
  return !runtime.failed() && runtime.step(out.size()) &&
         runtime.allocate(out.size() * sizeof(DictEntry));
}

}  // namespace

Value find_global(std::string_view name) {
  for (const NamedGlobal& global : kGlobals) {
    if (global.name == name) return Value::function(static_cast<std::uint16_t>(global.global));
  }
  return Value::missing();
}

Value call_range(Runtime& runtime, Arguments& arguments) {
  if (!positional_only(runtime, "range", arguments, 1, 3)) return {};
  const auto& given = arguments.positional;
  for (const Value& value : given) {
    if (value.is_undefined()) return runtime.undefined_error(value);
    if (!value.is_integral()) {
      return runtime.type_error(type_name_quoted(value) +
                                " object cannot be interpreted as an integer");
    }
  }
  const std::int64_t start = given.size() > 1 ? given[0].integer() : 0;
  const std::int64_t stop = given.size() > 1 ? given[1].integer() : given[0].integer();
  const std::int64_t step = given.size() > 2 ? given[2].integer() : 1;
  if (step == 0) return runtime.value_error("range() arg 3 must not be zero");
  const auto distance = static_cast<__int128>(stop) - start;
  const __int128 count = step > 0 ? (distance + step - 1) / step : (distance + step + 1) / step;
  if (count > kMaxRange) {
    return runtime.raise("OverflowError",
                         "Range too big. The sandbox blocks ranges larger than 100000.");
  }
  auto* range = new RangeObject;
  range->start = start;
  range->stop = stop;
  range->step = step;
  range->count = count > 0 ? static_cast<std::int64_t>(count) : 0;
  return Value::of(Kind::kRange, range, given[given.size() > 1 ? 1 : 0].source());
}

Value call_dict(Runtime& runtime, Arguments& arguments) {
  std::vector<std::pair<Value, Value>> entries;
  if (!collect_entries(runtime, arguments, entries)) return {};
  return runtime.checked(Value::dict(std::move(entries)));
}

Value call_dict_fromkeys(Runtime& runtime, Arguments& arguments) {
  if (!positional_only(runtime, "fromkeys", arguments, 1, 2)) return {};
  const Value value = arguments.positional.size() > 1 ? arguments.positional[1] : Value::none();
  std::vector<std::pair<Value, Value>> entries;
  for (Value& key : collect(runtime, arguments.positional[0])) {
    if (!is_hashable(key)) return runtime.type_error("unhashable type: " + type_name_quoted(key));
    entries.emplace_back(std::move(key), value);
  }
  if (runtime.failed()) return {};
  return runtime.checked(Value::dict(std::move(entries)));
}

Value call_namespace(Runtime& runtime, Arguments& arguments) {
  std::vector<std::pair<Value, Value>> entries;
  if (!collect_entries(runtime, arguments, entries) || !runtime.allocate(sizeof(NamespaceObject)))
    return {};
  auto* object = new NamespaceObject;
  Value made = Value::of(Kind::kNamespace, object);
  for (auto& [name, value] : entries) {
    if (!name.is_string()) return runtime.unsupported("namespace attributes that are no strings");
    if (!name.text().empty() && name.text().front() == '_') {
      return runtime.raise("SecurityError",
                           "a namespace attribute may not start with an underscore");
    }
    if (Value* known = object->find(name.text())) {
      *known = std::move(value);
    } else {
      object->attributes.push_back({std::move(name), std::move(value)});
    }
  }
  return made;
}

Value call_raise_exception(Runtime& runtime, Arguments& arguments) {
  Value message;
  if (!bind(runtime, "raise_exception", arguments, {"message"}, 1, &message)) return {};
  TextBuilder text;
  append_str(runtime, text, message);
  if (runtime.failed()) return {};
  return runtime.fail(base::ErrorKind::kInvalidRequest, text.take().bytes);
}

Value call_strftime_now(Runtime& runtime, Arguments& arguments) {
  Value format;
  if (!bind(runtime, "strftime_now", arguments, {"fmt"}, 1, &format)) return {};
  if (!expect_string(runtime, format, "strftime")) return {};
  TextBuilder out;
  out.append(format_time(runtime.options().clock, format.text()), format.source());
  return runtime.make_string(std::move(out));
}

Value call_joiner(Runtime& runtime, Arguments& arguments) {
  Value separator;
  if (!bind(runtime, "joiner", arguments, {"sep"}, 0, &separator)) return {};
  if (!runtime.allocate(sizeof(JoinerObject))) return {};
  auto* joiner = new JoinerObject;
  joiner->separator = separator.is_missing() ? Value::string(", ") : separator;
  joiner->depth = depth_of(joiner->separator) + 1;
  return runtime.checked(Value::of(Kind::kJoiner, joiner));
}

Value call_cycler(Runtime& runtime, Arguments& arguments) {
  if (!arguments.named.empty()) return runtime.type_error("Cycler() takes no keyword arguments");
  if (arguments.positional.empty())
    return runtime.raise("RuntimeError", "at least one item has to be provided");
  if (!runtime.allocate(sizeof(CyclerObject))) return {};
  auto* cycler = new CyclerObject;
  cycler->items = std::move(arguments.positional);
  for (const Value& item : cycler->items)
    cycler->depth = std::max(cycler->depth, depth_of(item) + 1);
  return runtime.checked(Value::of(Kind::kCycler, cycler));
}

}  // namespace verbatim::chat::jinja
