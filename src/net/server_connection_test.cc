#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/pause.h"
#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "net/http_server.h"
#include "net/testing/raw_client.h"
#include "net/testing/server_on_sim.h"

namespace verbatim::net {
namespace {

using base::sim::SimWorld;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::echo;
using testing::get;
using testing::post;
using testing::RawClient;

using ServerConnectionOnSim = testing::ServerOnSim;

TEST_F(ServerConnectionOnSim, slow_clients_are_timed_out) {
  run(echo, [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
    auto elapsed = [&w, since = w.executor.clock().now()]() mutable {
      const auto passed = w.executor.clock().now() - since;
      since = w.executor.clock().now();
      return passed;
    };
    {
      RawClient idle(w.runtime);
      co_await idle.connect(port);
      const std::string nothing = co_await idle.read_to_end();
      EXPECT_EQ(nothing, "");
      EXPECT_TRUE(idle.ended());
      EXPECT_GE(elapsed(), seconds(75));
      co_await idle.close();
    }
    {
      RawClient slow_head(w.runtime);
      co_await slow_head.connect(port);
      elapsed();
      // A byte now and then does not help.
      const std::string bytes = get("/").substr(0, 10);
      std::string answer;
      for (const char c : bytes) {
        co_await slow_head.send({&c, 1});
        co_await base::sleep_for(w.executor, seconds(4));
      }
      answer = co_await slow_head.read_to_end();
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 408 ")) << answer;
      EXPECT_LT(elapsed(), seconds(45));
      co_await slow_head.close();
    }
    {
      RawClient slow_body(w.runtime);
      co_await slow_body.connect(port);
      elapsed();
      co_await slow_body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
      for (int i = 0; i < 5; ++i) {
        // Progress counts: 5 × 20 s is more than the time-out of one step.
        co_await base::sleep_for(w.executor, seconds(20));
        co_await slow_body.send("x");
      }
      const std::string answer = co_await slow_body.read_to_end();
      EXPECT_TRUE(answer.starts_with("HTTP/1.1 408 ")) << answer;
      EXPECT_GE(elapsed(), seconds(129));
      co_await slow_body.close();
    }
  });
}

TEST_F(ServerConnectionOnSim, a_client_that_does_not_read_is_dropped) {
  std::vector<std::string> seen;
  run(
      [&seen](const Request&, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        auto begun = responder.begin_stream(200, "text/event-stream");
        EXPECT_TRUE(begun.ok());
        const std::string piece(100'000, 'x');
        for (;;) {
          auto status = co_await responder.write(piece);
          if (status.ok()) continue;
          seen.push_back(status.error().message);
          EXPECT_EQ(status.error().kind, base::ErrorKind::kCancelled);
          co_return;
        }
      },
      [&seen](SimWorld& w, HttpServer& server, std::uint16_t port) -> base::Task<void> {
        seen.clear();
        RawClient client(w.runtime);
        co_await client.connect(port);
        co_await client.send(get("/"));
        co_await base::sleep_for(w.executor, seconds(60));
        EXPECT_EQ(seen, (std::vector<std::string>{"the client reads too slowly"}));
        EXPECT_EQ(server.connections(), 0U);
        co_await client.close();
      });
}

// A handler that waits until it is cancelled, and says when and why.
struct Waiting {
  SimWorld* world = nullptr;
  std::vector<std::string> reasons;
  base::MonoTime at;
  bool answer = false;

  HttpServer::Handler handler() {
    return [this](const Request&, Responder& responder,
                  base::CancelSignal& cancel) -> base::Task<void> {
      while (!cancel.fired()) co_await base::sleep_for(world->executor, milliseconds(1));
      reasons.emplace_back(cancel.reason());
      at = world->executor.clock().now();
      if (!answer) {
        responder.fail();
        co_return;
      }
      auto status = co_await responder.send(200, "text/plain", "late");
      EXPECT_TRUE(status.ok());
    };
  }
};

TEST_F(ServerConnectionOnSim, a_lost_client_cancels_its_handler_at_once) {
  Waiting waiting;
  run(waiting.handler(), [&](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
    waiting.world = &w;
    waiting.reasons.clear();
    RawClient client(w.runtime);
    co_await client.connect(port);
    // The pipelined rest does not hide the end behind it.
    co_await client.send(get("/") + get("/next") + std::string(1000, '\r'));
    co_await base::sleep_for(w.executor, seconds(5));
    EXPECT_TRUE(waiting.reasons.empty());
    const base::MonoTime before = w.executor.clock().now();
    co_await client.close();
    co_await base::sleep_for(w.executor, seconds(5));
    EXPECT_EQ(waiting.reasons, (std::vector<std::string>{"client disconnected"}));
    EXPECT_LE(waiting.at - before, milliseconds(20));
  });
}

TEST_F(ServerConnectionOnSim, a_client_that_only_stops_sending_can_still_be_answered) {
  Waiting waiting;
  waiting.answer = true;
  run(waiting.handler(), [&](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
    waiting.world = &w;
    waiting.reasons.clear();
    RawClient client(w.runtime);
    co_await client.connect(port);
    co_await client.send(get("/"));
    client.shutdown_write();
    const std::string answer = co_await client.read_to_end();
    EXPECT_TRUE(answer.ends_with("late")) << answer;
    EXPECT_EQ(waiting.reasons.size(), 1U);
    co_await client.close();
  });
}

TEST_F(ServerConnectionOnSim, draining_lets_running_handlers_finish_and_refuses_new_requests) {
  base::Executor* executor = nullptr;
  run(
      [&](const Request&, Responder& responder, base::CancelSignal& cancel) -> base::Task<void> {
        auto begun = responder.begin_stream(200, "text/plain");
        EXPECT_TRUE(begun.ok());
        auto first = co_await responder.write("begun");
        EXPECT_TRUE(first.ok());
        co_await base::sleep_for(*executor, seconds(10));
        EXPECT_FALSE(cancel.fired());
        auto end = co_await responder.end("finished");
        EXPECT_TRUE(end.ok());
      },
      [&](SimWorld& w, HttpServer& server, std::uint16_t port) -> base::Task<void> {
        executor = &w.executor;
        RawClient idle(w.runtime);
        RawClient busy(w.runtime);
        co_await idle.connect(port);
        co_await busy.connect(port);
        co_await busy.send(get("/"));
        const std::string begun = co_await busy.read_until("begun");
        EXPECT_TRUE(begun.ends_with("begun"));
        co_await base::sleep_for(w.executor, milliseconds(100));
        bool drained = false;
        base::spawn([](SimWorld& world, HttpServer& s, bool& flag) -> base::Task<void> {
          co_await s.drain(world.executor.clock().now() + seconds(30));
          flag = true;
        }(w, server, drained));
        const std::string nothing = co_await idle.read_to_end();
        EXPECT_EQ(nothing, "");
        EXPECT_TRUE(idle.ended());
        RawClient late(w.runtime);
        const bool connected = co_await late.connect(port);
        EXPECT_FALSE(connected);
        co_await busy.send(get("/again"));
        const std::string rest = co_await busy.read_to_end();
        EXPECT_NE(rest.find("finished"), std::string::npos);
        EXPECT_NE(rest.find("HTTP/1.1 503 "), std::string::npos) << rest;
        EXPECT_NE(rest.find("shutting_down"), std::string::npos);
        EXPECT_NE(rest.find("Connection: close"), std::string::npos);
        co_await base::sleep_for(w.executor, seconds(5));
        EXPECT_TRUE(drained);
        co_await idle.close();
        co_await busy.close();
      });
}

TEST_F(ServerConnectionOnSim, at_the_drain_deadline_handlers_are_cancelled) {
  Waiting waiting;
  run(waiting.handler(),
      [&](SimWorld& w, HttpServer& server, std::uint16_t port) -> base::Task<void> {
        waiting.world = &w;
        waiting.reasons.clear();
        RawClient client(w.runtime);
        co_await client.connect(port);
        co_await client.send(get("/"));
        co_await base::sleep_for(w.executor, seconds(1));
        co_await server.drain(w.executor.clock().now() + seconds(3));
        EXPECT_EQ(waiting.reasons, (std::vector<std::string>{"shutting down"}));
        co_await client.close();
      });
}

// Answers what it is cancelled with, a little later.
base::Task<void> last_words(base::Executor& executor, Responder& responder,
                            base::CancelSignal& cancel, base::Duration after) {
  auto begun = responder.begin_stream(200, "text/plain");
  EXPECT_TRUE(begun.ok());
  (void)co_await responder.write("begun ");
  base::Pause pause(executor, std::nullopt, cancel);
  (void)co_await pause;
  co_await base::sleep_for(executor, after);
  const std::string reason = cancel.reason();
  (void)co_await responder.end(reason);
}

TEST_F(ServerConnectionOnSim, what_runs_at_the_drain_deadline_may_say_so_and_no_longer) {
  for (const bool hurried : {false, true}) {
    for (const bool in_time : {false, true}) {
      base::Executor* executor = nullptr;
      const auto after = in_time ? milliseconds(500) : milliseconds(5000);
      run([&](const Request&, Responder& responder, base::CancelSignal& cancel)
              -> base::Task<void> { return last_words(*executor, responder, cancel, after); },
          [&](SimWorld& w, HttpServer& server, std::uint16_t port) -> base::Task<void> {
            executor = &w.executor;
            RawClient client(w.runtime);
            co_await client.connect(port);
            co_await client.send(get("/"));
            (void)co_await client.read_until("begun ");
            const auto from = w.executor.clock().now();
            const auto deadline = from + (hurried ? std::chrono::hours(1) : seconds(3));
            base::spawn(server.drain(deadline));
            co_await base::sleep_for(w.executor, seconds(1));
            if (hurried) server.hurry();
            const std::string rest = co_await client.read_to_end();
            EXPECT_EQ(rest.find("shutting down") != std::string::npos, in_time) << rest;
            EXPECT_LE(w.executor.clock().now() - from, hurried ? seconds(4) : seconds(6));
            co_await client.close();
            co_await base::sleep_for(w.executor, seconds(10));
          });
    }
  }
}

TEST_F(ServerConnectionOnSim, one_connection_too_many_is_answered_503) {
  ServerOptions options;
  options.max_connections = 2;
  run(
      echo,
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        RawClient a(w.runtime);
        RawClient b(w.runtime);
        RawClient c(w.runtime);
        co_await a.connect(port);
        co_await b.connect(port);
        co_await base::sleep_for(w.executor, milliseconds(50));
        co_await c.connect(port);
        co_await c.send(get("/c"));
        const std::string refused = co_await c.read_to_end();
        EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
        EXPECT_NE(refused.find("too_many_connections"), std::string::npos);
        co_await a.send(get("/a"));
        const std::string served = co_await a.read_answer();
        EXPECT_TRUE(served.ends_with("GET /a ")) << served;
        co_await a.close();
        co_await base::sleep_for(w.executor, milliseconds(50));
        RawClient d(w.runtime);
        co_await d.connect(port);
        co_await d.send(get("/d"));
        const std::string again = co_await d.read_answer();
        EXPECT_TRUE(again.ends_with("GET /d ")) << again;
        co_await b.close();
        co_await c.close();
        co_await d.close();
      },
      options);
}

TEST_F(ServerConnectionOnSim, faults_of_the_network_leave_no_connection_behind) {
  std::uint64_t cuts = 0;
  std::uint64_t stalls = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    SimWorld world(seed);
    world.network.options().fragment = 200;
    world.network.options().cut = 300;
    world.network.options().stall = 200;
    world.network.options().fault_window = 2000;
    world.network.options().max_latency = milliseconds(10);
    HttpServer server(world.runtime,
                      [&](const Request& request, Responder& responder,
                          base::CancelSignal& cancel) -> base::Task<void> {
                        auto begun = responder.begin_stream(200, "text/plain");
                        if (!begun.ok()) co_return;
                        for (int i = 0; i < 10 && !cancel.fired(); ++i) {
                          auto status = co_await responder.write(request.body);
                          if (!status.ok()) co_return;
                          co_await base::sleep_for(world.executor, milliseconds(3));
                        }
                        auto end = co_await responder.end();
                        (void)end;
                      });
    EXPECT_TRUE(world.run([](SimWorld& w, HttpServer& s) -> base::Task<void> {
      auto port = s.start("127.0.0.1", 0);
      for (int i = 0; i < 5; ++i) {
        RawClient client(w.runtime);
        co_await client.connect(*port);
        const bool sent = co_await client.send(post(std::string(100, 'b')) +
                                               post(std::string(50, 'c'), "Connection: close\r\n"));
        if (sent) {
          const std::string answer = co_await client.read_to_end();
          EXPECT_LT(answer.size(), 5000U);
        }
        co_await client.close();
      }
      co_await s.drain(w.executor.clock().now() + seconds(200));
    }(world, server)));
    world.executor.run_until_idle();
    cuts += world.network.faults().cut_by_end + world.network.faults().cut_by_reset;
    stalls += world.network.faults().stalled;
  }
  EXPECT_GT(cuts, 100U);
  EXPECT_GT(stalls, 50U);
}

}  // namespace
}  // namespace verbatim::net
