#include <algorithm>

#include "chat/jinja/arguments.h"
#include "chat/jinja/escape.h"
#include "chat/jinja/filters_list.h"
#include "chat/jinja/format.h"
#include "chat/jinja/markup.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/print.h"
#include "chat/jinja/strings.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja::filter {
namespace {

bool no_arguments(Runtime& runtime, Arguments& arguments) {
  return bind(runtime, "filter", arguments, {}, 0, nullptr);
}

Value escaped(Runtime& runtime, const Value& string) {
  TextBuilder out;
  append_escaped(out, string);
  return runtime.make_string(std::move(out)).with_markup(true);
}

}  // namespace

Value capitalize(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) ? capitalized(runtime, to_soft_str(runtime, input))
                                          : Value();
}

Value upper(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) ? upper_case(runtime, to_soft_str(runtime, input))
                                          : Value();
}

Value lower(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) ? lower_case(runtime, to_soft_str(runtime, input))
                                          : Value();
}

Value title(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) ? title_words(runtime, to_soft_str(runtime, input))
                                          : Value();
}

Value string(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) ? to_soft_str(runtime, input) : Value();
}

Value center(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value width;
  if (!bind(runtime, "center", arguments, {"width"}, 0, &width)) return {};
  const Value text = to_soft_str(runtime, input);
  const std::int64_t columns = integer_argument(runtime, width, 80);
  if (runtime.failed()) return {};
  return padded(runtime, text, columns,
                Value::string(" ", text.source()).with_markup(text.is_markup()), Side::kBoth);
}

Value escape(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!no_arguments(runtime, arguments)) return {};
  return input.is_markup() ? input : escaped(runtime, to_str(runtime, input));
}

Value force_escape(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) ? escaped(runtime, to_str(runtime, input)) : Value();
}

Value safe(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) ? to_str(runtime, input).with_markup(true) : Value();
}

Value strip_tags(Runtime& runtime, const Value& input, Arguments& arguments) {
  return no_arguments(runtime, arguments) ? stripped_tags(runtime, to_str(runtime, input))
                                          : Value();
}

Value trim(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value characters;
  if (!bind(runtime, "trim", arguments, {"chars"}, 0, &characters)) return {};
  if (characters.is_missing()) characters = Value::none();
  return stripped(runtime, to_soft_str(runtime, input), Side::kBoth, characters);
}

Value replace(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[3];
  if (!bind(runtime, "replace", arguments, {"old", "new", "count"}, 2, given)) return {};
  if (given[2].is_none()) given[2] = Value::missing();
  const std::int64_t most = integer_argument(runtime, given[2], -1);
  if (runtime.failed()) return {};
  return replaced(runtime, to_str(runtime, input), to_str(runtime, given[0]),
                  to_str(runtime, given[1]), most);
}

Value format(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    return runtime.raise("FilterArgumentError",
                         "can't handle positional and keyword arguments at the same time");
  }
  const Value text = to_soft_str(runtime, input);
  if (!arguments.named.empty())
    return format_percent(runtime, text, Value::dict(std::move(arguments.named)));
  return format_percent(runtime, text, Value::tuple(std::move(arguments.positional)));
}

Value indent(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[3];
  if (!bind(runtime, "indent", arguments, {"width", "first", "blank"}, 0, given)) return {};
  if (input.is_undefined()) return runtime.undefined_error(input);
  if (!input.is_string())
    return runtime.type_error("indent: " + type_name_quoted(input) + " is no string");
  std::string indention;
  if (given[0].is_string()) {
    indention = given[0].text();
  } else {
    const std::int64_t width =
        std::clamp<std::int64_t>(integer_argument(runtime, given[0], 4), 0, 1 << 20);
    indention.assign(static_cast<std::size_t>(width), ' ');
  }
  const std::vector<Value> lines =
      split_lines(runtime, binary(runtime, Arithmetic::kAdd, input, Value::string("\n")), false);
  if (runtime.failed()) return {};
  const SourceId source = input.source();
  TextBuilder out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i != 0) out.append("\n", source);
    const bool wanted =
        i == 0 ? flag_argument(given[1]) : (flag_argument(given[2]) || !lines[i].text().empty());
    if (wanted) out.append(indention, source);
    lines[i].string_object().append_to(out);
    if (out.size() > runtime.options().max_output_bytes) break;
  }
  return runtime.make_string(std::move(out)).with_markup(input.is_markup());
}

Value truncate(Runtime& runtime, const Value& input, Arguments& arguments) {
  Value given[4];
  if (!bind(runtime, "truncate", arguments, {"length", "killwords", "end", "leeway"}, 0, given))
    return {};
  const Value end = given[2].is_missing() ? Value::string("...") : given[2];
  if (!end.is_string() || !length_of(input))
    return runtime.type_error("truncate: expected a string");
  const std::int64_t most = integer_argument(runtime, given[0], 255);
  const std::int64_t leeway =
      integer_argument(runtime, given[3].is_none() ? Value::missing() : given[3], 5);
  if (runtime.failed()) return {};
  const std::int64_t room = most - *length_of(end);
  if (room < 0 || leeway < 0)
    return runtime.raise("AssertionError", "truncate: the length is too small");
  if (*length_of(input) <= most || *length_of(input) - most <= leeway) return input;
  Value cut = slice(runtime, input, Value::none(), Value::integer(room), Value::none());
  if (!flag_argument(given[1]) && !runtime.failed()) {
    const std::size_t blank = cut.text().rfind(' ');
    if (blank != std::string_view::npos) cut = substring(cut, 0, blank);
  }
  return runtime.failed() ? Value() : binary(runtime, Arithmetic::kAdd, cut, end);
}

Value word_count(Runtime& runtime, const Value& input, Arguments& arguments) {
  if (!no_arguments(runtime, arguments)) return {};
  const Value text = to_soft_str(runtime, input);
  runtime.scan(text.text().size() * 4);
  std::int64_t words = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.text().size();) {
    const CodePoint c = decode(text.text(), at);
    const bool part = c.value == '_' || is_alnum(c.value);
    if (part && !inside) ++words;
    inside = part;
    at += c.size;
  }
  return Value::integer(words, text.source());
}

}  // namespace verbatim::chat::jinja::filter
