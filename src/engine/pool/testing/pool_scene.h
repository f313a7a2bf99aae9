#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sim/sim_world.h"
#include "engine/pool/engine.h"
#include "engine/pool/testing/scripted_engine.h"

namespace verbatim::engine::pool::testing {

// What a client saw of one turn.
struct Outcome {
  std::optional<base::Error> error;
  std::string served_by;  // end().engine_url
  [[nodiscard]] bool ok() const { return !error; }
};

// A pool of scripted engines "http://r0", "http://r1" ... on a simulated executor, driven by ids or
// by messages.
struct PoolScene {
  explicit PoolScene(std::size_t replicas, std::uint64_t seed = 1, Options options = {})
      : PoolScene(Path::kTokens, replicas, seed, std::move(options)) {}
  explicit PoolScene(Path path, std::size_t replicas, std::uint64_t seed = 1, Options options = {});

  static std::string url(std::size_t replica) { return "http://r" + std::to_string(replica); }
  // Runs `body` behind a first probe(), then stops the pool. False when something got stuck.
  [[nodiscard]] bool run(const std::function<base::Task<void>()>& body);
  // Without the probe.
  [[nodiscard]] bool run_unasked(const std::function<base::Task<void>()>& body);

  // By messages, what both kinds of requests have is sent on.
  TokenRequest request(std::string conversation);
  base::Task<base::Result<std::unique_ptr<TokenStream>>> begin(TokenRequest request);
  // One turn, read to its end.
  base::Task<Outcome> turn(TokenRequest request);
  base::Task<Outcome> turn(std::string conversation) {
    return turn(request(std::move(conversation)));
  }
  base::Task<void> wait(base::Duration time);
  [[nodiscard]] std::size_t asked(std::size_t replica) const {
    return journals[replica]->asked.size();
  }
  [[nodiscard]] Pool::View view(std::size_t replica) const { return pool->replicas()[replica]; }

  const Path path;
  base::sim::SimWorld world;
  std::vector<std::shared_ptr<Journal>> journals;
  std::vector<ScriptedEngine*> engines;
  std::vector<std::string> told;
  std::unique_ptr<Pool> pool;

 private:
  base::Task<void> play(const std::function<base::Task<void>()>& body, bool asks);
  std::uint64_t requests_ = 0;
};

// An engine's own answer with an error status.
base::Error answered(int status, std::string body, std::string retry_after = "");

}  // namespace verbatim::engine::pool::testing
