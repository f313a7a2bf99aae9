// What an engine by messages posts, where kinds differ.
#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "engine/kinds.h"
#include "engine/testing/proofs.h"
#include "net/http_server.h"

namespace verbatim::engine::messages {
namespace {

using base::Task;
using engine::testing::Driven;

// Refuses whatever is posted, and keeps it.
struct Server {
  explicit Server(base::sim::SimWorld& world)
      : http(world.runtime, [this](const net::Request& request, net::Responder& answer,
                                   base::CancelSignal&) { return handle(request, answer); }) {}

  Task<void> handle(const net::Request& request, net::Responder& answer) {
    body = request.body;
    (void)co_await answer.send(400, "application/json", "{}");
  }

  std::string body;
  net::HttpServer http;
};

protocol::Conversation with_a_tool() {
  protocol::Conversation asked;
  asked.model = "m";
  asked.messages = {{.role = message::Role::kUser, .text = "hello"}};
  asked.tools.emplace_back();
  asked.tools[0].raw = R"({"type":"function","function":{"name":"f","parameters":{}}})";
  asked.parameters = {{"priority", "5"}};
  asked.sampling.priority = 5;
  return asked;
}

Task<void> post(base::sim::SimWorld& world, const Driven& way, Server& server) {
  Choice choice;
  choice.kind = way.kind->name;
  choice.mode = way.mode->name;
  choice.url.endpoint = {"engine", *server.http.start("engine", 0), false};
  auto engine = std::move(make_engine(world.runtime, choice).value());
  const auto asked = with_a_tool();
  MessageRequest request;
  request.request_id = "r1";
  request.conversation = &asked;
  const auto answer = co_await engine->complete(std::move(request));
  EXPECT_FALSE(answer.ok());
  co_await engine->stop();
  co_await server.http.stop();
}

std::string body_for(const Driven& way) {
  base::sim::SimWorld world{3};
  Server server(world);
  EXPECT_TRUE(world.run(post(world, way, server)));
  return server.body;
}

bool holds(const std::string& body, std::string_view text) {
  return body.find(text) != std::string::npos;
}

// What vLLM and Dynamo are told of a function, the model reads: its prompt would not be that of the
// same conversation over chat.
TEST(MessageBody, only_unknown_servers_are_told_that_a_function_is_not_strict) {
  for (const auto& way : engine::testing::all_driven(Path::kMessages)) {
    SCOPED_TRACE(way.name());
    const std::string body = body_for(way);
    ASSERT_TRUE(holds(body, R"("name":"f")")) << body;
    const bool told = way.kind->name == "openai" && way.mode->wire == protocol::Wire::kResponses;
    EXPECT_EQ(holds(body, "strict"), told) << body;
  }
}

TEST(MessageBody, a_higher_priority_is_sooner_whatever_the_servers_sense) {
  for (const auto& way : engine::testing::all_driven(Path::kMessages)) {
    SCOPED_TRACE(way.name());
    const std::string body = body_for(way);
    EXPECT_TRUE(holds(body, way.kind->low_is_soon ? R"("priority":-5,)" : R"("priority":5,)"))
        << body;
  }
}

}  // namespace
}  // namespace verbatim::engine::messages
