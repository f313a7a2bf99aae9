#include <string>

#include <gtest/gtest.h>

#include "base/timer.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/testing/loopback.h"

namespace verbatim::net {
namespace {

using testing::Loopback;

base::Task<void> echo(const Request& request, Responder& responder, base::CancelSignal&) {
  auto status = co_await responder.send(200, "text/plain", request.body);
  EXPECT_TRUE(status.ok());
}

base::MonoTime soon(base::Runtime& runtime) {
  return runtime.clock().now() + std::chrono::seconds(10);
}

ClientRequest post(std::uint16_t port, std::string_view body) {
  ClientRequest request;
  request.endpoint = {"127.0.0.1", port, false};
  request.method = "POST";
  request.target = "/echo";
  request.body = {body};
  return request;
}

TEST(AsioLoopback, a_request_is_answered_and_its_connection_kept) {
  Loopback on;
  on.run([](base::Runtime& runtime) -> base::Task<void> {
    HttpServer server(runtime, echo);
    HttpClient client(runtime);
    auto port = server.start("127.0.0.1", 0);
    for (int i = 0; i < 3; ++i) {
      const auto request = post(*port, "hello");
      auto response = co_await client.request(request, soon(runtime));
      EXPECT_TRUE(response.ok());
      if (!response.ok()) continue;
      EXPECT_EQ(response->status(), 200);
      EXPECT_EQ(response->headers().count("date"), 1U);
      EXPECT_EQ(response->headers().find("server"), "verbatim");
      auto body = co_await response->read_all(1000);
      EXPECT_TRUE(body.ok());
      EXPECT_EQ(*body, "hello");
      EXPECT_EQ(server.connections(), 1U);
    }
    EXPECT_EQ(client.idle_connections(), 1U);
    co_await client.stop();
    co_await server.drain(soon(runtime));
    EXPECT_EQ(server.connections(), 0U);
  }(on.runtime));
}

TEST(AsioLoopback, megabytes_pass_both_ways) {
  Loopback on;
  const std::string big(5'000'000, 'x');
  on.run([](base::Runtime& runtime, const std::string& bytes) -> base::Task<void> {
    HttpServer server(runtime, echo);
    HttpClient client(runtime);
    auto port = server.start("127.0.0.1", 0);
    {
      const auto request = post(*port, bytes);
      auto response = co_await client.request(request, soon(runtime));
      EXPECT_TRUE(response.ok());
      auto body = co_await response->read_all(10'000'000);
      EXPECT_TRUE(body.ok());
      EXPECT_EQ(*body, bytes);
    }
    co_await client.stop();
    co_await server.stop();
  }(on.runtime, big));
}

TEST(AsioLoopback, a_port_nobody_listens_on_is_unavailable) {
  Loopback on;
  on.run([](base::Runtime& runtime) -> base::Task<void> {
    HttpClient client(runtime);
    std::uint16_t port = 0;
    {
      auto listener = runtime.network.listen("127.0.0.1", 0, base::Network::PortUse::kExclusive);
      port = (*listener)->port();
    }
    const auto request = post(port, "hello");
    auto response = co_await client.request(request, soon(runtime));
    EXPECT_FALSE(response.ok());
    EXPECT_EQ(response.error().kind, base::ErrorKind::kUnavailable);
    EXPECT_EQ(response.error().code, "connect_failed");
    co_await client.stop();
  }(on.runtime));
}

TEST(AsioLoopback, a_closing_client_fires_the_cancel_signal) {
  Loopback on;
  std::string reason;
  on.run([](base::Runtime& runtime, std::string& why) -> base::Task<void> {
    HttpServer server(
        runtime,
        [&](const Request&, Responder& responder, base::CancelSignal& cancel) -> base::Task<void> {
          auto begun = responder.begin_stream(200, "text/event-stream");
          EXPECT_TRUE(begun.ok());
          while (!cancel.fired()) {
            auto status = co_await responder.write("data: x\n\n");
            if (!status.ok()) break;
            co_await base::sleep_for(runtime.executor, std::chrono::milliseconds(1));
          }
          why = cancel.fired() ? cancel.reason() : "write failed";
        });
    HttpClient client(runtime);
    auto port = server.start("127.0.0.1", 0);
    {
      const auto request = post(*port, "hello");
      auto response = co_await client.request(request, soon(runtime));
      EXPECT_TRUE(response.ok());
      auto piece = co_await response->read();
      EXPECT_TRUE(piece.ok());
    }
    co_await client.stop();
    co_await server.drain(soon(runtime));
  }(on.runtime, reason));
  EXPECT_EQ(reason, "client disconnected");
}

TEST(AsioLoopback, jobs_from_other_threads_run_on_the_loop) {
  Loopback on;
  int value = 0;
  on.run([](base::Runtime& runtime, int& into) -> base::Task<void> {
    into = co_await base::run_on(runtime.worker, runtime.executor, [] { return 7; });
  }(on.runtime, value));
  EXPECT_EQ(value, 7);
}

}  // namespace
}  // namespace verbatim::net
