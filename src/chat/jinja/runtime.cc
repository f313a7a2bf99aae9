#include "chat/jinja/runtime.h"

#include <algorithm>
#include <utility>

namespace verbatim::chat::jinja {

namespace {
// Printing and comparing recurse into values.
constexpr std::uint32_t kMaxObjectDepth = 1000;
}  // namespace

Value Arguments::take(std::string_view name) {
  for (auto it = named.begin(); it != named.end(); ++it) {
    if (it->first.text() != name) continue;
    Value value = std::move(it->second);
    named.erase(it);
    return value;
  }
  return Value::missing();
}

Runtime::Runtime(const RenderOptions& options)
    : options_(options), steps_left_(options.max_steps), bytes_left_(options.max_allocated_bytes) {}

bool Runtime::out_of_steps() {
  steps_left_ = 0;
  fail(base::ErrorKind::kTooLarge, "line " + std::to_string(line_) +
                                       ": the template takes more than " +
                                       std::to_string(options_.max_steps) + " steps");
  return false;
}

void Runtime::too_deep() {
  fail(base::ErrorKind::kTooLarge,
       "line " + std::to_string(line_) + ": the template recurses too deeply");
}

bool Runtime::allocate(std::size_t bytes) {
  if (bytes <= options_.max_output_bytes && bytes <= bytes_left_) {
    bytes_left_ -= bytes;
    return !failed();
  }
  fail(base::ErrorKind::kTooLarge,
       "line " + std::to_string(line_) + ": the template makes more text than allowed");
  return false;
}

Value Runtime::fail(base::ErrorKind kind, std::string message) {
  if (!error_) error_ = base::error(kind, std::move(message));
  steps_left_ = 0;  // every loop that asks for a step ends
  return {};
}

Value Runtime::raise(std::string_view type, std::string message) {
  return fail(base::ErrorKind::kInvalidRequest,
              "line " + std::to_string(line_) + ": " + std::string(type) + ": " + message);
}

Value Runtime::unsupported(std::string message) {
  return fail(base::ErrorKind::kUnsupported,
              "line " + std::to_string(line_) + ": not supported: " + message);
}

Value Runtime::undefined_error(const Value& undefined) {
  const auto by = static_cast<UndefinedBy>(undefined.extra() & 0xff);
  return raise(by == UndefinedBy::kUnsafe ? "SecurityError" : "UndefinedError",
               undefined_message(undefined));
}

Value Runtime::make_string(TextBuilder&& builder) {
  if (!allocate(builder.size() + sizeof(StringObject))) return Value::string(std::string());
  return Value::string(builder.take());
}

Value Runtime::make_list(std::vector<Value> items, SourceId source, bool tuple) {
  if (!allocate(items.size() * sizeof(Value) + sizeof(ListObject))) return {};
  return checked(tuple ? Value::tuple(std::move(items), source)
                       : Value::list(std::move(items), source));
}

Value Runtime::checked(Value value) {
  if (depth_of(value) <= kMaxObjectDepth) return value;
  return fail(base::ErrorKind::kTooLarge,
              "line " + std::to_string(line_) + ": values are nested too deeply");
}

Value make_undefined(UndefinedBy by, const Value& name, Kind object) {
  Value value;
  if (name.is_string()) {
    Object* text = name.object();
    text->references.fetch_add(1, std::memory_order_relaxed);
    value = Value::of(Kind::kUndefined, text);
  }
  value.set_extra(
      static_cast<std::uint16_t>(static_cast<unsigned>(by) | (static_cast<unsigned>(object) << 8)));
  return value;
}

std::string undefined_message(const Value& undefined) {
  const auto by = static_cast<UndefinedBy>(undefined.extra() & 0xff);
  const auto kind = static_cast<Kind>(undefined.extra() >> 8);
  std::string name(undefined.object() == nullptr ? std::string_view() : undefined.text());
  const std::string owner(type_name(Value::of(kind, nullptr)));
  switch (by) {
    case UndefinedBy::kName:
      return "'" + name + "' is undefined";
    case UndefinedBy::kAttribute:
      return "'" + owner + " object' has no attribute '" + name + "'";
    case UndefinedBy::kElement:
      return owner + " object has no such element";
    case UndefinedBy::kHint:
      return name;
    case UndefinedBy::kUnsafe:
      return "access to attribute '" + name + "' of '" + owner + "' object is unsafe.";
  }
  return name;
}

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kMissing:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
    case Kind::kBigInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return "str";
    case Kind::kList:
      return "list";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kDictView:
      return "dict_view";
    case Kind::kIterator:
      return "generator";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kLoop:
      return "LoopContext";
    case Kind::kMacro:
      return "Macro";
    case Kind::kMethod:
      return "builtin_function_or_method";
    case Kind::kFunction:
      return "function";
    case Kind::kCycler:
      return "Cycler";
    case Kind::kJoiner:
      return "Joiner";
  }
  return "object";
}

std::string type_name_quoted(const Value& value) {
  return "'" + std::string(type_name(value)) + "'";
}

}  // namespace verbatim::chat::jinja
