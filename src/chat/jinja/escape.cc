#include "chat/jinja/escape.h"

namespace verbatim::chat::jinja {
namespace {

std::string_view reference(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\'':
      return "&#39;";
    case '"':
      return "&#34;";
    default:
      return {};
  }
}

}  // namespace

void append_escaped(TextBuilder& out, const Value& string) {
  const StringObject& object = string.string_object();
  std::size_t done = 0;
  for (std::size_t i = 0; i < object.text.size(); ++i) {
    const std::string_view escaped = reference(object.text[i]);
    if (escaped.empty()) continue;
    object.append_part_to(out, done, i);
    out.append(escaped, object.source_at(i));
    done = i + 1;
  }
  object.append_part_to(out, done, object.text.size());
}

}  // namespace verbatim::chat::jinja
