#pragma once

#include <string_view>

#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// A filter: gets what stands left of the |, and the arguments in parentheses.
using FilterFunction = Value (*)(Runtime&, const Value& input, Arguments&);
// nullptr when there is none of this name.
FilterFunction find_filter(std::string_view name);

// The tojson filter, writing straight into a text.
Value filter_tojson(Runtime& runtime, const Value& input, Arguments& arguments);
void append_tojson(Runtime& runtime, TextBuilder& out, const Value& input, Arguments& arguments);

}  // namespace verbatim::chat::jinja
