#include <utility>

#include "cassette/cassette.h"
#include "cassette/yaml_writer.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::cassette {
namespace {

using base::Result;
using base::Status;

Status write_json(YamlWriter& yaml, const std::string& text, const std::string& name) {
  const auto document = json::Document::parse(text);
  if (!document) return base::invalid(name, document.error().message);
  yaml.value(document->root());
  return {};
}

void write_pairs(YamlWriter& yaml, std::string_view name, const Pairs& pairs) {
  yaml.string(name);
  yaml.begin_mapping();
  for (const auto& [key, value] : pairs) {
    yaml.string(key);
    yaml.string(value);
  }
  yaml.end_mapping();
}

void write_text(YamlWriter& yaml, std::string_view name, std::string_view text) {
  yaml.string(name);
  yaml.string(text);
}

Status write_request(YamlWriter& yaml, const RecordedRequest& request) {
  yaml.begin_mapping();
  write_text(yaml, "method", request.method);
  write_text(yaml, "path", request.path);
  write_pairs(yaml, "query_params", request.query);
  write_pairs(yaml, "headers", request.headers);
  yaml.string("body");
  if (auto status = write_json(yaml, request.body, "request.body"); !status.ok()) return status;
  yaml.end_mapping();
  return {};
}

Status write_response(YamlWriter& yaml, const RecordedResponse& response) {
  yaml.begin_mapping();
  yaml.string("status_code");
  yaml.literal(std::to_string(response.status));
  write_pairs(yaml, "headers", response.headers);
  if (response.body) {
    yaml.string("body");
    if (auto status = write_json(yaml, *response.body, "response.body"); !status.ok())
      return status;
  }
  if (response.sse) {
    yaml.string("sse");
    yaml.begin_sequence();
    for (const auto& line : *response.sse) yaml.string(line);
    yaml.end_sequence();
  }
  if (!response.stream_error.empty()) write_text(yaml, "stream_error", response.stream_error);
  if (!response.transport_error.empty())
    write_text(yaml, "transport_error", response.transport_error);
  yaml.end_mapping();
  return {};
}

Status write_turn(YamlWriter& yaml, const RecordedTurn& turn) {
  yaml.begin_mapping();
  write_text(yaml, "filename", turn.filename);
  yaml.string("request");
  if (auto status = write_request(yaml, turn.request); !status.ok()) return status;
  yaml.string("response");
  if (auto status = write_response(yaml, turn.response); !status.ok()) return status;
  yaml.end_mapping();
  return {};
}

void append_compact(std::string& out, const json::Value& value) {
  if (value.is_string()) return json::append_string(out, value.string());
  if (!value.is_object() && !value.is_array()) {
    out += value.raw();
    return;
  }
  const bool object = value.is_object();
  out += object ? '{' : '[';
  bool first = true;
  for (const auto child : value) {
    if (!std::exchange(first, false)) out += ',';
    if (object) {
      json::append_string(out, child.name());
      out += ':';
    }
    append_compact(out, child.value);
  }
  out += object ? '}' : ']';
}

// JSON comes back without white space and with its shortest escapes.
bool same_json(const std::string& written, const std::string& read) {
  const auto document = json::Document::parse(written);
  if (!document) return false;
  std::string compact;
  append_compact(compact, document->root());
  return compact == read;
}

bool same(const RecordedTurn& written, const RecordedTurn& read) {
  const auto& a = written.request;
  const auto& b = read.request;
  const auto& c = written.response;
  const auto& d = read.response;
  if (written.filename != read.filename || a.method != b.method || a.path != b.path ||
      a.query != b.query || a.headers != b.headers || !same_json(a.body, b.body))
    return false;
  if (c.status != d.status || c.headers != d.headers || c.sse != d.sse ||
      c.stream_error != d.stream_error || c.transport_error != d.transport_error)
    return false;
  return c.body.has_value() == d.body.has_value() && (!c.body || same_json(*c.body, *d.body));
}

Status check_comes_back(const Cassette& cassette, const std::string& text) {
  const auto back = read_cassette(text);
  if (!back.problems.empty())
    return base::invalid("line " + std::to_string(back.problems[0].line), back.problems[0].message);
  for (std::size_t i = 0; i < cassette.turns.size(); ++i) {
    if (i >= back.cassette.turns.size() || !same(cassette.turns[i], back.cassette.turns[i]))
      return base::error(base::ErrorKind::kInternal,
                         name_of(cassette.turns[i]) + " would not be read back as it was");
  }
  return {};
}

}  // namespace

Result<std::string> write_cassette(const Cassette& cassette) {
  YamlWriter yaml;
  yaml.begin_mapping();
  if (!cassette.provider.empty()) {
    yaml.string("provider");
    if (auto status = write_json(yaml, cassette.provider, "provider"); !status.ok())
      return std::move(status).error();
  }
  yaml.string("turns");
  yaml.begin_sequence();
  for (const auto& turn : cassette.turns) {
    if (auto status = write_turn(yaml, turn); !status.ok())
      return std::move(status).error().within(name_of(turn));
  }
  yaml.end_sequence();
  yaml.end_mapping();
  auto text = yaml.take();
  if (!text) return std::move(text).error();
  if (auto status = check_comes_back(cassette, *text); !status.ok())
    return std::move(status).error();
  return text;
}

}  // namespace verbatim::cassette
