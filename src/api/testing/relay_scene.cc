#include "api/testing/relay_scene.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace verbatim::api::testing {

using base::Task;

void RelayScene::script(std::vector<net::testing::Script> scripts) {
  raw = std::make_unique<net::testing::ScriptServer>(world.runtime, std::move(scripts));
  peer.url.endpoint = {"engine", raw->port(), false};
}

void RelayScene::engine(net::HttpServer::Handler handler) {
  engine_ = std::make_unique<net::HttpServer>(world.runtime, std::move(handler));
  peer.url.endpoint = {"engine", *engine_->start("engine", 0), false};
}

void RelayScene::run(const std::function<Task<void>(HttpCaller&)>& body) {
  relay_ = std::make_unique<RelayInstance>(world.runtime, peer, server);
  port = *relay_->start("gateway", 0, base::Network::PortUse::kExclusive);
  if (!world.run(play(body))) {
    std::fprintf(stderr, "the test never ended\n");
    std::abort();
  }
  world.executor.run_until_idle();
}

Task<void> RelayScene::play(const std::function<Task<void>(HttpCaller&)>& body) {
  HttpCaller caller(world.runtime, port);
  co_await body(caller);
  co_await caller.stop();
  co_await relay_->drain(now() + std::chrono::seconds(60));
  if (raw) co_await raw->stop();
  if (engine_) co_await engine_->drain(now() + std::chrono::seconds(60));
}

Answer RelayScene::post(std::string body, net::Headers headers) {
  Answer answer;
  run([&](HttpCaller& c) -> Task<void> {
    c.headers = std::move(headers);
    answer = co_await c.post(kChat, std::move(body));
  });
  return answer;
}

}  // namespace verbatim::api::testing
