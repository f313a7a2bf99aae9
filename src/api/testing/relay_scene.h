#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/relay_instance.h"
#include "base/sim/sim_world.h"
#include "gateway/testing/http_caller.h"
#include "net/testing/script_server.h"

namespace verbatim::api::testing {

using gateway::testing::Answer;
using gateway::testing::HttpCaller;

// A relay on a simulated network. What stands behind it is the test's: raw bytes (script), a
// handler (engine), or nothing.
class RelayScene {
 public:
  explicit RelayScene(std::uint64_t seed = 3) : world(seed) { peer.api_key = "engine-key"; }

  base::sim::SimWorld world;
  engine::PeerOptions peer;  // before run()
  net::ServerOptions server;
  std::uint16_t port = 0;  // of the relay
  std::unique_ptr<net::testing::ScriptServer> raw;

  void script(std::vector<net::testing::Script> scripts);
  void engine(net::HttpServer::Handler handler);
  // Runs `body` with everything up, then stops all of it.
  void run(const std::function<base::Task<void>(HttpCaller&)>& body);
  // One POST of a chat request.
  Answer post(std::string body, net::Headers headers = {});

  [[nodiscard]] RelayInstance& relay() { return *relay_; }
  [[nodiscard]] base::MonoTime now() { return world.executor.clock().now(); }

 private:
  base::Task<void> play(const std::function<base::Task<void>(HttpCaller&)>& body);

  std::unique_ptr<net::HttpServer> engine_;
  std::unique_ptr<RelayInstance> relay_;
};

inline constexpr const char* kChat = "/v1/chat/completions";

}  // namespace verbatim::api::testing
