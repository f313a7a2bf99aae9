#include "api/relay_instance.h"

#include <array>
#include <utility>

#include "api/route_table.h"
#include "engine/kinds.h"
#include "gateway/turn_endpoint.h"

namespace verbatim::api {
namespace {

using base::error;
using base::ErrorKind;
using base::Task;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kModels = "/v1/models";
constexpr base::Duration kReadyTimeout = std::chrono::seconds(25);

struct RelayServices {
  engine::HttpPeer& peer;
  gateway::Relay& relay;
  Monitoring& monitoring;
};

Task<void> health(RelayServices&, Call& call) {
  (void)co_await call.responder.send(200, kJson, R"({"status":"ok"})");
}

// Nothing is sampled for it: what a request may cost is the server's secret.
Task<void> ready(RelayServices& services, Call& call) {
  const auto models =
      co_await services.peer.get_json(std::string(kModels), services.peer.in(kReadyTimeout));
  if (models.ok() && *models) {
    (void)co_await call.responder.send(200, kJson, R"({"status":"ready"})");
    co_return;
  }
  const std::string why = models.ok() ? "it lists no models" : models.error().message;
  const auto failure = error(ErrorKind::kUnavailable, "the engine does not answer: " + why);
  co_await gateway::send_error(call.responder, failure);
}

Task<void> relayed(RelayServices& services, Call& call) {
  return services.relay.handle(call.request, call.responder, call.cancel);
}

Task<void> metrics(RelayServices& services, Call& call) {
  return services.monitoring.get(call.request, call.responder);
}

constexpr std::array<Route<RelayServices>, 8> kRoutes{{{"GET", "/health", health},
                                                       {"GET", "/healthz", health},
                                                       {"GET", "/ready", ready},
                                                       {"GET", "/metrics", metrics},
                                                       {"GET", kModels, relayed},
                                                       {"POST", "/v1/chat/completions", relayed},
                                                       {"POST", "/v1/completions", relayed},
                                                       {"POST", "/v1/embeddings", relayed}}};

bool needs_ids(std::string_view path) {
  constexpr std::string_view kSessions = "/sessions";
  return path == kSessions || path.starts_with("/sessions/");
}

base::Error no_ids() {
  return error(
      ErrorKind::kUnsupported,
      "sessions need an engine that is driven by token ids, and this gateway relays "
      "messages (engine kind openai), which are not token-exact and not recorded: start "
      "it with --tokenizer and an engine of kind " +
          engine::kinds_by_ids() +
          ", or without exact tokens with --engine-mode chat, responses or messages; or use "
          "/v1/chat/completions");
}

}  // namespace

RelayInstance::RelayInstance(base::Runtime& runtime, engine::PeerOptions engine,
                             net::ServerOptions server, Monitoring* monitoring)
    : monitoring_(monitoring_or_own(monitoring, own_monitoring_, runtime.files)),
      peer_(runtime, std::move(engine)),
      relay_(peer_),
      server_(
          runtime,
          [this](const net::Request& request, net::Responder& responder,
                 base::CancelSignal& cancel) { return route(request, responder, cancel); },
          served(std::move(server), monitoring_)) {}

Task<void> RelayInstance::route(const net::Request& request, net::Responder& responder,
                                base::CancelSignal& cancel) {
  if (needs_ids(request.path)) co_return co_await gateway::send_error(responder, no_ids());
  RelayServices services{peer_, relay_, monitoring_};
  const gateway::Caller anybody;
  co_await dispatch<RelayServices>(kRoutes, services, request, responder, cancel,
                                   "a client's base URL ends in /v1", anybody);
}

Task<void> RelayInstance::drain(base::MonoTime deadline) {
  co_await server_.drain(deadline);
  co_await peer_.stop();
}

}  // namespace verbatim::api
