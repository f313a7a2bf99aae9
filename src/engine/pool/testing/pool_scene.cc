#include "engine/pool/testing/pool_scene.h"

#include <utility>

#include "base/timer.h"
#include "engine/upstream.h"

namespace verbatim::engine::pool::testing {

using base::Task;

PoolScene::PoolScene(Path by, std::size_t replicas, std::uint64_t seed, Options options)
    : path(by), world(seed) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < replicas; ++i) {
    journals.push_back(std::make_shared<Journal>());
    auto engine = std::make_unique<ScriptedEngine>(world.runtime, url(i), journals.back());
    engine->by = path;
    engines.push_back(engine.get());
    members.push_back({url(i), std::move(engine)});
  }
  if (!options.tell) options.tell = [this](const std::string& line) { told.push_back(line); };
  pool = std::make_unique<Pool>(world.runtime, std::move(members), std::move(options));
}

bool PoolScene::run(const std::function<Task<void>()>& body) {
  return world.run(play(body, true));
}

bool PoolScene::run_unasked(const std::function<Task<void>()>& body) {
  return world.run(play(body, false));
}

Task<void> PoolScene::play(const std::function<Task<void>()>& body, bool asks) {
  if (asks) (void)co_await pool->probe(base::kNever);
  co_await body();
  co_await pool->stop();
}

TokenRequest PoolScene::request(std::string conversation) {
  static const TokenIds kPrompt = {1, 2, 3};
  TokenRequest request;
  request.request_id = "request " + std::to_string(++requests_);
  request.prompt = {kPrompt};
  request.max_new_tokens = 10;
  request.routing_key = std::move(conversation);
  return request;
}

Task<base::Result<std::unique_ptr<TokenStream>>> PoolScene::begin(TokenRequest request) {
  if (path == Path::kTokens) {
    auto by_ids = co_await pool->generate(std::move(request));
    co_return std::move(by_ids);
  }
  protocol::Conversation conversation;
  conversation.sampling = request.sampling;
  MessageRequest asked;
  asked.request_id = std::move(request.request_id);
  asked.conversation = &conversation;
  asked.routing_key = std::move(request.routing_key);
  asked.last_engine_url = std::move(request.last_engine_url);
  asked.deadline = request.deadline;
  asked.cancel = request.cancel;
  auto by_messages = co_await pool->complete(std::move(asked));
  co_return std::move(by_messages);
}

Task<Outcome> PoolScene::turn(TokenRequest request) {
  Outcome outcome;
  auto stream = co_await begin(std::move(request));
  if (!stream.ok()) {
    outcome.error = stream.error();
    co_return outcome;
  }
  for (;;) {
    auto chunk = co_await (*stream)->next();
    if (!chunk.ok()) {
      outcome.error = chunk.error();
      co_return outcome;
    }
    if (!*chunk) break;
  }
  outcome.served_by = (*stream)->end().engine_url;
  co_return outcome;
}

Task<void> PoolScene::wait(base::Duration time) {
  co_await base::sleep_for(world.executor, time);
}

base::Error answered(int status, std::string body, std::string retry_after) {
  net::Headers headers;
  if (!retry_after.empty()) headers.add("Retry-After", retry_after);
  return upstream_error(status, headers, std::move(body));
}

}  // namespace verbatim::engine::pool::testing
