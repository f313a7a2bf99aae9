#include "engine/upstream.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "net/end_to_end.h"

namespace verbatim::engine {
namespace {

using json::Document;
using json::Value;

constexpr std::size_t kMaxMessage = 2000;

// What a client can use of an engine's error. A list of those that may pass, because the others are
// without end: cookies, redirects and challenges of a host that the client never speaks to, names
// of machines, and what every server writes for itself.
constexpr std::array<std::string_view, 14> kEndToEnd = {
    "retry-after",          "retry-after-ms", "x-should-retry",
    "x-request-id",         "request-id",     "x-correlation-id",
    "traceparent",          "tracestate",     "ratelimit",
    "ratelimit-policy",     "content-type",   "content-language",
    "openai-processing-ms", "warning"};
// "x-ratelimit-remaining-tokens", "anthropic-ratelimit-requests-reset" ...
constexpr std::array<std::string_view, 3> kEndToEndBegins = {"ratelimit-", "x-ratelimit-",
                                                             "anthropic-ratelimit-"};

bool passes(std::string_view name) {
  const auto is = [&](std::string_view known) { return net::equals_ignoring_case(name, known); };
  const auto begins = [&](std::string_view known) {
    return net::equals_ignoring_case(name.substr(0, known.size()), known);
  };
  return std::any_of(kEndToEnd.begin(), kEndToEnd.end(), is) ||
         std::any_of(kEndToEndBegins.begin(), kEndToEndBegins.end(), begins);
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::pair<std::string, std::string>> end_to_end(const net::Headers& headers) {
  const net::EndToEnd fields(headers);
  std::vector<std::pair<std::string, std::string>> kept;
  for (const auto field : headers) {
    // Even one of these is left behind where a Connection field names it.
    if (fields.has(field.name) && passes(field.name)) kept.emplace_back(field.name, field.value);
  }
  return kept;
}

// Engines say it as {"error": {"message"}}, {"message"}, {"detail"} or a bare string, by kind,
// release and layer (FastAPI's own errors among them).
std::string text_of(const Value& body) {
  if (body.is_string()) return body.string();
  if (!body.is_object()) return {};
  for (const std::string_view name : {"error", "message", "detail"}) {
    const auto member = body.get(name);
    if (!member) continue;
    if (auto text = text_of(*member); !text.empty()) return text;
  }
  return {};
}

// A proxy's HTML page or a binary body says nothing to a client.
bool is_plain_text(std::string_view text) {
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '<' || u >= 0x7f || (u < 0x20 && c != '\n' && c != '\r' && c != '\t')) return false;
  }
  return true;
}

// Errors inside a stream that began with 200 carry their status in the body.
std::optional<int> http_status(const Value& body) {
  if (!body.is_object()) return std::nullopt;
  for (const std::string_view name : {"code", "status_code"}) {
    const auto member = body.get(name);
    if (!member || !member->is_number()) continue;
    const auto status = member->integer();
    if (status && *status >= 400 && *status <= 599) return static_cast<int>(*status);
  }
  const auto inner = body.get("error");
  return inner ? http_status(*inner) : std::nullopt;
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80) --limit;
  return std::string(text.substr(0, limit)) + "...";
}

std::string error_message(std::string_view body) {
  if (body.empty()) return {};
  const auto parsed = Document::parse(std::string(body));
  if (parsed.ok()) return excerpt(text_of(parsed->root()), kMaxMessage);
  return is_plain_text(body) ? excerpt(trim(body), kMaxMessage) : std::string();
}

bool refused_unsampled(const base::UpstreamAnswer& answer) {
  // Lower case. SGLang's queue limit and its eviction from the queue; vLLM while it scales;
  // Dynamo's admission and readiness; rate limits of proxies.
  static constexpr std::array<std::string_view, 10> kWords = {
      "queue is full",
      "aborted by a higher priority request",
      "currently scaling",
      "temporarily overloaded",
      "workers are busy",
      "service is not ready",
      "is not ready to serve requests",
      "too many requests",
      "rate limit",
      "no worker is free"};
  if (answer.status != 429 && answer.status != 503 && answer.status != 529) return false;
  std::string said = error_message(answer.body);
  for (char& c : said) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view words) { return said.find(words) != std::string::npos; });
}

base::Error upstream_error(int status, const net::Headers& headers, std::string body) {
  auto error = base::error(base::ErrorKind::kEngine,
                           "the engine answered with status " + std::to_string(status));
  // Above 599 it means nothing to a client either, so it is not passed on.
  if (status < 400 || status > 599) {
    error.message += ", expected 200";
    error.code = "malformed_answer";
    return error;
  }
  if (const auto said = error_message(body); !said.empty()) error.message += ": " + said;
  error.code = "engine_error";
  error.upstream = std::make_shared<const base::UpstreamAnswer>(
      base::UpstreamAnswer{status, end_to_end(headers), std::move(body)});
  return error;
}

bool is_error_body(const Value& body) {
  if (!body.is_object()) return false;
  if (body.get("error")) return true;
  const auto object = body.get("object");
  return object && object->is_string() && object->string() == "error";
}

base::Error reported_error(const Value& body) {
  auto error = base::error(base::ErrorKind::kEngine, "the engine reported an error");
  if (const auto said = text_of(body); !said.empty())
    error.message += ": " + excerpt(said, kMaxMessage);
  error.code = "engine_error";
  if (const auto status = http_status(body)) {
    error.upstream = std::make_shared<const base::UpstreamAnswer>(base::UpstreamAnswer{
        *status, {{"content-type", "application/json"}}, std::string(body.raw())});
  }
  return error;
}

}  // namespace verbatim::engine
