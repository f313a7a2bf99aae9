// Renders templates for tests/oracle/check_render.py: one JSON object per line in, one out.
//   in:  {"template": "source"} sets the template; {"context": {...}, "now_ms": n} renders it
//   out: {"ok": true} | {"text": ..., "runs": [[size, source], ...]} | {"error": kind, "message":
//   ...}
// With "sources": true every string, number, boolean and null of the context gets a source of its
// own (1, 2, ... in order of appearance); keys and containers belong to the template.
#include <iostream>
#include <memory>
#include <string>

#include "chat/jinja/template.h"
#include "json/value.h"
#include "json/writer.h"

namespace {

using namespace verbatim;
using chat::jinja::SourceId;
using chat::jinja::Value;

Value with_sources(const json::Value& json, SourceId& next) {
  if (json.is_array()) {
    std::vector<Value> items;
    for (const auto& member : json) items.push_back(with_sources(member.value, next));
    return Value::list(std::move(items));
  }
  if (json.is_object()) {
    std::vector<std::pair<Value, Value>> entries;
    for (const auto& member : json) {
      entries.emplace_back(Value::string(member.name()), with_sources(member.value, next));
    }
    return Value::dict(std::move(entries));
  }
  return Value::from_json(json, next++);
}

void write_error(const base::Error& error, json::Writer& out) {
  out.begin_object()
      .field("error", static_cast<int>(error.kind))
      .field("message", std::string_view(error.message))
      .end_object();
}

void write_text(const chat::jinja::Text& text, bool sources, json::Writer& out) {
  out.begin_object().field("text", std::string_view(text.bytes));
  if (sources) {
    out.key("runs").begin_array();
    for (const auto& run : text.runs) {
      out.begin_array().integer(run.size).integer(run.source).end_array();
    }
    out.end_array();
  }
  out.end_object();
}

std::string answer(const std::string& line, std::shared_ptr<const chat::jinja::Template>& current) {
  json::Writer out;
  auto document = json::Document::parse(line);
  if (!document) {
    write_error(document.error(), out);
    return out.take();
  }
  const json::Value request = document->root();
  if (const auto source = request.find("template")) {
    current.reset();
    auto parsed = chat::jinja::Template::parse(source->string());
    if (!parsed) {
      write_error(parsed.error(), out);
      return out.take();
    }
    current = *parsed;
    if (!request.find("context")) return R"({"ok": true})";
  }
  if (current == nullptr) return R"({"error": 0, "message": "no template"})";
  const auto marked = request.find("sources");
  const bool sources = marked && marked->boolean();
  SourceId next = 1;
  const json::Value context = *request.find("context");
  const Value values = sources ? with_sources(context, next) : Value::from_json(context, 1);
  chat::jinja::RenderOptions options;
  if (const auto now = request.find("now_ms")) options.clock.wall_ms = now->integer().value_or(0);
  const auto text = current->render(values, options);
  if (text) {
    write_text(*text, sources, out);
  } else {
    write_error(text.error(), out);
  }
  return out.take();
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::shared_ptr<const chat::jinja::Template> current;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(line, current) << '\n' << std::flush;
  return 0;
}
