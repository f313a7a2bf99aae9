#pragma once

#include <string>

#include "base/cancel.h"
#include "gateway/running_turns.h"
#include "gateway/turn_runner.h"
#include "net/http_server.h"
#include "protocol/chat_answer.h"
#include "protocol/chat_request.h"

namespace verbatim::gateway {

// POST /v1/chat/completions, in a session or without one: reads the request, runs the turn, writes
// the answer, streaming or whole.
class ChatEndpoint {
 public:
  ChatEndpoint(base::Runtime& runtime, const Model& model, store::Store& store, TurnRunner& runner,
               RunningTurns& running)
      : runtime_(runtime), model_(model), store_(store), runner_(runner), running_(running) {}

  // `session_id` is empty for stateless chat. `gone` fires when the client hangs up. Answers the
  // request in every case.
  base::Task<void> handle(const net::Request& http, net::Responder& responder,
                          base::CancelSignal& gone, std::string session_id);

 private:
  base::Result<TurnRequest> turn_of(const net::Request& http, protocol::ChatRequest& request);
  base::Task<base::Result<trajectory::TurnPtr>> run(TurnRequest& request, TurnObserver& observer,
                                                    base::CancelSignal& cancel);
  base::Task<void> stream(TurnRequest turn_request, const protocol::ChatRequest& request,
                          const protocol::ChatHead& head, net::Responder& responder,
                          base::CancelSignal& cancel);
  base::Task<void> whole(TurnRequest turn_request, const protocol::ChatRequest& request,
                         const protocol::ChatHead& head, net::Responder& responder,
                         base::CancelSignal& cancel);

  base::Runtime& runtime_;
  const Model& model_;
  store::Store& store_;
  TurnRunner& runner_;
  RunningTurns& running_;
};

// Answers with an error in the OpenAI shape, or with the engine's own bytes where they have it
// already.
base::Task<void> send_error(net::Responder& responder, const base::Error& error);

}  // namespace verbatim::gateway
