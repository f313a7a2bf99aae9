// Requests whose bodies stop in the middle: they hold up nobody and leave nothing.
#include <gtest/gtest.h>

#include "api/testing/gateway_on_sim.h"
#include "base/timer.h"
#include "net/testing/raw_client.h"

namespace verbatim::api {
namespace {

using base::Task;
using net::testing::RawClient;
using testing::ask;
using testing::GatewayOnSim;
using testing::HttpCaller;
using testing::message;

std::string half_of(const std::string& path, const std::string& body) {
  return "POST " + path +
         " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body.substr(0, body.size() / 2);
}

enum class Then { kSilent, kClosed, kShutDown };

TEST(StuckBodies, hold_up_no_turn_and_no_deletion_of_their_session) {
  for (const char* mode : {"tree", "linear", "strict"}) {
    for (const auto then : {Then::kSilent, Then::kClosed, Then::kShutDown}) {
      GatewayOnSim gateway;
      gateway.run([&](HttpCaller& c) -> Task<void> {
        const auto made = co_await c.post("/sessions", std::string(R"({"mode":")") + mode + "\"}");
        const std::string path = "/sessions/" + made.text("session_id");
        const std::string chat = path + "/v1/chat/completions";
        const auto question = ask(message("user", "q"));
        RawClient stuck(gateway.world.runtime);
        const bool connected = co_await stuck.connect(gateway.port);
        EXPECT_TRUE(connected);
        const auto half = half_of(chat, question);
        (void)co_await stuck.send(half);
        co_await base::sleep_for(gateway.world.executor, std::chrono::seconds(1));
        const auto answer = co_await c.post(chat, question);
        EXPECT_EQ(answer.status, 200) << mode << answer.body;
        if (then == Then::kShutDown) stuck.shutdown_write();
        if (then == Then::kSilent) {
          const auto late = co_await stuck.read_to_end();
          EXPECT_TRUE(late.starts_with("HTTP/1.1 408 ")) << late;
        }
        const auto session = path.substr(path.rfind('/') + 1);
        const auto turns = (co_await gateway.store.turns(session)).value();
        EXPECT_EQ(turns.size(), 1U) << "half a request is none";
        const auto deleted = co_await c.call("DELETE", path);
        EXPECT_EQ(deleted.status, 204);
        co_await stuck.close();
        co_await base::sleep_for(gateway.world.executor, std::chrono::seconds(1));
        EXPECT_EQ(gateway.instance->connections(), 1U) << "that of the caller";
        EXPECT_EQ(gateway.engine->stats().requests, 1U);
      });
    }
  }
}

TEST(StuckBodies, a_thousand_at_once_leave_the_gateway_answering) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto half = half_of("/v1/chat/completions", ask(message("user", "q")));
    std::vector<std::unique_ptr<RawClient>> all;
    for (int i = 0; i < 1000; ++i) {
      all.push_back(std::make_unique<RawClient>(gateway.world.runtime));
      (void)co_await all.back()->connect(gateway.port);
      (void)co_await all.back()->send(half);
    }
    const auto answer = co_await c.post("/v1/chat/completions", ask(message("user", "q")));
    EXPECT_EQ(answer.status, 200) << answer.body;
    co_await base::sleep_for(gateway.world.executor, std::chrono::seconds(60));
    EXPECT_LE(gateway.instance->connections(), 1U) << "each was told 408, and closed";
    for (auto& each : all) co_await each->close();
  });
}

}  // namespace
}  // namespace verbatim::api
