#include "chat/jinja/testing/render.h"

#include "json/value.h"

namespace verbatim::chat::jinja::testing {

Value context(std::string_view json, SourceId source) {
  const auto document = json::Document::parse(std::string(json));
  return Value::from_json(document->root(), source);
}

base::Result<Text> render(std::string_view source, const Value& context,
                          const RenderOptions& options) {
  auto parsed = Template::parse(std::string(source));
  if (!parsed) return std::move(parsed).error();
  return (*parsed)->render(context, options);
}

std::string text_of(std::string_view source, std::string_view json, const RenderOptions& options) {
  auto text = render(source, context(json), options);
  return text ? text->bytes : "error: " + text.error().message;
}

std::string runs_of(const Text& text) {
  std::string out;
  std::size_t at = 0;
  for (const Run& run : text.runs) {
    if (!out.empty()) out += '|';
    out += std::to_string(run.source) + ':' + text.bytes.substr(at, run.size);
    at += run.size;
  }
  return at == text.bytes.size() ? out : "the runs do not tile the text";
}

std::string runs_of(std::string_view source, const Value& context) {
  const auto text = render(source, context);
  return text ? runs_of(*text) : "error: " + text.error().message;
}

}  // namespace verbatim::chat::jinja::testing
