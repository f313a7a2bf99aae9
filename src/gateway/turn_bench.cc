// The gateway's own work for one turn of a long session: plan, parse, commit. Reading the agent's
// body and sending ids are not in it: the request is given as messages, and the engine is a fake
// that looks at nothing.
#include <benchmark/benchmark.h>

#include "gateway/testing/scene.h"

namespace verbatim::gateway {
namespace {

using message::Message;
using message::Role;

constexpr std::size_t kSessions = 20;

Message make(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

// One session's agent: what it will send next, and what it was answered.
struct Agent {
  std::string session;
  std::vector<Message> history{make(Role::kSystem, "You are a helpful agent.")};

  TurnRequest next() {
    history.push_back(
        make(Role::kUser,
             "what is the weather in Rome and in Paris, and which of them is warmer today?"));
    auto request = testing::Scene::request(history);
    request.session_id = session;
    return request;
  }
};

void run_all(testing::Scene& scene, std::vector<Agent>& agents,
             std::vector<TurnRequest>& requests) {
  for (std::size_t i = 0; i < agents.size(); ++i) {
    const auto turn = scene.turn(std::move(requests[i]));
    if (!turn) std::abort();
    agents[i].history.push_back((*turn)->answer);
  }
}

std::vector<TurnRequest> ask_all(std::vector<Agent>& agents) {
  std::vector<TurnRequest> requests;
  for (auto& agent : agents) requests.push_back(agent.next());
  return requests;
}

// Turns at depth `state.range(0)` and a few behind it, over sessions that take turns, so that no
// history stays in the caches.
void turn_at_depth(benchmark::State& state) {
  testing::Scene scene;
  std::vector<Agent> agents;
  for (std::size_t i = 0; i < kSessions; ++i) {
    agents.push_back({"bench" + std::to_string(i)});
    scene.add_session(agents.back().session);
  }
  for (std::int64_t depth = 1; depth < state.range(0); ++depth) {
    auto requests = ask_all(agents);
    run_all(scene, agents, requests);
  }
  for (auto _ : state) {
    state.PauseTiming();
    auto requests = ask_all(agents);
    state.ResumeTiming();
    run_all(scene, agents, requests);
  }
  state.counters["us_per_turn"] =
      benchmark::Counter(static_cast<double>(state.iterations() * kSessions) / 1e6,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(turn_at_depth)
    ->Arg(2)
    ->Arg(10)
    ->Arg(50)
    ->Arg(200)
    ->Iterations(10)
    ->Repetitions(7)
    ->ReportAggregatesOnly();

}  // namespace
}  // namespace verbatim::gateway
