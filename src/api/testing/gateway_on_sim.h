#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/instance.h"
#include "base/sim/sim_world.h"
#include "gateway/testing/flaky_store.h"
#include "gateway/testing/http_caller.h"
#include "gateway/testing/toy_model.h"
#include "sim/sim_engine.h"

namespace verbatim::api::testing {

using gateway::testing::Answer;
using gateway::testing::HttpCaller;

// The whole gateway with a simulated engine behind it, on one simulated world.
class GatewayOnSim {
 public:
  explicit GatewayOnSim(std::uint64_t seed = 5);

  base::sim::SimWorld world;
  std::string kind = "sglang";  // of the engine; before run(), as what follows
  std::string mode;             // empty: the kind's default
  sim::SimOptions engine_options;
  InstanceOptions options;
  bool learns = true;  // the gateway asks the engine for its context before `body` runs
  std::unique_ptr<gateway::Model> model;
  gateway::testing::FlakyStore store;
  gateway::Recorder recorder;
  std::unique_ptr<sim::SimEngine> engine;
  std::unique_ptr<Instance> instance;
  std::optional<HttpCaller> caller;
  std::uint16_t port = 0;

  // What the engine samples, one text per request: steps of a sim script, each a JSON object.
  void script(const std::vector<std::string>& steps);
  // Runs `body` with everything up, then stops all of it.
  void run(const std::function<base::Task<void>(HttpCaller&)>& body);
  [[nodiscard]] base::MonoTime in(base::Duration time) {
    return world.executor.clock().now() + time;
  }

 private:
  base::Task<void> play(const std::function<base::Task<void>(HttpCaller&)>& body);
};

// {"role":...,"content":...}
std::string message(std::string_view role, std::string_view content);
// A chat request with these messages, and further members (",\"stream\":true").
std::string chat_body(const std::vector<std::string>& messages, std::string_view more = "");
// The same with the messages one by one: g++ 12 can't have braces in a co_await.
template <class... Text>
std::string ask(const Text&... messages) {
  return chat_body({messages...});
}
template <class... Text>
std::string ask_with(std::string_view more, const Text&... messages) {
  return chat_body({messages...}, more);
}

// A turn as GET /sessions/{id} lists it.
struct Node {
  std::string id, parent, attach;
};
// The nodes of a view, in order of their commits.
std::vector<Node> nodes(const Answer& view);

}  // namespace verbatim::api::testing
