#pragma once

#include <string_view>

#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// A test: gets what stands left of `is`, and its arguments.
using TestFunction = bool (*)(Runtime&, const Value& input, Arguments&);
TestFunction find_test(std::string_view name);

}  // namespace verbatim::chat::jinja
