#pragma once

#include <functional>
#include <optional>
#include <string>

#include "gateway/testing/http_caller.h"
#include "gateway/testing/scene.h"
#include "gateway/turn_endpoint.h"

namespace verbatim::gateway::testing {

// A chat endpoint over HTTP on the simulated network, with the scripted engine behind it. The path
// is the session's id, "/" for stateless chat.
class ChatServer {
 public:
  explicit ChatServer(std::string_view family = "chatml", std::uint64_t seed = 7)
      : scene(family, seed),
        endpoint(scene.world.runtime, *scene.model, scene.store, scene.runner, running, replays),
        server_(
            scene.world.runtime,
            [this](const net::Request& request, net::Responder& responder,
                   base::CancelSignal& cancel) {
              Door door;
              door.session_id = request.path.substr(1);
              if (door.session_id.empty()) door.use = store::SessionUse::kImplicit;
              return endpoint.handle(request, responder, cancel, std::move(door),
                                     std::make_unique<ChatExchange>(*scene.model));
            },
            with_request_ids()) {}

  Scene scene;
  RunningTurns running;
  Replays replays;
  TurnEndpoint endpoint;
  std::optional<HttpCaller> caller;

  // Runs `body` with the server up, then stops everything.
  void run(const std::function<base::Task<void>(HttpCaller&)>& body) {
    caller.emplace(scene.world.runtime, *server_.start("gateway", 0));
    scene.run(play(body));
  }
  // One request in the scene's session.
  Answer post(std::string body) {
    Answer answer;
    run([&](HttpCaller& c) -> base::Task<void> { answer = co_await c.post("/s1", body); });
    return answer;
  }
  [[nodiscard]] base::MonoTime now() { return scene.world.executor.clock().now(); }

 private:
  static net::ServerOptions with_request_ids() {
    net::ServerOptions options;
    options.request_ids = true;
    return options;
  }
  base::Task<void> play(const std::function<base::Task<void>(HttpCaller&)>& body) {
    co_await body(*caller);
    co_await caller->stop();
    co_await server_.drain(now() + std::chrono::seconds(60));
  }

  net::HttpServer server_;
};

}  // namespace verbatim::gateway::testing
