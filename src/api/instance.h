#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/router.h"

namespace verbatim::api {

struct InstanceOptions {
  net::ServerOptions server;
  gateway::RunnerOptions runner;
  // Shared by all instances, so that a deletion on one reaches turns on the others. Null: an own
  // one.
  gateway::RunningTurns* running = nullptr;
  // The same for answers that are asked for once more.
  gateway::Replays* replays = nullptr;
  // Of the owners; shared by all instances, outlives them. Null: nobody needs a key.
  const gateway::ApiKeys* keys = nullptr;
  std::string session_header;  // by which agents may name their session, beside the known ones
  // Where all instances count. Null: an own one.
  Monitoring* monitoring = nullptr;
  std::function<void(const gateway::TurnReport&)> tell;  // of each request for turns, at its end
};

// The gateway on one executor: engine, turn runner, HTTP server. Several share model, store and
// recorder; `digest_key` is the store's. Life: created, start()ed, drain()ed to the end, destroyed;
// all on the executor's thread (creation and start: before it runs).
class Instance {
 public:
  Instance(base::Runtime& runtime, gateway::Model& model, std::unique_ptr<engine::Engine> engine,
           store::Store& store, gateway::Recorder* recorder, std::string_view digest_key,
           InstanceOptions options = {});

  base::Result<std::uint16_t> start(const std::string& host, std::uint16_t port,
                                    base::Network::PortUse use) {
    return server_.start(host, port, use);
  }
  // Lets running turns finish until `deadline`, then cancels them, and their clients are told;
  // returns when nothing runs any more.
  base::Task<void> drain(base::MonoTime deadline);
  // The deadline of a drain(), of one that is yet to come too, is now.
  void hurry() { server_.hurry(); }
  // Asks the engine what only it knows: the context length. Fails when it does not answer.
  base::Task<base::Result<engine::Probe>> learn(base::MonoTime deadline);
  // In place of learn(), where another engine of the same server has said it already.
  void adopt(const engine::Probe& probe);

  [[nodiscard]] std::size_t connections() const { return server_.connections(); }
  [[nodiscard]] engine::Engine& engine() { return *engine_; }

 private:
  void show_engine(const engine::Probe& probe);

  std::optional<Monitoring> own_monitoring_;
  Monitoring& monitoring_;
  gateway::TurnMetrics turn_metrics_;
  std::unique_ptr<engine::Engine> engine_;
  gateway::RunningTurns own_running_;
  gateway::RunningTurns& running_;
  gateway::Replays own_replays_;
  gateway::TurnRunner runner_;
  gateway::TurnEndpoint turns_;
  gateway::ResponsesEndpoint responses_;
  gateway::SessionsEndpoint sessions_;
  gateway::ConversationsEndpoint conversations_;
  gateway::ApiKeys no_keys_;
  Services services_;
  net::HttpServer server_;
};

}  // namespace verbatim::api
