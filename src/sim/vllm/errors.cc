#include "sim/vllm/errors.h"

#include <cstdio>
#include <memory>
#include <utility>

#include "json/writer.h"

namespace verbatim::sim::vllm {
namespace {

constexpr std::string_view kEngineStage = "engine";

base::Error answered(int status, std::string body, std::string message) {
  base::Error error = base::error(base::ErrorKind::kInvalidRequest, std::move(message));
  base::UpstreamAnswer answer;
  answer.status = status;
  answer.body = std::move(body);
  error.upstream = std::make_shared<const base::UpstreamAnswer>(std::move(answer));
  return error;
}

// The parser's complaint in the words of Python's json (Lib/json/decoder.py), and where.
std::pair<std::size_t, std::string_view> python_json_error(const std::string& complaint,
                                                           std::string_view body) {
  std::size_t line = 1, column = 1;
  if (std::sscanf(complaint.c_str(), "invalid JSON at line %zu, column %zu", &line, &column) != 2)
    return {0, "Expecting value"};
  std::size_t offset = 0;
  for (; line > 1; --line) offset = body.find('\n', offset) + 1;
  offset += column - 1;
  const std::string_view text(complaint);
  if (text.find("expected ','") != std::string_view::npos)
    return {offset, "Expecting ',' delimiter"};
  if (text.find("expected ':'") != std::string_view::npos)
    return {offset, "Expecting ':' delimiter"};
  if (text.find("member name") != std::string_view::npos)
    return {offset, "Expecting property name enclosed in double quotes"};
  return {offset, "Expecting value"};
}

}  // namespace

std::string_view error_type(int status) {
  switch (status) {
    case 400:
      return "BadRequestError";
    case 404:
      return "NotFoundError";
    case 429:
      return "Too Many Requests";
    case 501:
      return "NotImplementedError";
    case 503:
      return "Service Unavailable";
    default:
      return "InternalServerError";
  }
}

std::string error_json(int status, std::string_view type, std::optional<std::string_view> param,
                       std::string_view message) {
  json::Writer w;
  w.begin_object().key("error").begin_object().field("message", message).field("type", type);
  param ? w.key("param").string(*param) : w.key("param").null();
  w.field("code", status).end_object().end_object();
  return w.take();
}

base::Error refused(int status, std::string_view type, std::optional<std::string_view> param,
                    std::string_view message, Stage stage) {
  base::Error error =
      answered(status, error_json(status, type, param, message), std::string(message));
  if (param) error.field = *param;
  if (stage == Stage::kEngine) error.code = kEngineStage;
  return error;
}

base::Error bad_request(std::optional<std::string_view> param, std::string_view message,
                        Stage stage) {
  return refused(400, "BadRequestError", param, message, stage);
}

Stage stage_of(const base::Error& error) {
  return error.code == kEngineStage ? Stage::kEngine : Stage::kRequest;
}

base::Error framework_error(int status, std::string_view detail) {
  json::Writer w;
  w.begin_object().field("detail", detail).end_object();
  return answered(status, w.take(), std::string(detail));
}

std::string python_repr(std::string_view text) {
  const bool apostrophe = text.find('\'') != std::string_view::npos;
  const char quote = apostrophe && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == quote || c == '\\') out += '\\';
    out += c;
  }
  return out + quote;
}

std::string shown(const json::Value& value) {
  if (value.is_object()) return "<dict of " + std::to_string(value.size()) + " items>";
  if (value.is_array()) return "<list of " + std::to_string(value.size()) + " items>";
  if (value.is_string()) return value.string();
  if (value.is_null()) return "None";
  if (value.is_bool()) return value.boolean() ? "True" : "False";
  return std::string(value.raw());
}

Problems::Line Problems::line(std::string_view type, std::string_view at, std::string_view message,
                              std::string_view input, std::string_view context) const {
  const std::string loc = at.empty() ? root_ : root_ + "." + std::string(at);
  std::string text = "{'type': " + python_repr(type) + ", 'loc': " + python_repr(loc) +
                     ", 'msg': " + python_repr(message) + ", 'input': " + python_repr(input);
  if (!context.empty()) text.append(", 'ctx': ").append(context);
  return {loc, text + "}"};
}

void Problems::add(std::string_view type, std::string_view at, std::string_view message,
                   std::string_view input, std::string_view context) {
  lines_.push_back(line(type, at, message, input, context));
}

void Problems::insert(std::size_t at, std::string_view type, std::string_view where,
                      std::string_view message, std::string_view input, std::string_view context) {
  lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at),
                line(type, where, message, input, context));
}

void Problems::missing(std::string_view field, const json::Value& object) {
  add("missing", field, "Field required", shown(object));
}

base::Error Problems::error() const {
  std::string message = std::to_string(lines_.size()) +
                        (lines_.size() == 1 ? " validation error:" : " validation errors:");
  for (const auto& line : lines_) message.append("\n  ").append(line.text);
  return refused(400, "Bad Request", lines_.front().loc, message);
}

base::Result<json::Document> parse_body(std::string_view body) {
  if (body.empty()) {
    Problems problems;
    problems.add("missing", "", "Field required", "None");
    return problems.error();
  }
  auto document = json::Document::parse(std::string(body));
  if (!document.ok()) {
    if (document.error().message.find("not UTF-8") != std::string::npos)
      return framework_error(400, "There was an error parsing the body");
    const auto [offset, words] = python_json_error(document.error().message, body);
    Problems problems;
    problems.add("json_invalid", std::to_string(offset), "JSON decode error", "<dict of 0 items>",
                 "{'error': " + python_repr(words) + "}");
    return problems.error();
  }
  if (!document->root().is_object()) {
    Problems problems;
    problems.add("model_attributes_type", "",
                 "Input should be a valid dictionary or object to extract fields from",
                 shown(document->root()));
    return problems.error();
  }
  return document;
}

}  // namespace verbatim::sim::vllm
