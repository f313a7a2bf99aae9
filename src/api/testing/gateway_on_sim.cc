#include "api/testing/gateway_on_sim.h"

#include <cstdio>
#include <cstdlib>

#include "chat/testing/toy_chat.h"
#include "engine/kinds.h"
#include "json/writer.h"

namespace verbatim::api::testing {

using base::Task;

GatewayOnSim::GatewayOnSim(std::uint64_t seed)
    : world(seed),
      model(gateway::testing::toy_model()),
      store(world.runtime),
      recorder(world.files, world.worker, "records", model->checkpoint) {
  engine_options.tokenizer = chat::testing::toy_tokenizer();
  engine_options.behaviour = sim::Behaviour::kFixedText;
  (void)recorder.open();
}

void GatewayOnSim::script(const std::vector<std::string>& steps) {
  std::string text;
  for (const auto& step : steps) text += (text.empty() ? "" : ",") + step;
  engine_options.script = sim::Script::parse("{\"steps\":[" + text + "]}").value();
}

void GatewayOnSim::run(const std::function<Task<void>(HttpCaller&)>& body) {
  engine_options.face = sim::face_named(kind).value();
  engine = std::make_unique<sim::SimEngine>(world.runtime, engine_options);
  engine::Choice choice;
  choice.kind = kind;
  choice.mode = mode;
  choice.url.endpoint = {"engine", *engine->start("engine", 0), false};
  choice.vocab_size = model->vocab_size;
  instance = std::make_unique<Instance>(world.runtime, *model,
                                        engine::make_engine(world.runtime, choice).value(), store,
                                        &recorder, "key", options);
  port = *instance->start("gateway", 0, base::Network::PortUse::kExclusive);
  caller.emplace(world.runtime, port);
  if (!world.run(play(body))) {
    std::fprintf(stderr, "the test never ended\n");
    std::abort();
  }
  world.executor.run_until_idle();
}

Task<void> GatewayOnSim::play(const std::function<Task<void>(HttpCaller&)>& body) {
  if (learns) (void)co_await instance->learn(in(std::chrono::seconds(5)));
  co_await body(*caller);
  co_await caller->stop();
  co_await instance->drain(in(std::chrono::seconds(60)));
  co_await engine->stop();
}

std::string message(std::string_view role, std::string_view content) {
  json::Writer w;
  w.begin_object().field("role", role).field("content", content).end_object();
  return w.take();
}

std::string chat_body(const std::vector<std::string>& messages, std::string_view more) {
  std::string text;
  for (const auto& one : messages) text += (text.empty() ? "" : ",") + one;
  return "{\"messages\":[" + text + "]" + std::string(more) + "}";
}

std::vector<Node> nodes(const Answer& view) {
  std::vector<Node> list;
  for (int i = 0;; ++i) {
    const auto at = [&](const char* key) { return view.text("metadata", "tree", "nodes", i, key); };
    if (at("id").empty()) return list;
    list.push_back({at("id"), at("parent"), at("attach")});
  }
}

}  // namespace verbatim::api::testing
