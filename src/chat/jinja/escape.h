#pragma once

#include "chat/jinja/objects.h"
#include "chat/jinja/text.h"

namespace verbatim::chat::jinja {

// & < > ' " as HTML character references, as markupsafe 3 writes them; each belongs to the source
// of its character.
void append_escaped(TextBuilder& out, const Value& string);

}  // namespace verbatim::chat::jinja
