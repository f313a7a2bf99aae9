#include "sim/dynamo/errors.h"

#include <memory>
#include <utility>

#include "json/writer.h"
#include "sim/answer.h"

namespace verbatim::sim::dynamo {
namespace {

struct Names {
  int status;
  std::string_view reason;    // of the flat shape
  std::string_view in_event;  // of the event
};
constexpr Names kNames[] = {{400, "Bad Request", "invalid_request_error"},
                            {404, "Not Found", "not_found_error"},
                            {415, "Unsupported Media Type", "invalid_request_error"},
                            {429, "Too Many Requests", "rate_limit_error"},
                            {500, "Internal Server Error", "internal_server_error"},
                            {501, "Not Implemented", "internal_server_error"},
                            {503, "Service Unavailable", "service_unavailable"}};

const Names& names(int status) {
  for (const auto& each : kNames) {
    if (each.status == status) return each;
  }
  return kNames[4];
}

std::string nested_json(int status, std::string_view type, std::string_view message) {
  json::Writer w;
  w.begin_object().key("error").begin_object().field("message", message).field("type", type);
  w.field("code", status).end_object().end_object();
  return w.take();
}

}  // namespace

HttpReply flat_error(int status, std::string_view message) {
  json::Writer w;
  w.begin_object().field("message", message).field("type", names(status).reason);
  w.field("code", status).end_object();
  return {status, {}, w.take()};
}

HttpReply nested_error(int status, std::string_view type, std::string_view message) {
  return {status, {}, nested_json(status, type, message)};
}

HttpReply text_error(int status, std::string_view message) {
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::string(message)};
}

HttpReply empty_error(int status) {
  return {status, {{"Content-Type", ""}}, ""};
}

std::string error_event(int status, std::string_view message) {
  return sse(nested_json(status, names(status).in_event, message));
}

base::Error as_error(const HttpReply& reply) {
  base::Error error = base::error(base::ErrorKind::kInvalidRequest, reply.body);
  base::UpstreamAnswer answer;
  answer.status = reply.status;
  answer.headers = reply.headers;
  answer.body = reply.body;
  error.upstream = std::make_shared<const base::UpstreamAnswer>(std::move(answer));
  return error;
}

HttpReply reply_of(const base::Error& error) {
  return {error.upstream->status, error.upstream->headers, error.upstream->body};
}

base::Error wrong_type(const std::string& what, std::string_view body) {
  return as_error(flat_error(400, "Failed to deserialize the JSON body into the target type: " +
                                      what + " at line 1 column " + std::to_string(body.size())));
}

base::Error invalid(const std::string& what) {
  return as_error(flat_error(400, "Validation: " + what));
}

}  // namespace verbatim::sim::dynamo
