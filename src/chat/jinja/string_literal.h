#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace verbatim::chat::jinja {

// What stands between the quotes of a string in a template, its escapes resolved as Jinja2 does
// (Python's "unicode-escape" codec). Surrogates and \N{...} are errors.
base::Result<std::string> unescape_literal(std::string_view literal);

}  // namespace verbatim::chat::jinja
