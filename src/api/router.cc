#include "api/router.h"

#include <array>
#include <string>
#include <string_view>

#include "base/random.h"
#include "gateway/error_policy.h"
#include "gateway/session_view.h"
#include "json/writer.h"
#include "protocol/openai_error.h"

namespace verbatim::api {

using base::error;
using base::ErrorKind;
using base::Task;
using gateway::send_error;
using net::Request;
using net::Responder;

namespace {

constexpr std::string_view kJson = "application/json";
constexpr base::Duration kReadyTimeout = std::chrono::seconds(25);

// What a handler gets beside the services.
struct Call {
  const Request& request;
  Responder& responder;
  base::CancelSignal& cancel;
  std::string session_id;  // of /sessions/{id}...
};

base::Error no_session(const std::string& id) {
  return error(ErrorKind::kNotFound,
               "session not found: session_id=" + id + "; POST /sessions starts a new one");
}

Task<void> health(Services&, Call& call) {
  (void)co_await call.responder.send(200, kJson, R"({"status":"ok"})");
}

Task<void> ready(Services& services, Call& call) {
  const auto status =
      co_await services.engine.ready(services.runtime.clock().now() + kReadyTimeout);
  if (!status.ok()) {
    auto failure =
        error(ErrorKind::kUnavailable, "the engine does not answer: " + status.error().message);
    co_return co_await send_error(call.responder, failure);
  }
  (void)co_await call.responder.send(200, kJson, R"({"status":"ready"})");
}

Task<void> models(Services& services, Call& call) {
  json::Writer w;
  w.begin_object()
      .field("object", "list")
      .key("data")
      .begin_array()
      .begin_object()
      .field("id", services.model.name);
  w.field("object", "model")
      .field("created", 0)
      .field("owned_by", "verbatim")
      .field("root", services.model.name);
  if (const std::uint64_t context = services.model.max_model_len.load(); context != 0)
    w.field("max_model_len", context);
  w.end_object().end_array().end_object();
  (void)co_await call.responder.send(200, kJson, w.text());
}

Task<void> stateless_chat(Services& services, Call& call) {
  co_await services.chat.handle(call.request, call.responder, call.cancel, "");
}

Task<void> session_chat(Services& services, Call& call) {
  co_await services.chat.handle(call.request, call.responder, call.cancel, call.session_id);
}

Task<void> create_session(Services& services, Call& call) {
  const std::string id = base::new_hex_id(services.runtime.random);
  const auto status =
      co_await services.store.create_session(id, services.runtime.clock().wall_ms());
  if (!status.ok()) co_return co_await send_error(call.responder, status.error());
  json::Writer w;
  w.begin_object().field("session_id", id).end_object();
  (void)co_await call.responder.send(200, kJson, w.text());
}

Task<void> get_session(Services& services, Call& call) {
  const auto info = co_await services.store.session(call.session_id);
  if (!info) co_return co_await send_error(call.responder, info.error());
  if (!info->has_value())
    co_return co_await send_error(call.responder, no_session(call.session_id));
  const auto turns = co_await services.store.turns(call.session_id);
  if (!turns) co_return co_await send_error(call.responder, turns.error());
  const auto body =
      gateway::session_view(**info, *turns, services.model.renderer->family().max_trim());
  (void)co_await call.responder.send(200, kJson, body);
}

Task<void> delete_session(Services& services, Call& call) {
  const auto status = co_await services.store.delete_session(call.session_id);
  if (!status.ok()) co_return co_await send_error(call.responder, status.error());
  services.running.cancel(call.session_id);
  if (services.recorder != nullptr)
    co_await services.recorder->session_ended(services.runtime.executor, call.session_id,
                                              "deleted");
  (void)co_await call.responder.send(204, kJson, "");
}

struct Route {
  std::string_view method;
  std::string_view path;  // "{id}" stands for one segment
  Task<void> (*handler)(Services&, Call&);
};

constexpr std::array<Route, 9> kRoutes{
    {{"GET", "/health", health},
     {"GET", "/healthz", health},
     {"GET", "/ready", ready},
     {"GET", "/v1/models", models},
     {"POST", "/v1/chat/completions", stateless_chat},
     {"POST", "/sessions", create_session},
     {"GET", "/sessions/{id}", get_session},
     {"DELETE", "/sessions/{id}", delete_session},
     {"POST", "/sessions/{id}/v1/chat/completions", session_chat}}};

// Does `path` have the form `pattern`? Takes what stands at "{id}".
bool matches(std::string_view pattern, std::string_view path, std::string_view& id) {
  constexpr std::string_view kId = "{id}";
  const auto at = pattern.find(kId);
  if (at == std::string_view::npos) return pattern == path;
  const std::string_view rest = pattern.substr(at + kId.size());
  if (!path.starts_with(pattern.substr(0, at))) return false;
  path.remove_prefix(at);
  const auto end = std::min(path.find('/'), path.size());
  if (end == 0 || path.substr(end) != rest) return false;
  id = path.substr(0, end);
  return true;
}

Task<void> not_allowed(Responder& responder, const Request& request, const std::string& allow) {
  const auto failure = error(ErrorKind::kInvalidRequest,
                             "method " + std::string(request.method) + " is not allowed on " +
                                 std::string(request.path) + "; allowed: " + allow);
  net::Headers headers;
  headers.add("Content-Type", kJson).add("Allow", allow);
  (void)co_await responder.send(405, headers, protocol::openai_error_body(failure));
}

}  // namespace

Task<void> route(Services& services, const Request& request, Responder& responder,
                 base::CancelSignal& cancel) {
  std::string allow;
  for (const auto& route : kRoutes) {
    std::string_view id;
    if (!matches(route.path, request.path, id)) continue;
    // HEAD is a GET whose body the server leaves out.
    const bool head = request.method == "HEAD" && route.method == "GET";
    if (request.method == route.method || head) {
      Call call{request, responder, cancel, std::string(id)};
      co_return co_await route.handler(services, call);
    }
    if (!allow.empty()) allow += ", ";
    allow += route.method;
  }
  if (!allow.empty()) co_return co_await not_allowed(responder, request, allow);
  co_await send_error(
      responder,
      error(ErrorKind::kNotFound, "no such path: " + std::string(request.path.substr(0, 200)) +
                                      "; a client's base URL ends in /v1 or /sessions/{id}/v1"));
}

}  // namespace verbatim::api
