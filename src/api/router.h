#pragma once

#include <memory>

#include "gateway/chat_endpoint.h"
#include "gateway/recorder.h"

namespace verbatim::api {

// What the routes work on. One per executor; model, store and recorder are shared.
struct Services {
  base::Runtime& runtime;
  const gateway::Model& model;
  engine::Engine& engine;
  store::Store& store;
  gateway::Recorder* recorder = nullptr;  // null: no record files
  gateway::ChatEndpoint& chat;
  gateway::RunningTurns& running;
};

// Finds the route of a request and lets it answer. Unknown paths are 404, known paths with another
// method 405 with Allow.
base::Task<void> route(Services& services, const net::Request& request, net::Responder& responder,
                       base::CancelSignal& cancel);

}  // namespace verbatim::api
