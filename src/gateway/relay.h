#pragma once

#include "base/cancel.h"
#include "base/task.h"
#include "engine/http_peer.h"
#include "net/http_server.h"

namespace verbatim::gateway {

// Passes requests on to a server and its answers back, byte for byte and as they come: the message
// path without a look into the bodies. Nothing is recorded.
//
// Up go method, target, body and the end-to-end fields but those in which a client shows who it is
// (Authorization, X-Api-Key, Api-Key): these are for the gateway; the engine gets the gateway's
// key. Down come status, end-to-end fields and body, one write for each read, its end marked as the
// engine marked it; Server and Date are the gateway's own. The next bytes are read when the client
// took the last.
//
// Where the engine gives no answer, the client gets an error in the OpenAI shape. An answer that
// breaks off behind its head is broken off towards the client too, never ended in order; a stream
// of events gets an error event before, where one may stand. A client that hangs up ends the
// connection to the engine at once.
//
// Life: one per executor; `peer` outlives it.
class Relay {
 public:
  explicit Relay(engine::HttpPeer& peer) : peer_(peer) {}

  // Answers the request in every case. `gone` fires when the client hangs up.
  base::Task<void> handle(const net::Request& request, net::Responder& responder,
                          base::CancelSignal& gone);

 private:
  base::Task<void> pass_back(net::ClientResponse& response, net::Responder& responder,
                             const base::CancelSignal& gone);

  engine::HttpPeer& peer_;
};

// What goes up of a client's header fields.
net::Headers relayed_up(const net::Headers& client);
// What comes down of the engine's.
net::Headers relayed_down(const net::Headers& engine);

}  // namespace verbatim::gateway
