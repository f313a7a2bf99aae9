#pragma once

#include "chat/jinja/runtime.h"

namespace verbatim::chat::jinja {

// Markup.striptags(): tags and comments go, white space becomes single blanks, references are
// resolved. Gives a plain string.
Value stripped_tags(Runtime& runtime, const Value& string);
// Markup.unescape(): resolves the character references that escaping makes (named ones beyond these
// are an error: kUnsupported).
Value unescaped(Runtime& runtime, const Value& string);

}  // namespace verbatim::chat::jinja
