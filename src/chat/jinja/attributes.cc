#include "chat/jinja/attributes.h"

#include <algorithm>
#include <iterator>

#include "chat/jinja/globals.h"
#include "chat/jinja/macro.h"
#include "chat/jinja/operations.h"

namespace verbatim::chat::jinja {
namespace {

// Types of Python.
constexpr std::uint16_t kStr = 1, kMarkup = 2, kDict = 4, kList = 8, kTuple = 16, kInt = 32,
                        kFloat = 64, kRange = 128, kView = 256, kGenerator = 512, kDictClass = 1024;
constexpr std::uint16_t kText = kStr | kMarkup;

// Attributes of Python's built-in types, sorted by name (dir(), without those that start with an
// underscore). Third column: types for which jinja2's immutable sandbox forbids it.
constexpr AttributeInfo kAttributes[] = {
    {"append", kList, kList, Method::kForbidden},
    {"as_integer_ratio", kInt | kFloat, 0, Method::kUnsupported},
    {"bit_count", kInt, 0, Method::kUnsupported},
    {"bit_length", kInt, 0, Method::kBitLength},
    {"capitalize", kText, 0, Method::kCapitalize},
    {"casefold", kText, 0, Method::kCasefold},
    {"center", kText, 0, Method::kCenter},
    {"clear", kDict | kList, kDict | kList, Method::kForbidden},
    {"close", kGenerator, 0, Method::kUnsupported},
    {"conjugate", kInt | kFloat, 0, Method::kUnsupported},
    {"copy", kDict | kList, 0, Method::kCopy},
    {"count", kText | kList | kTuple | kRange, 0, Method::kCount},
    {"denominator", kInt, 0, Method::kUnsupported},
    {"encode", kText, 0, Method::kUnsupported},
    {"endswith", kText, 0, Method::kEndswith},
    {"escape", kMarkup, 0, Method::kUnsupported},
    {"expandtabs", kText, 0, Method::kExpandtabs},
    {"extend", kList, kList, Method::kForbidden},
    {"find", kText, 0, Method::kFind},
    {"format", kText, 0, Method::kFormat},
    {"format_map", kText, 0, Method::kFormatMap},
    {"from_bytes", kInt, 0, Method::kUnsupported},
    {"fromhex", kFloat, 0, Method::kUnsupported},
    {"fromkeys", kDict | kDictClass, 0, Method::kDictFromkeys},
    {"get", kDict, 0, Method::kGet},
    {"gi_code", kGenerator, kGenerator, Method::kForbidden},
    {"gi_frame", kGenerator, kGenerator, Method::kForbidden},
    {"gi_running", kGenerator, 0, Method::kUnsupported},
    {"gi_suspended", kGenerator, 0, Method::kUnsupported},
    {"gi_yieldfrom", kGenerator, 0, Method::kUnsupported},
    {"hex", kFloat, 0, Method::kUnsupported},
    {"imag", kInt | kFloat, 0, Method::kUnsupported},
    {"index", kText | kList | kTuple | kRange, 0, Method::kIndex},
    {"insert", kList, kList, Method::kForbidden},
    {"is_integer", kFloat, 0, Method::kIsInteger},
    {"isalnum", kText, 0, Method::kIsalnum},
    {"isalpha", kText, 0, Method::kIsalpha},
    {"isascii", kText, 0, Method::kIsascii},
    {"isdecimal", kText, 0, Method::kIsdecimal},
    {"isdigit", kText, 0, Method::kIsdigit},
    {"isdisjoint", kView, 0, Method::kUnsupported},
    {"isidentifier", kText, 0, Method::kUnsupported},
    {"islower", kText, 0, Method::kIslower},
    {"isnumeric", kText, 0, Method::kIsnumeric},
    {"isprintable", kText, 0, Method::kIsprintable},
    {"isspace", kText, 0, Method::kIsspace},
    {"istitle", kText, 0, Method::kIstitle},
    {"isupper", kText, 0, Method::kIsupper},
    {"items", kDict, 0, Method::kItems},
    {"join", kText, 0, Method::kJoin},
    {"keys", kDict, 0, Method::kKeys},
    {"ljust", kText, 0, Method::kLjust},
    {"lower", kText, 0, Method::kLower},
    {"lstrip", kText, 0, Method::kLstrip},
    {"maketrans", kText, 0, Method::kUnsupported},
    {"mapping", kView, 0, Method::kUnsupported},
    {"numerator", kInt, 0, Method::kUnsupported},
    {"partition", kText, 0, Method::kPartition},
    {"pop", kDict | kList, kDict | kList, Method::kForbidden},
    {"popitem", kDict, kDict, Method::kForbidden},
    {"real", kInt | kFloat, 0, Method::kUnsupported},
    {"remove", kList, kList, Method::kForbidden},
    {"removeprefix", kText, 0, Method::kRemoveprefix},
    {"removesuffix", kText, 0, Method::kRemovesuffix},
    {"replace", kText, 0, Method::kReplace},
    {"reverse", kList, kList, Method::kForbidden},
    {"rfind", kText, 0, Method::kRfind},
    {"rindex", kText, 0, Method::kRindex},
    {"rjust", kText, 0, Method::kRjust},
    {"rpartition", kText, 0, Method::kRpartition},
    {"rsplit", kText, 0, Method::kRsplit},
    {"rstrip", kText, 0, Method::kRstrip},
    {"send", kGenerator, 0, Method::kUnsupported},
    {"setdefault", kDict, kDict, Method::kForbidden},
    {"sort", kList, kList, Method::kForbidden},
    {"split", kText, 0, Method::kSplit},
    {"splitlines", kText, 0, Method::kSplitlines},
    {"start", kRange, 0, Method::kUnsupported},
    {"startswith", kText, 0, Method::kStartswith},
    {"step", kRange, 0, Method::kUnsupported},
    {"stop", kRange, 0, Method::kUnsupported},
    {"strip", kText, 0, Method::kStrip},
    {"striptags", kMarkup, 0, Method::kStriptags},
    {"swapcase", kText, 0, Method::kSwapcase},
    {"throw", kGenerator, 0, Method::kUnsupported},
    {"title", kText, 0, Method::kTitle},
    {"to_bytes", kInt, 0, Method::kUnsupported},
    {"translate", kText, 0, Method::kUnsupported},
    {"unescape", kMarkup, 0, Method::kUnescape},
    {"update", kDict, kDict, Method::kForbidden},
    {"upper", kText, 0, Method::kUpper},
    {"values", kDict, 0, Method::kValues},
    {"zfill", kText, 0, Method::kZfill},
};

std::uint16_t type_bit(const Value& object) {
  switch (object.kind()) {
    case Kind::kString:
      return object.is_markup() ? kMarkup : kStr;
    case Kind::kDict:
      return kDict;
    case Kind::kList:
      return kList;
    case Kind::kTuple:
      return kTuple;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt:
      return kInt;
    case Kind::kFloat:
      return kFloat;
    case Kind::kRange:
      return kRange;
    case Kind::kDictView:
      return kView;
    case Kind::kIterator:
      return kGenerator;
    case Kind::kFunction:
      return object.extra() == static_cast<std::uint16_t>(Global::kDict) ? kDictClass : 0;
    default:
      return 0;
  }
}

// Private attributes that (almost) every object of Python has; the sandbox gives nothing for them.
bool is_private_attribute(std::string_view name) {
  constexpr std::string_view kNames[] = {"__add__",
                                         "__call__",
                                         "__class__",
                                         "__contains__",
                                         "__delattr__",
                                         "__dict__",
                                         "__dir__",
                                         "__doc__",
                                         "__eq__",
                                         "__format__",
                                         "__ge__",
                                         "__getattribute__",
                                         "__getitem__",
                                         "__gt__",
                                         "__hash__",
                                         "__init__",
                                         "__init_subclass__",
                                         "__iter__",
                                         "__le__",
                                         "__len__",
                                         "__lt__",
                                         "__ne__",
                                         "__new__",
                                         "__reduce__",
                                         "__reduce_ex__",
                                         "__repr__",
                                         "__setattr__",
                                         "__sizeof__",
                                         "__str__",
                                         "__subclasshook__"};
  if (name.size() < 3 || name[0] != '_' || name[1] != '_') return false;
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Value bound_method(Runtime& runtime, const Value& self, Method method) {
  if (!runtime.allocate(sizeof(MethodObject))) return {};
  auto* object = new MethodObject;
  object->self = self;
  object->method = static_cast<std::uint16_t>(method);
  object->depth = depth_of(self) + 1;
  return runtime.checked(Value::of(Kind::kMethod, object));
}

Value macro_attribute(Runtime& runtime, const MacroObject& macro, std::string_view name) {
  const Function& function = *macro.function;
  if (name == "name") return function.name.is_string() ? function.name : Value::none();
  if (name == "catch_kwargs") return Value::boolean(function.takes_kwargs);
  if (name == "catch_varargs") return Value::boolean(function.takes_varargs);
  if (name == "caller") return Value::boolean(function.takes_caller);
  if (name != "arguments") return Value::missing();
  std::vector<Value> names;
  for (const ExprPtr& parameter : function.parameters) names.push_back(parameter->value);
  return runtime.make_list(std::move(names), kTemplate, true);
}

// Attributes of the engine's own objects; kMissing when there is none.
Value own_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::kNamespace: {
      const Value* found = static_cast<NamespaceObject*>(object.object())->find(name);
      return found != nullptr ? *found : Value::missing();
    }
    case Kind::kLoop:
      if (name == "cycle") return bound_method(runtime, object, Method::kLoopCycle);
      if (name == "changed") return bound_method(runtime, object, Method::kLoopChanged);
      return loop_attribute(runtime, *static_cast<LoopObject*>(object.object()),
                            find_loop_field(name));
    case Kind::kMacro:
      return macro_attribute(runtime, *static_cast<const MacroObject*>(object.object()), name);
    case Kind::kCycler: {
      const auto& cycler = *static_cast<const CyclerObject*>(object.object());
      if (name == "current") return cycler.items[cycler.position];
      if (name == "next") return bound_method(runtime, object, Method::kCyclerNext);
      if (name == "reset") return bound_method(runtime, object, Method::kCyclerReset);
      return Value::missing();
    }
    case Kind::kJoiner: {
      const auto& joiner = *static_cast<const JoinerObject*>(object.object());
      if (name == "sep") return joiner.separator;
      if (name == "used") return Value::boolean(joiner.used);
      return Value::missing();
    }
    default:
      return Value::missing();
  }
}

// Python's getattr() through the sandbox; kMissing for AttributeError.
Value python_attribute(Runtime& runtime, const Value& object, const Value& name,
                       const AttributeInfo* info) {
  const std::string_view text = name.text();
  if (is_private_attribute(text)) return make_undefined(UndefinedBy::kUnsafe, name, object.kind());
  const std::uint16_t bit = type_bit(object);
  if (info != nullptr && (info->types & bit) != 0) {
    if ((info->mutators & bit) != 0)
      return make_undefined(UndefinedBy::kUnsafe, name, object.kind());
    return bound_method(runtime, object, info->method);
  }
  return bit == 0 || bit == kDictClass ? own_attribute(runtime, object, text) : Value::missing();
}

}  // namespace

const AttributeInfo* find_attribute(std::string_view name) {
  const auto* it =
      std::lower_bound(std::begin(kAttributes), std::end(kAttributes), name,
                       [](const AttributeInfo& a, std::string_view n) { return a.name < n; });
  return it != std::end(kAttributes) && it->name == name ? it : nullptr;
}

bool is_method(const Value& object, const AttributeInfo* info) {
  if (info == nullptr) return false;
  const std::uint16_t bit = type_bit(object);
  return (info->types & bit) != 0 && (info->mutators & bit) == 0;
}

Value get_attribute(Runtime& runtime, const Value& object, const Value& name,
                    const AttributeInfo* info) {
  if (object.is_undefined() && !is_private_attribute(name.text()))
    return runtime.undefined_error(object);
  Value found = python_attribute(runtime, object, name, info);
  if (!found.is_missing()) return found;
  if (object.kind() == Kind::kDict) {
    if (const Value* value = object.dict_object().find(name.text())) return *value;
  }
  return make_undefined(UndefinedBy::kAttribute, name, object.kind());
}

Value get_attribute_only(Runtime& runtime, const Value& object, const Value& name) {
  if (object.is_undefined()) return runtime.undefined_error(object);
  Value found = python_attribute(runtime, object, name, find_attribute(name.text()));
  return found.is_missing() ? make_undefined(UndefinedBy::kAttribute, name, object.kind()) : found;
}

Value get_item(Runtime& runtime, const Value& object, const Value& index) {
  if (object.is_undefined()) return runtime.undefined_error(object);
  Value found = subscript(runtime, object, index);
  if (!found.is_missing()) return found;
  if (!index.is_string()) return make_undefined(UndefinedBy::kElement, Value(), object.kind());
  found = python_attribute(runtime, object, index, find_attribute(index.text()));
  return found.is_missing() ? make_undefined(UndefinedBy::kAttribute, index, object.kind()) : found;
}

}  // namespace verbatim::chat::jinja
