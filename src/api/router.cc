#include "api/router.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "api/route_table.h"
#include "gateway/doors.h"
#include "gateway/error_policy.h"
#include "gateway/exchange.h"
#include "gateway/responses_exchange.h"
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

Task<void> health(Services&, Call& call) {
  (void)co_await call.responder.send(200, kJson, R"({"status":"ok"})");
}

Task<void> ready(Services& services, Call& call) {
  const auto kept = co_await services.store.probe();
  if (!kept.ok()) co_return co_await send_error(call.responder, kept.error());
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

using ExchangePtr = std::unique_ptr<gateway::Exchange>;

// A session's secret is its door wherever the client sends it; else a header may name one.
Task<void> turn(Services& services, Call& call, ExchangePtr exchange) {
  gateway::Door door;
  door.owner = call.caller.owner;
  door.kind = gateway::DoorKind::kSecret;
  door.session_id = call.caller.session_id;
  if (door.session_id.empty()) {
    auto named =
        gateway::door_of_headers(call.request.headers, call.caller, services.session_header,
                                 services.runtime.clock().wall_ms());
    if (!named) co_return co_await send_error(call.responder, named.error());
    door = std::move(*named);
  }
  co_await services.turns.handle(call.request, call.responder, call.cancel, std::move(door),
                                 std::move(exchange));
}

Task<void> session_turn(Services& services, Call& call, ExchangePtr exchange) {
  gateway::Door door;
  door.owner = call.caller.owner;
  door.kind = gateway::DoorKind::kPath;
  door.session_id = call.id;
  if (!call.caller.session_id.empty() && call.caller.session_id != call.id) {
    // Its secret is no key to another one.
    const auto session = co_await gateway::session_of(services.store, call.caller, call.id);
    if (!session) co_return co_await send_error(call.responder, session.error());
  }
  co_await services.turns.handle(call.request, call.responder, call.cancel, std::move(door),
                                 std::move(exchange));
}

ExchangePtr chat_exchange(Services& services) {
  return std::make_unique<gateway::ChatExchange>(services.model);
}

ExchangePtr responses_exchange(Services& services) {
  return std::make_unique<gateway::ResponsesExchange>(services.model, services.runtime.random);
}

Task<void> chat(Services& services, Call& call) {
  return turn(services, call, chat_exchange(services));
}

Task<void> session_chat(Services& services, Call& call) {
  return session_turn(services, call, chat_exchange(services));
}

Task<void> create_response(Services& services, Call& call) {
  return turn(services, call, responses_exchange(services));
}

Task<void> create_session_response(Services& services, Call& call) {
  return session_turn(services, call, responses_exchange(services));
}

Task<void> get_response(Services& services, Call& call) {
  return services.responses.get(call.request, call.responder, call.caller, call.id);
}

Task<void> delete_response(Services& services, Call& call) {
  return services.responses.remove(call.responder, call.caller, call.id);
}

Task<void> input_items(Services& services, Call& call) {
  return services.responses.input_items(call.request, call.responder, call.caller, call.id);
}

Task<void> create_conversation(Services& services, Call& call) {
  return services.conversations.create(call.request, call.responder, call.caller);
}

Task<void> get_conversation(Services& services, Call& call) {
  return services.conversations.get(call.responder, call.caller, call.id);
}

Task<void> update_conversation(Services& services, Call& call) {
  return services.conversations.update(call.request, call.responder, call.caller, call.id);
}

Task<void> delete_conversation(Services& services, Call& call) {
  return services.conversations.remove(call.responder, call.caller, call.id);
}

Task<void> add_items(Services& services, Call& call) {
  return services.conversations.add_items(call.request, call.responder, call.caller, call.id);
}

Task<void> list_items(Services& services, Call& call) {
  return services.conversations.list_items(call.request, call.responder, call.caller, call.id);
}

Task<void> get_item(Services& services, Call& call) {
  return services.conversations.get_item(call.responder, call.caller, call.id, call.item);
}

Task<void> delete_item(Services& services, Call& call) {
  return services.conversations.remove_item(call.responder, call.caller, call.id, call.item);
}

// Agents that would rather have a WebSocket go on over HTTP when they are told.
Task<void> upgrade_responses(Services&, Call& call) {
  if (!call.request.headers.has("upgrade"))
    co_return co_await not_allowed(call.responder, call.request, "POST");
  const auto failure =
      error(ErrorKind::kUnsupported, "WebSocket is not served; POST /v1/responses over HTTP");
  (void)co_await call.responder.send(426, kJson, protocol::openai_error_body(failure));
}

Task<void> session_models(Services& services, Call& call) {
  const auto session = co_await gateway::session_of(services.store, call.caller, call.id);
  if (!session) co_return co_await send_error(call.responder, session.error());
  co_await models(services, call);
}

Task<void> create_session(Services& services, Call& call) {
  return services.sessions.create(call.request, call.responder, call.caller);
}

Task<void> list_sessions(Services& services, Call& call) {
  return services.sessions.list(call.request, call.responder, call.caller);
}

Task<void> get_session(Services& services, Call& call) {
  return services.sessions.get(call.request, call.responder, call.caller, call.id);
}

Task<void> get_tree(Services& services, Call& call) {
  return services.sessions.tree(call.responder, call.caller, call.id);
}

Task<void> delete_session(Services& services, Call& call) {
  return services.sessions.remove(call.responder, call.caller, call.id);
}

Task<void> metrics(Services& services, Call& call) {
  return services.monitoring.get(call.request, call.responder);
}

// For whom needs no key: probes.
constexpr std::array<Route<Services>, 3> kOpenRoutes{
    {{"GET", "/health", health}, {"GET", "/healthz", health}, {"GET", "/ready", ready}}};

// For whom has an operator's key, whatever has become of the store.
constexpr std::array<Route<Services>, 1> kOperatorRoutes{{{"GET", "/metrics", metrics}}};

constexpr std::array<Route<Services>, 23> kRoutes{
    {{"GET", "/v1/models", models},
     {"POST", "/v1/chat/completions", chat},
     {"POST", "/v1/responses", create_response},
     {"GET", "/v1/responses", upgrade_responses},
     {"GET", "/v1/responses/{id}", get_response},
     {"DELETE", "/v1/responses/{id}", delete_response},
     {"GET", "/v1/responses/{id}/input_items", input_items},
     {"POST", "/v1/conversations", create_conversation},
     {"GET", "/v1/conversations/{id}", get_conversation},
     {"POST", "/v1/conversations/{id}", update_conversation},
     {"DELETE", "/v1/conversations/{id}", delete_conversation},
     {"POST", "/v1/conversations/{id}/items", add_items},
     {"GET", "/v1/conversations/{id}/items", list_items},
     {"GET", "/v1/conversations/{id}/items/{item}", get_item},
     {"DELETE", "/v1/conversations/{id}/items/{item}", delete_item},
     {"GET", "/sessions", list_sessions},
     {"POST", "/sessions", create_session},
     {"GET", "/sessions/{id}", get_session},
     {"DELETE", "/sessions/{id}", delete_session},
     {"GET", "/sessions/{id}/tree", get_tree},
     {"GET", "/sessions/{id}/v1/models", session_models},
     {"POST", "/sessions/{id}/v1/chat/completions", session_chat},
     {"POST", "/sessions/{id}/v1/responses", create_session_response}}};

constexpr std::string_view kRemedy = "a client's base URL ends in /v1 or /sessions/{id}/v1";

bool is_one_of(std::span<const Route<Services>> routes, std::string_view path) {
  return std::any_of(routes.begin(), routes.end(),
                     [&](const auto& route) { return route.path == path; });
}

}  // namespace

Task<void> route(Services& services, const Request& request, Responder& responder,
                 base::CancelSignal& cancel) {
  const gateway::Caller anybody;
  if (is_one_of(kOpenRoutes, request.path)) {
    co_await dispatch<Services>(kOpenRoutes, services, request, responder, cancel, kRemedy,
                                anybody);
    co_return;
  }
  if (is_one_of(kOperatorRoutes, request.path)) {
    const auto known = gateway::check_key(services.keys, request.headers);
    if (!known.ok()) co_return co_await send_error(responder, known.error());
    co_await dispatch<Services>(kOperatorRoutes, services, request, responder, cancel, kRemedy,
                                anybody);
    co_return;
  }
  const auto caller = co_await gateway::identify(services.keys, services.store, request.headers);
  if (!caller) co_return co_await send_error(responder, caller.error());
  co_await dispatch<Services>(kRoutes, services, request, responder, cancel, kRemedy, *caller);
}

}  // namespace verbatim::api
