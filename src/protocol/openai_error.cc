#include "protocol/openai_error.h"

#include "json/writer.h"

namespace verbatim::protocol {
std::string_view openai_error_type(base::ErrorKind kind) {
  switch (kind) {
    case base::ErrorKind::kInvalidRequest:
    case base::ErrorKind::kTooLarge:
    case base::ErrorKind::kUnsupported:
      return "invalid_request_error";
    case base::ErrorKind::kUnauthorized:
      return "authentication_error";
    case base::ErrorKind::kNotFound:
      return "not_found_error";
    case base::ErrorKind::kConflict:
      return "conflict_error";
    case base::ErrorKind::kEngine:
      return "upstream_error";
    case base::ErrorKind::kUnavailable:
      return "service_unavailable_error";
    case base::ErrorKind::kTimeout:
      return "timeout_error";
    case base::ErrorKind::kCancelled:
      return "cancelled_error";
    case base::ErrorKind::kInternal:
      break;
  }
  return "server_error";
}

std::string openai_error_message(const base::Error& error) {
  const bool names_field = error.field.empty() || error.message.starts_with(error.field);
  return names_field ? error.message : error.field + ": " + error.message;
}

void write_or_null(json::Writer& w, std::string_view key, const std::string& text) {
  w.key(key);
  text.empty() ? w.null() : w.string(text);
}

void write_openai_error(json::Writer& w, const base::Error& error) {
  w.field("message", openai_error_message(error)).field("type", openai_error_type(error.kind));
  write_or_null(w, "code", error.code);
  write_or_null(w, "param", error.field);
}

std::string openai_error_body(const base::Error& error) {
  json::Writer w;
  w.begin_object().key("error").begin_object();
  write_openai_error(w, error);
  w.end_object().end_object();
  return w.take();
}

}  // namespace verbatim::protocol
