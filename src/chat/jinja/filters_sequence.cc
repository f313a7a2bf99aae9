#include <algorithm>

#include "chat/jinja/arguments.h"
#include "chat/jinja/attribute_path.h"
#include "chat/jinja/attributes.h"
#include "chat/jinja/filters_list.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/print.h"
#include "chat/jinja/strings.h"

namespace verbatim::chat::jinja {

AttributePath::AttributePath(const Value& attribute) {
  if (attribute.is_none() || attribute.is_missing()) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  const std::string_view text = attribute.text();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const bool digits =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    const auto number = digits ? parse_integer(part, 10) : std::nullopt;
    parts_.push_back(number ? *number : Value::string(std::string(part), attribute.source()));
    at = end + 1;
  }
}

Value AttributePath::get(Runtime& runtime, const Value& item, const Value& otherwise) const {
  Value value = item;
  for (const Value& part : parts_) {
    value = get_item(runtime, value, part);
    if (runtime.failed()) return {};
    if (value.is_undefined() && !otherwise.is_missing() && !otherwise.is_none()) value = otherwise;
  }
  return value;
}

Value ignore_case(Runtime& runtime, const Value& value) {
  return value.is_string() ? lower_case(runtime, value) : value;
}

namespace filter {
namespace {

Value no_item(const char* message) {
  return make_undefined(UndefinedBy::kHint, Value::string(message));
}

// min and max
Value extreme(Runtime& runtime, const Value& input, Arguments& arguments, Order wanted) {
  Value given[2];
  if (!bind(runtime, "min", arguments, {"case_sensitive", "attribute"}, 0, given)) return {};
  const AttributePath path(given[1]);
  const bool exact = flag_argument(given[0]);
  Iteration iteration(runtime, input);
  Value best = Value::missing();
  Value best_key;
  for (Value item; iteration.next(item);) {
    Value key = path.get(runtime, item);
    if (!exact) key = ignore_case(runtime, key);
    if (best.is_missing() || ordered(runtime, wanted, key, best_key)) {
      best = item;
      best_key = std::move(key);
    }
    if (runtime.failed()) return {};
  }
  return best.is_missing() ? no_item("No aggregated item, sequence was empty.") : best;
}

// The paths of "name,age".
std::vector<AttributePath> paths_of(const Value& attribute) {
  std::vector<AttributePath> paths;
  if (!attribute.is_string()) {
    paths.emplace_back(attribute);
    return paths;
  }
  const std::string_view text = attribute.text();
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    paths.emplace_back(Value::string(std::string(text.substr(at, end - at))));
    at = end + 1;
  }
  return paths;
}

}  // namespace

Value minimum(Runtime& runtime, const Value& input, Arguments& arguments) {
  return extreme(runtime, input, arguments, Order::kLess);
}

Value maximum(Runtime& runtime, const Value& input, Arguments& arguments) {
  return extreme(runtime, input, arguments, Order::kGreater);
}

Value first(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!bind(runtime, "first", arguments, {}, 0, nullptr)) return {};
  Iteration iteration(runtime, input);
  Value item;
  return iteration.next(item) ? item : no_item("No first item, sequence was empty.");
}

Value last(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!bind(runtime, "last", arguments, {}, 0, nullptr)) return {};
  const auto length = length_of(input);
  if (!length) return runtime.type_error(type_name_quoted(input) + " object is not reversible");
  if (*length == 0) return no_item("No last item, sequence was empty.");
  if (input.kind() == Kind::kDict || input.kind() == Kind::kDictView)
    return collect(runtime, input).back();
  return subscript(runtime, input, Value::integer(-1)).with_markup(false);
}

Value list(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!bind(runtime, "list", arguments, {}, 0, nullptr)) return {};
  std::vector<Value> items = collect(runtime, input);
  return runtime.failed() ? Value() : runtime.make_list(std::move(items), input.source());
}

Value join(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[2];
  if (!bind(runtime, "join", arguments, {"d", "attribute"}, 0, given)) return {};
  const AttributePath path(given[1]);
  Iteration iteration(runtime, input);
  TextBuilder out;
  bool first_item = true;
  for (Value item; iteration.next(item);) {
    if (!first_item && !given[0].is_missing()) append_str(runtime, out, given[0]);
    first_item = false;
    append_str(runtime, out, path.get(runtime, item));
    if (runtime.failed() || out.size() > runtime.options().max_output_bytes) break;
  }
  return runtime.failed() ? Value() : runtime.make_string(std::move(out));
}

Value dict_sort(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[3];
  if (!bind(runtime, "dictsort", arguments, {"case_sensitive", "by", "reverse"}, 0, given))
    return {};
  const std::string by =
      given[1].is_missing() ? "key" : (given[1].is_string() ? std::string(given[1].text()) : "");
  if (by != "key" && by != "value") {
    return runtime.raise("FilterArgumentError", "You can only sort by either \"key\" or \"value\"");
  }
  if (input.is_undefined()) return runtime.undefined_error(input);
  if (input.kind() != Kind::kDict)
    return runtime.raise("AttributeError",
                         type_name_quoted(input) + " object has no attribute 'items'");
  std::vector<Value> items;
  std::vector<Value> keys;
  for (const DictEntry& entry : input.dict_object().entries) {
    items.push_back(Value::tuple({entry.key, entry.value}, input.source()));
    const Value& key = by == "key" ? entry.key : entry.value;
    keys.push_back(flag_argument(given[0]) ? key : ignore_case(runtime, key));
  }
  if (!runtime.allocate(items.size() * sizeof(ListObject))) return {};
  sort_by_keys(runtime, items, keys, flag_argument(given[2]));
  return runtime.failed() ? Value() : runtime.make_list(std::move(items), input.source());
}

Value sort(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[3];
  if (!bind(runtime, "sort", arguments, {"reverse", "case_sensitive", "attribute"}, 0, given))
    return {};
  const std::vector<AttributePath> paths = paths_of(given[2]);
  const bool exact = flag_argument(given[1]);
  std::vector<Value> items = collect(runtime, input);
  std::vector<Value> keys;
  for (const Value& item : items) {
    std::vector<Value> parts;
    for (const AttributePath& path : paths) {
      const Value part = path.get(runtime, item);
      parts.push_back(exact ? part : ignore_case(runtime, part));
    }
    keys.push_back(runtime.make_list(std::move(parts)));
    if (runtime.failed()) return {};
  }
  sort_by_keys(runtime, items, keys, flag_argument(given[0]));
  return runtime.failed() ? Value() : runtime.make_list(std::move(items), input.source());
}

Value sum(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[2];
  if (!bind(runtime, "sum", arguments, {"attribute", "start"}, 0, given)) return {};
  const AttributePath path(given[0]);
  Value total = given[1].is_missing() ? Value::integer(0) : given[1];
  if (total.is_string())
    return runtime.type_error("sum() can't sum strings [use ''.join(seq) instead]");
  Iteration iteration(runtime, input);
  for (Value item; iteration.next(item);) {
    total = binary(runtime, Arithmetic::kAdd, total, path.get(runtime, item));
    if (runtime.failed()) return {};
  }
  return total;
}

}  // namespace filter
}  // namespace verbatim::chat::jinja
