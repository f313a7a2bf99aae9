#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// Spreads arguments over parameters, by position or name, as a Python function with these
// parameters would: raises TypeError for too many, unknown, doubled or (below `required`) missing
// ones. Parameters without a value stay kMissing.
bool bind(Runtime& runtime, std::string_view function, Arguments& arguments,
          std::initializer_list<std::string_view> parameters, std::size_t required, Value* out);

// Reads of optional arguments.
bool flag_argument(const Value& value, bool otherwise = false);
// An integer (or bool); raises TypeError for anything else.
std::int64_t integer_argument(Runtime& runtime, const Value& value, std::int64_t otherwise);
// A string; raises TypeError for anything else.
bool expect_string(Runtime& runtime, const Value& value, std::string_view function);

}  // namespace verbatim::chat::jinja
