#include "chat/jinja/tests.h"

#include <algorithm>
#include <iterator>

#include "chat/jinja/arguments.h"
#include "chat/jinja/attributes.h"
#include "chat/jinja/filters.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/print.h"

namespace verbatim::chat::jinja {
namespace {

bool no_arguments(Runtime& runtime, Arguments& arguments) {
  return bind(runtime, "test", arguments, {}, 0, nullptr);
}

bool one_argument(Runtime& runtime, Arguments& arguments, Value& out) {
  return bind(runtime, "test", arguments, {"other"}, 1, &out);
}

template <Kind... kinds>
bool is_kind(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) && ((input.kind() == kinds) || ...);
}

bool is_defined(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) && !input.is_undefined();
}

template <bool wanted>
bool is_boolean_value(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) && input.kind() == Kind::kBool &&
         input.boolean() == wanted;
}

// value % by == 0, with everything % can do
bool divides(Runtime& runtime, const Value& input, const Value& by, std::int64_t remainder) {
  const Value rest = binary(runtime, Arithmetic::kMod, input, by);
  return !runtime.failed() && equal(runtime, rest, Value::integer(remainder));
}
bool is_odd(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) && divides(runtime, input, Value::integer(2), 1);
}
bool is_even(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) && divides(runtime, input, Value::integer(2), 0);
}
bool is_divisible(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value by;
  return bind(runtime, "divisibleby", arguments, {"num"}, 1, &by) && divides(runtime, input, by, 0);
}

bool test_iterable(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) && is_iterable(input);
}

bool is_sequence(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!no_arguments(runtime, arguments)) return false;
  switch (input.kind()) {
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kRange:
    case Kind::kUndefined:  // it has len() and answers to []
      return true;
    default:
      return false;
  }
}

bool is_callable(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!no_arguments(runtime, arguments)) return false;
  switch (input.kind()) {
    case Kind::kUndefined:
    case Kind::kMacro:
    case Kind::kMethod:
    case Kind::kFunction:
    case Kind::kLoop:
    case Kind::kJoiner:
      return true;
    default:
      return false;
  }
}

bool is_same(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value other;
  if (!one_argument(runtime, arguments, other) || input.kind() != other.kind()) return false;
  switch (input.kind()) {
    case Kind::kNone:
      return true;
    case Kind::kBool:
      return input.boolean() == other.boolean();
    case Kind::kInt:  // CPython keeps one object for each of these
      if (input.integer() == other.integer() && input.integer() >= -5 && input.integer() <= 256)
        return true;
      break;
    case Kind::kFunction:
      return input.extra() == other.extra();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kNamespace:
    case Kind::kMacro:
      return input.object() == other.object();
    default:
      break;
  }
  runtime.unsupported("'sameas' for " + std::string(type_name(input)) +
                      " (depends on memory in Python)");
  return false;
}

bool is_escaped(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) && input.is_markup();
}

bool is_in(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value container;
  return bind(runtime, "in", arguments, {"seq"}, 1, &container) &&
         contains(runtime, container, input);
}

template <Method method>
bool is_case(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!no_arguments(runtime, arguments)) return false;
  return truthy(call_string_method(runtime, to_str(runtime, input), method, arguments));
}

bool is_equal(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value other;
  return one_argument(runtime, arguments, other) && equal(runtime, input, other);
}
bool is_different(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value other;
  return one_argument(runtime, arguments, other) && !equal(runtime, input, other);
}
template <Order order>
bool is_ordered(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value other;
  return one_argument(runtime, arguments, other) && ordered(runtime, order, input, other);
}

template <class Function, Function (*find)(std::string_view)>
bool is_known(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!no_arguments(runtime, arguments)) return false;
  if (!is_hashable(input)) runtime.type_error("unhashable type: " + type_name_quoted(input));
  return input.is_string() && find(input.text()) != nullptr;
}

struct Named {
  std::string_view name;
  TestFunction function;
};
// Sorted by name.
constexpr Named kTests[] = {
    {"!=", is_different},
    {"<", is_ordered<Order::kLess>},
    {"<=", is_ordered<Order::kLessEqual>},
    {"==", is_equal},
    {">", is_ordered<Order::kGreater>},
    {">=", is_ordered<Order::kGreaterEqual>},
    {"boolean", is_kind<Kind::kBool>},
    {"callable", is_callable},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", is_equal},
    {"equalto", is_equal},
    {"escaped", is_escaped},
    {"even", is_even},
    {"false", is_boolean_value<false>},
    {"filter", is_known<FilterFunction, find_filter>},
    {"float", is_kind<Kind::kFloat>},
    {"ge", is_ordered<Order::kGreaterEqual>},
    {"greaterthan", is_ordered<Order::kGreater>},
    {"gt", is_ordered<Order::kGreater>},
    {"in", is_in},
    {"integer", is_kind<Kind::kInt, Kind::kBigInt>},
    {"iterable", test_iterable},
    {"le", is_ordered<Order::kLessEqual>},
    {"lessthan", is_ordered<Order::kLess>},
    {"lower", is_case<Method::kIslower>},
    {"lt", is_ordered<Order::kLess>},
    {"mapping", is_kind<Kind::kDict>},
    {"ne", is_different},
    {"none", is_kind<Kind::kNone>},
    {"number", is_kind<Kind::kBool, Kind::kInt, Kind::kBigInt, Kind::kFloat>},
    {"odd", is_odd},
    {"sameas", is_same},
    {"sequence", is_sequence},
    {"string", is_kind<Kind::kString>},
    {"test", is_known<TestFunction, find_test>},
    {"true", is_boolean_value<true>},
    {"undefined", is_kind<Kind::kUndefined>},
    {"upper", is_case<Method::kIsupper>},
};

}  // namespace

TestFunction find_test(std::string_view name) {
  const auto* it =
      std::lower_bound(std::begin(kTests), std::end(kTests), name,
                       [](const Named& test, std::string_view n) { return test.name < n; });
  return it != std::end(kTests) && it->name == name ? it->function : nullptr;
}

}  // namespace verbatim::chat::jinja
