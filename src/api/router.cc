#include "api/router.h"

#include <array>
#include <string>
#include <string_view>

#include "api/route_table.h"
#include "base/random.h"
#include "gateway/error_policy.h"
#include "gateway/session_view.h"
#include "json/writer.h"

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
  store::SessionSpec spec(id, services.runtime.clock().wall_ms());
  const auto status = co_await services.store.create_session(std::move(spec));
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

constexpr std::array<Route<Services>, 9> kRoutes{
    {{"GET", "/health", health},
     {"GET", "/healthz", health},
     {"GET", "/ready", ready},
     {"GET", "/v1/models", models},
     {"POST", "/v1/chat/completions", stateless_chat},
     {"POST", "/sessions", create_session},
     {"GET", "/sessions/{id}", get_session},
     {"DELETE", "/sessions/{id}", delete_session},
     {"POST", "/sessions/{id}/v1/chat/completions", session_chat}}};

}  // namespace

Task<void> route(Services& services, const Request& request, Responder& responder,
                 base::CancelSignal& cancel) {
  return dispatch<Services>(kRoutes, services, request, responder, cancel,
                            "a client's base URL ends in /v1 or /sessions/{id}/v1");
}

}  // namespace verbatim::api
