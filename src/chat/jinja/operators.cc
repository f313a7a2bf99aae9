#include <algorithm>

#include "chat/jinja/escape.h"
#include "chat/jinja/format.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

Value no_operator(Runtime& runtime, Arithmetic op, const Value& a, const Value& b) {
  return runtime.type_error("unsupported operand type(s) for " + std::string(sign_of(op)) + ": " +
                            type_name_quoted(a) + " and " + type_name_quoted(b));
}

Value add_strings(Runtime& runtime, const Value& a, const Value& b) {
  const bool markup = a.is_markup() || b.is_markup();
  TextBuilder out;
  out.reserve(a.text().size() + b.text().size());
  for (const Value* side : {&a, &b}) {
    if (markup && !side->is_markup()) {
      append_escaped(out, *side);
    } else {
      side->string_object().append_to(out);
    }
  }
  return runtime.make_string(std::move(out)).with_markup(markup);
}

Value add_sequences(Runtime& runtime, const Value& a, const Value& b) {
  if (!runtime.step(a.items().size() + b.items().size())) return {};
  std::vector<Value> items = a.items();
  items.insert(items.end(), b.items().begin(), b.items().end());
  const SourceId source = a.source() != kTemplate ? a.source() : b.source();
  return runtime.make_list(std::move(items), source, a.kind() == Kind::kTuple);
}

Value repeat(Runtime& runtime, const Value& value, std::int64_t times) {
  times = std::max<std::int64_t>(times, 0);
  const std::size_t limit = runtime.options().max_output_bytes;
  const std::size_t unit =
      value.is_string() ? value.text().size() : value.items().size() * sizeof(Value);
  if (unit != 0 && static_cast<std::uint64_t>(times) > limit / unit) {
    runtime.allocate(limit + 1);
    return {};
  }
  if (unit == 0) times = 0;
  if (value.is_string()) {
    if (!runtime.scan(unit * static_cast<std::size_t>(times))) return {};
    TextBuilder out;
    out.reserve(unit * static_cast<std::size_t>(times));
    for (std::int64_t i = 0; i < times; ++i) value.string_object().append_to(out);
    return runtime.make_string(std::move(out)).with_markup(value.is_markup());
  }
  if (!runtime.step(value.items().size() * static_cast<std::size_t>(times))) return {};
  std::vector<Value> items;
  items.reserve(value.items().size() * static_cast<std::size_t>(times));
  for (std::int64_t i = 0; i < times; ++i) {
    items.insert(items.end(), value.items().begin(), value.items().end());
  }
  return runtime.make_list(std::move(items), value.source(), value.kind() == Kind::kTuple);
}

bool can_repeat(const Value& value) {
  return value.is_string() || value.is_sequence();
}

}  // namespace

Value binary(Runtime& runtime, Arithmetic op, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return arithmetic(runtime, op, a, b);
  if (op == Arithmetic::kMod && a.is_string()) return format_percent(runtime, a, b);
  if (a.is_undefined() || b.is_undefined()) {
    return runtime.undefined_error(a.is_undefined() ? a : b);
  }
  if (op == Arithmetic::kAdd) {
    if (a.is_string() && b.is_string()) return add_strings(runtime, a, b);
    if (a.is_sequence() && a.kind() == b.kind()) return add_sequences(runtime, a, b);
    if (a.is_string()) {
      return runtime.type_error("can only concatenate str (not \"" + std::string(type_name(b)) +
                                "\") to str");
    }
  }
  if (op == Arithmetic::kMul) {
    if (can_repeat(a) && b.is_integral()) return repeat(runtime, a, b.integer());
    if (can_repeat(b) && a.is_integral()) return repeat(runtime, b, a.integer());
  }
  return no_operator(runtime, op, a, b);
}

Value subscript(Runtime& runtime, const Value& container, const Value& index) {
  if (container.kind() == Kind::kDict) {
    const Value* found = container.dict_object().find(index);
    return found != nullptr ? *found : Value::missing();
  }
  if (!index.is_integral()) return Value::missing();
  const bool indexable =
      container.is_string() || container.is_sequence() || container.kind() == Kind::kRange;
  if (!indexable) return Value::missing();
  const std::int64_t size = *length_of(container);
  std::int64_t at = index.integer();
  if (at < 0) at += size;
  if (at < 0 || at >= size) return Value::missing();
  if (container.is_sequence()) return container.items()[static_cast<std::size_t>(at)];
  if (container.kind() == Kind::kRange) {
    return Value::integer(static_cast<const RangeObject*>(container.object())->at(at),
                          container.source());
  }
  const std::string_view text = container.text();
  if (container.string_object().ascii()) {
    return substring(container, static_cast<std::size_t>(at), static_cast<std::size_t>(at) + 1);
  }
  runtime.scan(text.size());
  const std::size_t from = character_offset(text, static_cast<std::size_t>(at));
  return substring(container, from, from + decode(text, from).size);
}

bool slice_range(Runtime& runtime, std::int64_t size, const Value& start, const Value& stop,
                 const Value& step, SliceRange& out) {
  for (const Value* bound : {&start, &stop, &step}) {
    if (!bound->is_none() && !bound->is_integral() && !bound->is_missing()) {
      runtime.type_error("slice indices must be integers or None or have an __index__ method");
      return false;
    }
  }
  const auto given = [](const Value& bound) { return bound.is_integral(); };
  out.step = given(step) ? step.integer() : 1;
  if (out.step == 0) {
    runtime.value_error("slice step cannot be zero");
    return false;
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  out.step = std::clamp(out.step, -kMost, kMost);
  const bool back = out.step < 0;
  const std::int64_t lowest = back ? -1 : 0;
  const std::int64_t highest = back ? size - 1 : size;
  const auto bound_at = [&](const Value& bound, std::int64_t otherwise) {
    if (!given(bound)) return otherwise;
    std::int64_t at = bound.integer();
    if (at < 0) at = std::max(at, -size - 1) + size;
    return std::clamp(at, lowest, highest);
  };
  out.start = bound_at(start, back ? highest : lowest);
  out.stop = bound_at(stop, back ? lowest : highest);
  const std::int64_t distance = back ? out.start - out.stop : out.stop - out.start;
  const std::int64_t stride = back ? -out.step : out.step;
  out.count = distance > 0 ? (distance - 1) / stride + 1 : 0;
  return true;
}

Value slice_string(Runtime& runtime, const Value& string, const SliceRange& range) {
  const std::string_view text = string.text();
  if (range.count == 0) return substring(string, 0, 0);
  runtime.scan(text.size());
  if (range.step == 1) {
    if (string.string_object().ascii()) {
      return substring(string, static_cast<std::size_t>(range.start),
                       static_cast<std::size_t>(range.start + range.count));
    }
    const std::size_t from = character_offset(text, static_cast<std::size_t>(range.start));
    return substring(string, from,
                     character_offset(text, static_cast<std::size_t>(range.count), from));
  }
  std::vector<std::uint32_t> offsets;  // of every character, and the end
  if (!runtime.allocate(text.size() * sizeof(std::uint32_t))) return {};
  for (std::size_t at = 0; at < text.size(); at += decode(text, at).size) {
    offsets.push_back(static_cast<std::uint32_t>(at));
  }
  offsets.push_back(static_cast<std::uint32_t>(text.size()));
  TextBuilder out;
  for (std::int64_t i = 0; i < range.count; ++i) {
    const auto at = static_cast<std::size_t>(range.start + i * range.step);
    string.string_object().append_part_to(out, offsets[at], offsets[at + 1]);
  }
  return runtime.make_string(std::move(out)).with_markup(string.is_markup());
}

Value slice(Runtime& runtime, const Value& container, const Value& start, const Value& stop,
            const Value& step) {
  if (container.is_undefined()) return runtime.undefined_error(container);
  const bool sliceable =
      container.is_string() || container.is_sequence() || container.kind() == Kind::kRange;
  if (!sliceable) {
    return runtime.type_error(type_name_quoted(container) + " object can't be sliced");
  }
  SliceRange range;
  if (!slice_range(runtime, *length_of(container), start, stop, step, range)) return {};
  if (container.is_string()) return slice_string(runtime, container, range);
  if (container.kind() == Kind::kRange) {
    const auto& whole = *static_cast<const RangeObject*>(container.object());
    auto* part = new RangeObject;
    part->start = whole.at(range.start);
    part->stop = whole.at(range.stop);
    if (__builtin_mul_overflow(whole.step, range.step, &part->step))
      part->step = 1;  // a single item
    part->count = range.count;
    return Value::of(Kind::kRange, part, container.source());
  }
  if (!runtime.step(static_cast<std::uint64_t>(range.count))) return {};
  std::vector<Value> items;
  items.reserve(static_cast<std::size_t>(range.count));
  for (std::int64_t i = 0; i < range.count; ++i) {
    items.push_back(container.items()[static_cast<std::size_t>(range.start + i * range.step)]);
  }
  return runtime.make_list(std::move(items), container.source(), container.kind() == Kind::kTuple);
}

}  // namespace verbatim::chat::jinja
