#pragma once

#include "chat/jinja/filters.h"

// The filters by subject; filters.cc holds the table of names.
namespace verbatim::chat::jinja::filter {

#define VERBATIM_DECLARE_FILTER(name) \
  Value name(Runtime& runtime, const Value& input, Arguments& arguments)

// filters_text.cc
VERBATIM_DECLARE_FILTER(capitalize);
VERBATIM_DECLARE_FILTER(center);
VERBATIM_DECLARE_FILTER(escape);
VERBATIM_DECLARE_FILTER(force_escape);
VERBATIM_DECLARE_FILTER(format);
VERBATIM_DECLARE_FILTER(indent);
VERBATIM_DECLARE_FILTER(lower);
VERBATIM_DECLARE_FILTER(replace);
VERBATIM_DECLARE_FILTER(safe);
VERBATIM_DECLARE_FILTER(string);
VERBATIM_DECLARE_FILTER(strip_tags);
VERBATIM_DECLARE_FILTER(title);
VERBATIM_DECLARE_FILTER(trim);
VERBATIM_DECLARE_FILTER(truncate);
VERBATIM_DECLARE_FILTER(upper);
VERBATIM_DECLARE_FILTER(word_count);

// filters_value.cc
VERBATIM_DECLARE_FILTER(absolute);
VERBATIM_DECLARE_FILTER(attribute);
VERBATIM_DECLARE_FILTER(otherwise);  // default
VERBATIM_DECLARE_FILTER(floating);
VERBATIM_DECLARE_FILTER(integer);
VERBATIM_DECLARE_FILTER(length);
VERBATIM_DECLARE_FILTER(round);

// filters_sequence.cc
VERBATIM_DECLARE_FILTER(dict_sort);
VERBATIM_DECLARE_FILTER(first);
VERBATIM_DECLARE_FILTER(join);
VERBATIM_DECLARE_FILTER(last);
VERBATIM_DECLARE_FILTER(list);
VERBATIM_DECLARE_FILTER(maximum);
VERBATIM_DECLARE_FILTER(minimum);
VERBATIM_DECLARE_FILTER(sort);
VERBATIM_DECLARE_FILTER(sum);

// filters_lazy.cc: those that give a generator
VERBATIM_DECLARE_FILTER(batch);
VERBATIM_DECLARE_FILTER(items);
VERBATIM_DECLARE_FILTER(map);
VERBATIM_DECLARE_FILTER(reject);
VERBATIM_DECLARE_FILTER(reject_attribute);
VERBATIM_DECLARE_FILTER(reverse);
VERBATIM_DECLARE_FILTER(select);
VERBATIM_DECLARE_FILTER(select_attribute);
VERBATIM_DECLARE_FILTER(slices);
VERBATIM_DECLARE_FILTER(unique);

#undef VERBATIM_DECLARE_FILTER

}  // namespace verbatim::chat::jinja::filter
