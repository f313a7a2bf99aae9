#include <cmath>

#include "chat/jinja/attributes.h"
#include "chat/jinja/format.h"
#include "chat/jinja/globals.h"
#include "chat/jinja/macro.h"
#include "chat/jinja/markup.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/strings.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {

bool positional_only(Runtime& runtime, std::string_view name, const Arguments& arguments,
                     std::size_t least, std::size_t most) {
  const std::size_t given = arguments.positional.size();
  if (!arguments.named.empty()) {
    runtime.type_error(std::string(name) + "() takes no keyword arguments");
  } else if (given < least || given > most) {
    runtime.type_error(std::string(name) + "() takes " + std::to_string(least) + " to " +
                       std::to_string(most) + " arguments (" + std::to_string(given) + " given)");
  } else {
    return true;
  }
  return false;
}

namespace {

Value strip(Runtime& runtime, const Value& self, Side side, Arguments& arguments) {
  if (!positional_only(runtime, "strip", arguments, 0, 1)) return {};
  return stripped(runtime, self, side,
                  arguments.positional.empty() ? Value::none() : arguments.positional[0]);
}

Value split_method(Runtime& runtime, const Value& self, Side side, Arguments& arguments) {
  Value out[2];
  if (!bind(runtime, "split", arguments, {"sep", "maxsplit"}, 0, out)) return {};
  const std::int64_t most = integer_argument(runtime, out[1], -1);
  if (runtime.failed()) return {};
  return split(runtime, self, out[0].is_missing() ? Value::none() : out[0], most, side);
}

Value split_lines_method(Runtime& runtime, const Value& self, Arguments& arguments) {
  Value keep;
  if (!bind(runtime, "splitlines", arguments, {"keepends"}, 0, &keep)) return {};
  return runtime.make_list(split_lines(runtime, self, flag_argument(keep)), self.source());
}

Value affix_method(Runtime& runtime, const Value& self, Side side, Arguments& arguments) {
  if (!positional_only(runtime, "removeprefix", arguments, 1, 1)) return {};
  if (!expect_string(runtime, arguments.positional[0], "removeprefix")) return {};
  return without_affix(self, arguments.positional[0].text(), side);
}

Value partition_method(Runtime& runtime, const Value& self, Side side, Arguments& arguments) {
  if (!positional_only(runtime, "partition", arguments, 1, 1)) return {};
  return partitioned(runtime, self, arguments.positional[0], side);
}

Value replace_method(Runtime& runtime, const Value& self, Arguments& arguments) {
  if (!positional_only(runtime, "replace", arguments, 2, 3)) return {};
  const auto& given = arguments.positional;
  const std::int64_t most =
      integer_argument(runtime, given.size() > 2 ? given[2] : Value::missing(), -1);
  return runtime.failed() ? Value() : replaced(runtime, self, given[0], given[1], most);
}

Value join_method(Runtime& runtime, const Value& self, Arguments& arguments) {
  if (!positional_only(runtime, "join", arguments, 1, 1)) return {};
  return joined(runtime, self, arguments.positional[0]);
}

Value pad_method(Runtime& runtime, const Value& self, Side side, Arguments& arguments) {
  if (!positional_only(runtime, "center", arguments, 1, 2)) return {};
  const auto& given = arguments.positional;
  const std::int64_t width = integer_argument(runtime, given[0], 0);
  const Value fill =
      given.size() > 1 ? given[1] : Value::string(" ", self.source()).with_markup(self.is_markup());
  return runtime.failed() ? Value() : padded(runtime, self, width, fill, side);
}

Value tabs_method(Runtime& runtime, const Value& self, Arguments& arguments) {
  Value size;
  if (!bind(runtime, "expandtabs", arguments, {"tabsize"}, 0, &size)) return {};
  const std::int64_t tabs = integer_argument(runtime, size, 8);
  return runtime.failed() ? Value() : expanded_tabs(runtime, self, tabs);
}

Value casefold(Runtime& runtime, const Value& self) {
  if (!is_ascii(self.text())) return runtime.unsupported("casefold() of other than ASCII text");
  return lower_case(runtime, self);
}

Value format_map(Runtime& runtime, const Value& self, Arguments& arguments) {
  if (!positional_only(runtime, "format_map", arguments, 1, 1)) return {};
  const Value map = arguments.positional[0];
  if (map.kind() != Kind::kDict) return runtime.type_error("format_map() needs a mapping");
  Arguments named;
  for (const DictEntry& entry : map.dict_object().entries) {
    if (entry.key.is_string()) named.named.emplace_back(entry.key, entry.value);
  }
  return format_braces(runtime, self, named);
}

// Methods without arguments that map the string to another.
Value plain_method(Runtime& runtime, const Value& self, Method method, Arguments& arguments) {
  if (!positional_only(runtime, "method", arguments, 0, 0)) return {};
  switch (method) {
    case Method::kUpper:
      return upper_case(runtime, self);
    case Method::kLower:
      return lower_case(runtime, self);
    case Method::kCapitalize:
      return capitalized(runtime, self);
    case Method::kTitle:
      return title_case(runtime, self);
    case Method::kSwapcase:
      return swapped_case(runtime, self);
    case Method::kCasefold:
      return casefold(runtime, self);
    case Method::kStriptags:
      return stripped_tags(runtime, self);
    case Method::kUnescape:
      return unescaped(runtime, self);
    default:
      runtime.scan(self.text().size());
      return Value::boolean(has_property(self, method));
  }
}

Value sequence_find(Runtime& runtime, const Value& self, Method method, Arguments& arguments) {
  if (!positional_only(runtime, "index", arguments, 1, method == Method::kCount ? 1 : 3)) return {};
  if (arguments.positional.size() > 1) return runtime.unsupported("list.index() with a range");
  std::int64_t at = 0;
  std::int64_t count = 0;
  Iteration iteration(runtime, self);
  for (Value item; iteration.next(item); ++at) {
    if (!equal(runtime, item, arguments.positional[0])) continue;
    if (method == Method::kIndex) return Value::integer(at);
    ++count;
  }
  if (method == Method::kCount || runtime.failed()) return Value::integer(count);
  return runtime.value_error("the value is not in the sequence");
}

Value dict_get(Runtime& runtime, const Value& self, Arguments& arguments) {
  if (!positional_only(runtime, "get", arguments, 1, 2)) return {};
  const Value& key = arguments.positional[0];
  if (!is_hashable(key)) return runtime.type_error("unhashable type: " + type_name_quoted(key));
  if (const Value* found = self.dict_object().find(key)) return *found;
  return arguments.positional.size() > 1 ? arguments.positional[1] : Value::none();
}

Value dict_view(Runtime& runtime, const Value& self, ViewOf what, Arguments& arguments) {
  if (!positional_only(runtime, "items", arguments, 0, 0) ||
      !runtime.allocate(sizeof(DictViewObject)))
    return {};
  auto* view = new DictViewObject;
  view->dict = self;
  view->what = what;
  view->depth = depth_of(self) + 1;
  return runtime.checked(Value::of(Kind::kDictView, view, self.source()));
}

Value loop_cycle(Runtime& runtime, const LoopObject& loop, Arguments& arguments) {
  const auto& given = arguments.positional;
  if (!arguments.named.empty()) return runtime.type_error("cycle() takes no keyword arguments");
  if (given.empty()) return runtime.type_error("no items for cycling given");
  return given[static_cast<std::size_t>(loop.index0) % given.size()];
}

Value loop_changed(Runtime& runtime, LoopObject& loop, Arguments& arguments) {
  if (!arguments.named.empty()) return runtime.type_error("changed() takes no keyword arguments");
  if (!loop.items)
    return runtime.unsupported("loop.changed() after the loop");  // it could hold itself
  Value now = runtime.make_list(std::move(arguments.positional), kTemplate, true);
  if (loop.last_changed && equal(runtime, *loop.last_changed, now)) return Value::boolean(false);
  loop.last_changed = std::move(now);
  return Value::boolean(true);
}

Value bit_length(const Value& self, Runtime& runtime) {
  if (self.kind() == Kind::kBigInt) return runtime.unsupported("bit_length() of a big integer");
  const std::int64_t value = self.integer();
  auto magnitude =
      value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  std::int64_t bits = 0;
  for (; magnitude != 0; magnitude >>= 1) ++bits;
  return Value::integer(bits, self.source());
}

}  // namespace

Value call_string_method(Runtime& runtime, const Value& self, Method method, Arguments& arguments) {
  switch (method) {
    case Method::kStrip:
      return strip(runtime, self, Side::kBoth, arguments);
    case Method::kLstrip:
      return strip(runtime, self, Side::kLeft, arguments);
    case Method::kRstrip:
      return strip(runtime, self, Side::kRight, arguments);
    case Method::kSplit:
      return split_method(runtime, self, Side::kLeft, arguments);
    case Method::kRsplit:
      return split_method(runtime, self, Side::kRight, arguments);
    case Method::kSplitlines:
      return split_lines_method(runtime, self, arguments);
    case Method::kStartswith:
      return has_affix(runtime, self, Side::kLeft, arguments);
    case Method::kEndswith:
      return has_affix(runtime, self, Side::kRight, arguments);
    case Method::kRemoveprefix:
      return affix_method(runtime, self, Side::kLeft, arguments);
    case Method::kRemovesuffix:
      return affix_method(runtime, self, Side::kRight, arguments);
    case Method::kPartition:
      return partition_method(runtime, self, Side::kLeft, arguments);
    case Method::kRpartition:
      return partition_method(runtime, self, Side::kRight, arguments);
    case Method::kFind:
    case Method::kRfind:
    case Method::kIndex:
    case Method::kRindex:
    case Method::kCount:
      return find_in(runtime, self, method, arguments);
    case Method::kReplace:
      return replace_method(runtime, self, arguments);
    case Method::kJoin:
      return join_method(runtime, self, arguments);
    case Method::kCenter:
      return pad_method(runtime, self, Side::kBoth, arguments);
    case Method::kLjust:
      return pad_method(runtime, self, Side::kRight, arguments);
    case Method::kRjust:
      return pad_method(runtime, self, Side::kLeft, arguments);
    case Method::kZfill:
      if (!positional_only(runtime, "zfill", arguments, 1, 1)) return {};
      return zero_filled(runtime, self, integer_argument(runtime, arguments.positional[0], 0));
    case Method::kExpandtabs:
      return tabs_method(runtime, self, arguments);
    case Method::kFormat:
      return format_braces(runtime, self, arguments);
    case Method::kFormatMap:
      return format_map(runtime, self, arguments);
    default:
      return plain_method(runtime, self, method, arguments);
  }
}

Value call_method(Runtime& runtime, const Value& self, Method method, Arguments& arguments) {
  if (method == Method::kUnsupported) {
    return runtime.unsupported("this method of " + std::string(type_name(self)));
  }
  if (self.is_string()) return call_string_method(runtime, self, method, arguments);
  switch (method) {
    case Method::kGet:
      return dict_get(runtime, self, arguments);
    case Method::kItems:
      return dict_view(runtime, self, ViewOf::kItems, arguments);
    case Method::kKeys:
      return dict_view(runtime, self, ViewOf::kKeys, arguments);
    case Method::kValues:
      return dict_view(runtime, self, ViewOf::kValues, arguments);
    case Method::kCopy:
      return positional_only(runtime, "copy", arguments, 0, 0) ? self : Value();
    case Method::kIndex:
    case Method::kCount:
      return sequence_find(runtime, self, method, arguments);
    case Method::kDictFromkeys:
      return call_dict_fromkeys(runtime, arguments);
    case Method::kLoopCycle:
      return loop_cycle(runtime, *static_cast<const LoopObject*>(self.object()), arguments);
    case Method::kLoopChanged:
      return loop_changed(runtime, *static_cast<LoopObject*>(self.object()), arguments);
    case Method::kCyclerNext: {
      auto& cycler = *static_cast<CyclerObject*>(self.object());
      const Value item = cycler.items[cycler.position];
      cycler.position = (cycler.position + 1) % cycler.items.size();
      return item;
    }
    case Method::kCyclerReset:
      static_cast<CyclerObject*>(self.object())->position = 0;
      return Value::none();
    case Method::kBitLength:
      return bit_length(self, runtime);
    case Method::kIsInteger:
      return Value::boolean(std::isfinite(self.floating()) &&
                            self.floating() == std::floor(self.floating()));
    default:
      return runtime.unsupported("this method of " + std::string(type_name(self)));
  }
}

}  // namespace verbatim::chat::jinja
