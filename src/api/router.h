#pragma once

#include <memory>

#include "api/monitoring.h"
#include "gateway/access.h"
#include "gateway/conversations_endpoint.h"
#include "gateway/responses_endpoint.h"
#include "gateway/sessions_endpoint.h"
#include "gateway/turn_endpoint.h"

namespace verbatim::api {

// What the routes work on. One per executor; model, store and recorder are shared.
struct Services {
  base::Runtime& runtime;
  const gateway::Model& model;
  engine::Engine& engine;
  store::Store& store;
  gateway::TurnEndpoint& turns;
  gateway::ResponsesEndpoint& responses;
  gateway::SessionsEndpoint& sessions;
  gateway::ConversationsEndpoint& conversations;
  const gateway::ApiKeys& keys;
  Monitoring& monitoring;
  std::string session_header;  // by which agents may name their session, beside the known ones
};

// Finds out who asks, and lets the route of the request answer. Who shows no key where one is
// needed gets 401, unknown paths are 404, known paths with another method 405 with Allow. What an
// engine has beside its chat can't be reached.
base::Task<void> route(Services& services, const net::Request& request, net::Responder& responder,
                       base::CancelSignal& cancel);

}  // namespace verbatim::api
