#include "gateway/testing/scene.h"

#include <cstdio>
#include <cstdlib>

namespace verbatim::gateway::testing {

using base::Task;

namespace {

// For what a test can't go on without.
void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

template <class T>
Task<void> keep(Task<T> task, std::optional<T>& into) {
  into.emplace(co_await std::move(task));
}

RunnerOptions told(SessionsInUse& in_use) {
  RunnerOptions options;
  options.in_use = &in_use;
  return options;
}

}  // namespace

Task<base::Status> Watcher::on_chunk(std::span<const message::Event> more,
                                     const engine::TokenChunk& chunk) {
  events.insert(events.end(), more.begin(), more.end());
  ids.insert(ids.end(), chunk.ids.begin(), chunk.ids.end());
  if (on_next) on_next();
  if (fails) co_return *fails;
  co_return base::Status();
}

Scene::Scene(std::string_view family, std::uint64_t seed)
    : world(seed),
      model(toy_model(family)),
      engine(world.runtime),
      store(world.runtime),
      planner(*model, store, kKey),
      runner(world.runtime, *model, engine, store, nullptr, kKey, told(in_use)) {
  add_session(kSession);
}

void Scene::add_session(std::string id) {
  std::optional<base::Status> made;
  run(keep(store.create_session(store::SessionSpec(std::move(id), 5)), made));
}

TurnRequest Scene::request(std::vector<message::Message> messages) {
  TurnRequest request;
  request.messages = std::move(messages);
  request.wants_tools = true;
  request.session_id = kSession;
  request.request_id = "req_1";
  request.completion_id = "chatcmpl-1";
  return request;
}

void Scene::run(Task<void> task) {
  require(world.run(std::move(task)), "the task never ended");
  world.executor.run_until_idle();
}

base::Result<trajectory::TurnPtr> Scene::turn(TurnRequest request) {
  auto result = turns(std::move(request));
  if (!result) return std::move(result).error();
  return result->front();
}

base::Result<Turns> Scene::turns(TurnRequest request) {
  std::optional<base::Result<Turns>> result;
  run(keep(runner.run(request, watcher, cancel), result));
  return *std::move(result);
}

base::Result<Plan> Scene::plan(TurnRequest request) {
  std::optional<base::Result<Plan>> result;
  run(keep(planner.plan(request), result));
  return *std::move(result);
}

trajectory::TurnPtr Scene::recorded(TurnRequest request, std::string_view said) {
  engine.scripts.push_front(FakeEngine::says(chat::testing::encoded(said)));
  auto result = turn(std::move(request));
  require(result.ok(), result ? "" : result.error().message);
  return *result;
}

TurnRequest Scene::continued(const trajectory::TurnPtr& turn, message::Message message) {
  auto messages = trajectory::messages_of(turn);
  messages.push_back(std::move(message));
  auto next = request(std::move(messages));
  next.tools = turn->root->tools;
  return next;
}

trajectory::TokenIds prompt_of(const Plan& plan) {
  trajectory::TokenIds ids;
  for (const auto& piece : plan.prompt) ids.insert(ids.end(), piece.begin(), piece.end());
  return ids;
}

}  // namespace verbatim::gateway::testing
