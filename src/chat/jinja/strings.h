#pragma once

#include <cstdint>
#include <string_view>

#include "chat/jinja/arguments.h"
#include "chat/jinja/attributes.h"
#include "chat/jinja/objects.h"
#include "chat/jinja/runtime.h"

// Parts of Python's str methods, shared with the filters. Every result keeps the source of the
// characters it was made from.
namespace verbatim::chat::jinja {

// Checks the number of arguments of a method that takes none by name.
bool positional_only(Runtime& runtime, std::string_view name, const Arguments& arguments,
                     std::size_t least, std::size_t most);

// strings_case.cc
Value upper_case(Runtime& runtime, const Value& string);
Value lower_case(Runtime& runtime, const Value& string);
Value capitalized(Runtime& runtime, const Value& string);
Value title_case(Runtime& runtime, const Value& string);  // str.title()
Value title_words(Runtime& runtime,
                  const Value& string);  // the filter, which cuts words its own way
Value swapped_case(Runtime& runtime, const Value& string);
bool has_property(const Value& string, Method method);  // isalnum ... isupper

// strings_cut.cc
enum class Side : std::uint8_t { kLeft, kRight, kBoth };
// `characters`: a string, or None for white space.
Value stripped(Runtime& runtime, const Value& string, Side side, const Value& characters);
Value split(Runtime& runtime, const Value& string, const Value& separator, std::int64_t most,
            Side from);
std::vector<Value> split_lines(Runtime& runtime, const Value& string, bool keep_ends);
Value partitioned(Runtime& runtime, const Value& string, const Value& separator, Side from);
Value without_affix(const Value& string, std::string_view affix, Side side);

// strings_find.cc
Value find_in(Runtime& runtime, const Value& string, Method method,
              Arguments& arguments);  // find, rfind, index, rindex, count
Value has_affix(Runtime& runtime, const Value& string, Side side, Arguments& arguments);
Value replaced(Runtime& runtime, const Value& string, const Value& from, const Value& to,
               std::int64_t most);
Value joined(Runtime& runtime, const Value& separator, const Value& items);

// strings_pad.cc
Value padded(Runtime& runtime, const Value& string, std::int64_t width, const Value& fill,
             Side side);
Value zero_filled(Runtime& runtime, const Value& string, std::int64_t width);
Value expanded_tabs(Runtime& runtime, const Value& string, std::int64_t size);

}  // namespace verbatim::chat::jinja
