#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/sim/sim_world.h"
#include "gateway/testing/fake_engine.h"
#include "gateway/testing/flaky_store.h"
#include "gateway/testing/toy_model.h"
#include "gateway/turn_runner.h"

namespace verbatim::gateway::testing {

// Follows a turn and keeps what it was shown.
class Watcher final : public TurnObserver {
 public:
  std::optional<base::Error> fails;  // on_chunk fails with it
  std::function<void()> on_next;     // runs at each chunk
  message::Events events;
  trajectory::TokenIds ids;
  int planned = 0;

  void on_planned() override { ++planned; }
  base::Task<base::Status> on_chunk(std::span<const message::Event> more,
                                    const engine::TokenChunk& chunk) override;
};

// Plans and runs turns on a simulated world.
class Scene {
 public:
  explicit Scene(std::string_view family = "chatml", std::uint64_t seed = 7);

  static constexpr const char* kKey = "digest key";
  static constexpr const char* kSession = "s1";

  base::sim::SimWorld world;
  std::unique_ptr<Model> model;
  FakeEngine engine;
  FlakyStore store;
  SessionsInUse in_use;
  Planner planner;
  TurnRunner runner;
  Watcher watcher;
  base::CancelSignal cancel;

  // A request in kSession, which exists.
  static TurnRequest request(std::vector<message::Message> messages);
  void add_session(std::string id);
  // Runs a task to its end; a task that never ends fails the test.
  void run(base::Task<void> task);
  base::Result<trajectory::TurnPtr> turn(TurnRequest request);
  base::Result<Turns> turns(TurnRequest request);
  base::Result<Plan> plan(TurnRequest request);
  // A turn that must be recorded: `said` is what the engine samples, its stop token included.
  trajectory::TurnPtr recorded(TurnRequest request, std::string_view said);
  // The request that continues `turn` with one more message.
  static TurnRequest continued(const trajectory::TurnPtr& turn, message::Message message);
};

// All of a plan's prompt in one piece.
trajectory::TokenIds prompt_of(const Plan& plan);

}  // namespace verbatim::gateway::testing
