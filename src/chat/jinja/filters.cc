#include "chat/jinja/filters.h"

#include <algorithm>
#include <iterator>

#include "chat/jinja/arguments.h"
#include "chat/jinja/filters_list.h"
#include "chat/jinja/print.h"

namespace verbatim::chat::jinja {
namespace {

// Jinja2 has these; no chat template was seen to use them.
Value unsupported(Runtime& runtime, const Value&, Arguments&) {
  return runtime.unsupported("this filter");
}

struct Named {
  std::string_view name;
  FilterFunction function;
};
// Sorted by name.
constexpr Named kFilters[] = {
    {"abs", filter::absolute},
    {"attr", filter::attribute},
    {"batch", filter::batch},
    {"capitalize", filter::capitalize},
    {"center", filter::center},
    {"count", filter::length},
    {"d", filter::otherwise},
    {"default", filter::otherwise},
    {"dictsort", filter::dict_sort},
    {"e", filter::escape},
    {"escape", filter::escape},
    {"filesizeformat", unsupported},
    {"first", filter::first},
    {"float", filter::floating},
    {"forceescape", filter::force_escape},
    {"format", filter::format},
    {"groupby", unsupported},
    {"indent", filter::indent},
    {"int", filter::integer},
    {"items", filter::items},
    {"join", filter::join},
    {"last", filter::last},
    {"length", filter::length},
    {"list", filter::list},
    {"lower", filter::lower},
    {"map", filter::map},
    {"max", filter::maximum},
    {"min", filter::minimum},
    {"pprint", unsupported},
    {"random", unsupported},
    {"reject", filter::reject},
    {"rejectattr", filter::reject_attribute},
    {"replace", filter::replace},
    {"reverse", filter::reverse},
    {"round", filter::round},
    {"safe", filter::safe},
    {"select", filter::select},
    {"selectattr", filter::select_attribute},
    {"slice", filter::slices},
    {"sort", filter::sort},
    {"string", filter::string},
    {"striptags", filter::strip_tags},
    {"sum", filter::sum},
    {"title", filter::title},
    {"tojson", filter_tojson},
    {"trim", filter::trim},
    {"truncate", filter::truncate},
    {"unique", filter::unique},
    {"upper", filter::upper},
    {"urlencode", unsupported},
    {"urlize", unsupported},
    {"wordcount", filter::word_count},
    {"wordwrap", unsupported},
    {"xmlattr", unsupported},
};

bool read_separators(Runtime& runtime, const Value& value, JsonOptions& options) {
  if (!value.is_sequence() || value.items().size() != 2 || !value.items()[0].is_string() ||
      !value.items()[1].is_string()) {
    runtime.type_error("tojson: separators must be a pair of strings");
    return false;
  }
  options.item_separator = value.items()[0].text();
  options.key_separator = value.items()[1].text();
  return true;
}

bool read_indent(Runtime& runtime, const Value& value, JsonOptions& options) {
  options.indented = true;
  options.item_separator = ",";
  if (value.is_string()) {
    options.indent = value.text();
    return true;
  }
  if (!value.is_integral()) {
    runtime.type_error("tojson: indent must be an integer or a string");
    return false;
  }
  constexpr std::int64_t kMost = 1000;
  if (value.integer() > kMost) {
    runtime.fail(base::ErrorKind::kTooLarge, "tojson: an indent above 1000");
    return false;
  }
  options.indent.assign(static_cast<std::size_t>(std::max<std::int64_t>(value.integer(), 0)), ' ');
  return true;
}

}  // namespace

FilterFunction find_filter(std::string_view name) {
  const auto* it = std::lower_bound(std::begin(kFilters), std::end(kFilters), name,
                                    [](const Named& f, std::string_view n) { return f.name < n; });
  return it != std::end(kFilters) && it->name == name ? it->function : nullptr;
}

void append_tojson(Runtime& runtime, TextBuilder& out, const Value& input, Arguments& arguments) {
  JsonOptions options;
  if (arguments.empty()) return append_json(runtime, out, input, options);
  Value given[4];
  if (!bind(runtime, "tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"}, 0,
            given))
    return;
  const auto is_given = [](const Value& value) { return !value.is_missing() && !value.is_none(); };
  options.ensure_ascii = flag_argument(given[0]);
  options.sort_keys = flag_argument(given[3]);
  if (is_given(given[1]) && !read_indent(runtime, given[1], options)) return;
  if (is_given(given[2]) && !read_separators(runtime, given[2], options)) return;
  append_json(runtime, out, input, options);
}

Value filter_tojson(Runtime& runtime, const Value& input, Arguments& arguments) {
  TextBuilder out;
  append_tojson(runtime, out, input, arguments);
  return runtime.failed() ? Value() : runtime.make_string(std::move(out));
}

}  // namespace verbatim::chat::jinja
