#pragma once

#include <cstdint>
#include <string_view>

#include "chat/jinja/runtime.h"

// What obj.name and obj[...] mean, by the rules of Jinja2's immutable sandbox.
namespace verbatim::chat::jinja {

enum class Method : std::uint16_t {
  kUnsupported,  // Python has it, this engine doesn't
  kForbidden,    // changes the object or is private
  kCapitalize,
  kCasefold,
  kCenter,
  kCount,
  kEndswith,
  kExpandtabs,
  kFind,
  kFormat,
  kFormatMap,
  kIndex,
  kIsalnum,
  kIsalpha,
  kIsascii,
  kIsdecimal,
  kIsdigit,
  kIslower,
  kIsnumeric,
  kIsprintable,
  kIsspace,
  kIstitle,
  kIsupper,
  kJoin,
  kLjust,
  kLower,
  kLstrip,
  kPartition,
  kRemoveprefix,
  kRemovesuffix,
  kReplace,
  kRfind,
  kRindex,
  kRjust,
  kRpartition,
  kRsplit,
  kRstrip,
  kSplit,
  kSplitlines,
  kStartswith,
  kStrip,
  kSwapcase,
  kTitle,
  kUpper,
  kZfill,
  kUnescape,
  kStriptags,
  kCopy,
  kGet,
  kItems,
  kKeys,
  kValues,
  kBitLength,
  kIsInteger,
  // Attributes of the engine's own objects.
  kLoopCycle,
  kLoopChanged,
  kCyclerNext,
  kCyclerReset,
  kDictFromkeys,
};

// Attributes of `loop`.
enum class LoopField : std::uint8_t {
  kNone,
  kIndex,
  kIndex0,
  kRevindex,
  kRevindex0,
  kFirst,
  kLast,
  kLength,
  kDepth,
  kDepth0,
  kPrevitem,
  kNextitem,
};
LoopField find_loop_field(std::string_view name);

// Which of Python's types have an attribute of some name, and what it is.
struct AttributeInfo {
  std::string_view name;
  std::uint16_t types = 0;     // bits of `type_bit`
  std::uint16_t mutators = 0;  // types where the sandbox forbids it
  Method method = Method::kUnsupported;
};

// nullptr when no type has it.
const AttributeInfo* find_attribute(std::string_view name);

// obj.name. `info` = find_attribute(name).
Value get_attribute(Runtime& runtime, const Value& object, const Value& name,
                    const AttributeInfo* info);
// obj.name without a look at items: the attr filter.
Value get_attribute_only(Runtime& runtime, const Value& object, const Value& name);
// obj[index]
Value get_item(Runtime& runtime, const Value& object, const Value& index);
// True when obj.name is a built-in method; no value is made then.
bool is_method(const Value& object, const AttributeInfo* info);

Value call_method(Runtime& runtime, const Value& self, Method method, Arguments& arguments);
// Of strings, and of the rest.
Value call_string_method(Runtime& runtime, const Value& self, Method method, Arguments& arguments);

}  // namespace verbatim::chat::jinja
