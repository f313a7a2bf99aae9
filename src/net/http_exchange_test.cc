#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "net/http_client.h"
#include "net/http_server.h"

namespace verbatim::net {
namespace {

using base::sim::SimWorld;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The server refuses by the Content-Length, long before the client has sent everything.
TEST(HttpClientAndServer, an_early_refusal_is_read_though_the_body_was_not_taken) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    SimWorld world(seed);
    world.network.options().max_latency = milliseconds(seed % 2 == 0 ? 0 : 10);
    ServerOptions options;
    options.limits.body_bytes = 1000;
    HttpServer server(
        world.runtime,
        [](const Request&, Responder&, base::CancelSignal&) -> base::Task<void> { co_return; },
        options);
    HttpClient client(world.runtime);
    EXPECT_TRUE(world.run([](SimWorld& w, HttpServer& s, HttpClient& c) -> base::Task<void> {
      auto port = s.start("127.0.0.1", 0);
      {
        const std::string body(500'000, 'x');
        ClientRequest request;
        request.endpoint = {"engine", *port, false};
        request.method = "POST";
        request.body = {body};
        auto response = co_await c.request(request, w.executor.clock().now() + seconds(60));
        EXPECT_TRUE(response.ok());
        if (response.ok()) {
          EXPECT_EQ(response->status(), 413);
        }
      }
      co_await c.stop();
      co_await s.drain(w.executor.clock().now() + seconds(100));
    }(world, server, client)));
  }
}

std::uint64_t trace_of_exchanges(std::uint64_t seed) {
  SimWorld world(seed);
  world.network.options().fragment = 300;
  world.network.options().cut = 100;
  world.network.options().max_latency = milliseconds(10);
  HttpServer server(
      world.runtime,
      [](const Request& request, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        auto status = co_await responder.send(200, "text/plain", request.body);
        (void)status;
      });
  HttpClient client(world.runtime);
  EXPECT_TRUE(world.run([](SimWorld& w, HttpServer& s, HttpClient& c) -> base::Task<void> {
    auto port = s.start("127.0.0.1", 0);
    for (int i = 0; i < 10; ++i) {
      const std::string body = base::new_hex_id(w.random);
      ClientRequest request;
      request.endpoint = {"engine", *port, false};
      request.method = "POST";
      request.body = {body};
      auto response = co_await c.request(request, w.executor.clock().now() + seconds(10));
      if (!response.ok()) continue;
      auto answer = co_await response->read_all(10'000, w.executor.clock().now() + seconds(10));
      (void)answer;
    }
    co_await c.stop();
    co_await s.drain(w.executor.clock().now() + seconds(100));
  }(world, server, client)));
  return world.executor.trace();
}

TEST(HttpClientAndServer, one_seed_gives_one_run) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(trace_of_exchanges(seed), trace_of_exchanges(seed));
  EXPECT_NE(trace_of_exchanges(1), trace_of_exchanges(2));
}

// Client against server, over a network that cuts and stalls: every request ends, with the right
// bytes or an error.
TEST(HttpClientAndServer, every_exchange_ends_in_the_right_bytes_or_an_error) {
  std::uint64_t good = 0;
  std::uint64_t bad = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    SimWorld world(seed);
    world.network.options().fragment = 200;
    world.network.options().cut = 100;
    world.network.options().stall = 50;
    world.network.options().refuse = 20;
    world.network.options().blackhole = 20;
    world.network.options().max_latency = milliseconds(10);
    HttpServer server(
        world.runtime,
        [&](const Request& request, Responder& responder, base::CancelSignal&) -> base::Task<void> {
          auto begun = responder.begin_stream(200, "text/plain");
          if (!begun.ok()) co_return;
          for (std::size_t at = 0; at < request.body.size(); at += 100) {
            auto status = co_await responder.write(std::string_view(request.body).substr(at, 100));
            if (!status.ok()) co_return;
            co_await base::sleep_for(world.executor, milliseconds(2));
          }
          auto end = co_await responder.end();
          (void)end;
        });
    HttpClient client(world.runtime);
    EXPECT_TRUE(world.run([](SimWorld& w, HttpServer& s, HttpClient& c, std::uint64_t& ok,
                             std::uint64_t& failed) -> base::Task<void> {
      auto port = s.start("127.0.0.1", 0);
      for (int i = 0; i < 20; ++i) {
        const std::string body(300 + w.random.below(500), static_cast<char>('a' + i));
        ClientRequest request;
        request.endpoint = {"engine", *port, false};
        request.method = "POST";
        request.body = {body};
        auto response = co_await c.request(request, w.executor.clock().now() + seconds(10));
        if (!response.ok()) {
          ++failed;
          continue;
        }
        auto answer = co_await response->read_all(10'000, w.executor.clock().now() + seconds(10));
        if (answer.ok()) {
          EXPECT_EQ(*answer, body);
        }
        ++(answer.ok() ? ok : failed);
      }
      co_await c.stop();
      co_await s.drain(w.executor.clock().now() + seconds(100));
    }(world, server, client, good, bad)));
    world.executor.run_until_idle();
  }
  EXPECT_GT(good, 3000U);
  EXPECT_GT(bad, 50U);
}

}  // namespace
}  // namespace verbatim::net
