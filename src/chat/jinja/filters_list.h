#pragma once

#include "chat/jinja/filters.h"

// The filters by subject; filters.cc holds the table of names.
namespace verbatim::chat::jinja::filter {

using Filter = Value(Runtime& runtime, const Value& input, Arguments& arguments);

// filters_text.cc
Filter capitalize;
Filter center;
Filter escape;
Filter force_escape;
Filter format;
Filter indent;
Filter lower;
Filter replace;
Filter safe;
Filter string;
Filter strip_tags;
Filter title;
Filter trim;
Filter truncate;
Filter upper;
Filter word_count;

// filters_value.cc
Filter absolute;
Filter attribute;
Filter otherwise;  // default
Filter floating;
Filter integer;
Filter length;
Filter round;

// filters_sequence.cc
Filter dict_sort;
Filter first;
Filter join;
Filter last;
Filter list;
Filter maximum;
Filter minimum;
Filter sort;
Filter sum;

// filters_lazy.cc: those that give a generator
Filter batch;
Filter items;
Filter map;
Filter reject;
Filter reject_attribute;
Filter reverse;
Filter select;
Filter select_attribute;
Filter slices;
Filter unique;

}  // namespace verbatim::chat::jinja::filter
