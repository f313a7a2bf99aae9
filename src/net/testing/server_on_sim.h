#pragma once

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "net/http_server.h"
#include "net/testing/raw_client.h"

namespace verbatim::net::testing {

// Runs `body` against a server on a simulated network, for several seeds of scheduling and
// fragmentation, then drains the server.
class ServerOnSim : public ::testing::Test {
 protected:
  using Body = std::function<base::Task<void>(base::sim::SimWorld&, HttpServer&, std::uint16_t)>;

  void run(HttpServer::Handler handler, Body body, ServerOptions options = {}) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      base::sim::SimWorld world(seed);
      world.network.options().fragment = seed % 3 == 0 ? 0 : 300;
      world.network.options().max_latency = std::chrono::milliseconds(seed % 2 == 0 ? 0 : 5);
      HttpServer server(world.runtime, handler, options);
      EXPECT_TRUE(world.run([](base::sim::SimWorld& w, HttpServer& s, Body& b) -> base::Task<void> {
        auto port = s.start("127.0.0.1", 0);
        co_await b(w, s, *port);
        co_await s.drain(w.runtime.clock().now() + std::chrono::seconds(60));
        EXPECT_EQ(s.connections(), 0U);
      }(world, server, body)));
      world.executor.run_until_idle();
    }
  }
};

// Requests as raw bytes.
std::string get(const std::string& path);
std::string post(const std::string& body, const std::string& fields = {});
std::size_t count_of(const std::string& text, const std::string& what);
// Answers "<method> <path> <body>".
base::Task<void> echo(const Request& request, Responder& responder, base::CancelSignal& cancel);

}  // namespace verbatim::net::testing
