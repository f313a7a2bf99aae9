#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/monitoring.h"
#include "engine/http_peer.h"
#include "gateway/relay.h"
#include "net/http_server.h"

namespace verbatim::api {

// The gateway of the message path on one executor: it passes requests on to a server that speaks
// the OpenAI protocol (see gateway::Relay). What needs token ids is refused with the remedy. Life:
// created, start()ed, drain()ed to the end, destroyed; all on the executor's thread (creation and
// start: before it runs).
class RelayInstance {
 public:
  // `monitoring` is shared by all instances; null: an own one.
  RelayInstance(base::Runtime& runtime, engine::PeerOptions engine, net::ServerOptions server = {},
                Monitoring* monitoring = nullptr);

  base::Result<std::uint16_t> start(const std::string& host, std::uint16_t port,
                                    base::Network::PortUse use) {
    return server_.start(host, port, use);
  }
  // Lets running answers finish until `deadline`, then cuts them, and their clients are told;
  // returns when nothing runs any more.
  base::Task<void> drain(base::MonoTime deadline);
  // The deadline of a drain(), of one that is yet to come too, is now.
  void hurry() { server_.hurry(); }

  [[nodiscard]] std::size_t connections() const { return server_.connections(); }

 private:
  base::Task<void> route(const net::Request& request, net::Responder& responder,
                         base::CancelSignal& cancel);

  std::optional<Monitoring> own_monitoring_;
  Monitoring& monitoring_;
  engine::HttpPeer peer_;
  gateway::Relay relay_;
  net::HttpServer server_;
};

}  // namespace verbatim::api
