#pragma once

#include "base/result.h"
#include "chat/jinja/ast.h"

namespace verbatim::chat::jinja {

// Gives every name its slot by the scoping rules of Jinja2 (jinja2/idtracking.py and compiler.py
// of 3.1): which blocks open a scope, what a name that is set in a scope starts with there, what
// functions see of the names around them. Also refuses unknown filters and tests where Jinja2 does
// so before rendering.
base::Status resolve_names(Program& program);

}  // namespace verbatim::chat::jinja
