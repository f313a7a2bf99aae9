#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "chat/jinja/ast.h"

namespace verbatim::chat::jinja {

// Parses a template by the grammar of Jinja2 3.1 with the loop controls and transformers'
// `generation` tag. Templates that need a loader (extends, include, import, block) are refused.
// Errors name the line; nesting is bounded.
base::Result<std::unique_ptr<Program>> parse_template(std::string source);

}  // namespace verbatim::chat::jinja
