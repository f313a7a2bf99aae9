#pragma once

#include <string>

#include "base/cancel.h"
#include "gateway/turn_runner.h"
#include "net/http_server.h"

namespace verbatim::gateway {

// POST /v1/chat/completions, in a session or without one: reads the request, runs the turn, writes
// the answer, streaming or whole.
class ChatEndpoint {
 public:
  ChatEndpoint(base::Runtime& runtime, const Model& model, store::Store& store, TurnRunner& runner)
      : runtime_(runtime), model_(model), store_(store), runner_(runner) {}

  // `session_id` is empty for stateless chat. Answers the request in every case.
  base::Task<void> handle(const net::Request& http, net::Responder& responder,
                          base::CancelSignal& cancel, std::string session_id);

 private:
  base::Runtime& runtime_;
  const Model& model_;
  store::Store& store_;
  TurnRunner& runner_;
};

// Answers with an error in the OpenAI shape, or with the engine's own bytes where they have it
// already.
base::Task<void> send_error(net::Responder& responder, const base::Error& error);

}  // namespace verbatim::gateway
