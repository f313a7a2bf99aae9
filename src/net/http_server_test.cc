#include "net/http_server.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "net/testing/raw_client.h"

namespace verbatim::net {
namespace {

using base::sim::SimWorld;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::RawClient;

base::Task<void> echo(const Request& request, Responder& responder, base::CancelSignal&) {
  const std::string answer =
      std::string(request.method) + " " + std::string(request.path) + " " + request.body;
  auto status = co_await responder.send(200, "text/plain", answer);
  EXPECT_TRUE(status.ok());
}

// Runs `body` against a server on a simulated network, for several seeds of scheduling and
// fragmentation, then drains the server.
class HttpServerOnSim : public ::testing::Test {
 protected:
  using Body = std::function<base::Task<void>(SimWorld&, HttpServer&, std::uint16_t)>;

  void run(HttpServer::Handler handler, Body body, ServerOptions options = {}) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      SimWorld world(seed);
      world.network.options().fragment = seed % 3 == 0 ? 0 : 300;
      world.network.options().max_latency = milliseconds(seed % 2 == 0 ? 0 : 5);
      HttpServer server(world.runtime, handler, options);
      EXPECT_TRUE(world.run([](SimWorld& w, HttpServer& s, Body& b) -> base::Task<void> {
        auto port = s.start("127.0.0.1", 0);
        co_await b(w, s, *port);
        co_await s.drain(w.runtime.clock().now() + seconds(60));
        EXPECT_EQ(s.connections(), 0U);
      }(world, server, body)));
      world.executor.run_until_idle();
    }
  }
};

std::string get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n";
}

std::string post(const std::string& body, const std::string& fields = {}) {
  return "POST /p HTTP/1.1\r\nHost: a\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST_F(HttpServerOnSim, an_answer_has_exact_bytes) {
  run(echo, [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
    RawClient client(w.runtime);
    co_await client.connect(port);
    co_await client.send(post("hi"));
    const std::string answer = co_await client.read_answer();
    EXPECT_EQ(answer,
              "HTTP/1.1 200 OK\r\nServer: verbatim\r\nDate: Thu, 01 Jan 2026 00:00:00 "
              "GMT\r\nContent-Type: text/plain\r\n"
              "Content-Length: 10\r\n\r\nPOST /p hi");
    co_await client.close();
  });
}

TEST_F(HttpServerOnSim, a_connection_is_kept_for_further_requests) {
  run(echo, [](SimWorld& w, HttpServer& server, std::uint16_t port) -> base::Task<void> {
    RawClient client(w.runtime);
    co_await client.connect(port);
    for (int i = 0; i < 5; ++i) {
      co_await client.send(get("/" + std::to_string(i)));
      const std::string answer = co_await client.read_answer();
      EXPECT_TRUE(answer.ends_with("GET /" + std::to_string(i) + " ")) << answer;
    }
    EXPECT_EQ(server.connections(), 1U);
    co_await client.close();
  });
}

TEST_F(HttpServerOnSim, pipelined_requests_are_answered_in_order) {
  run(
      [](const Request& request, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        const std::string path(request.path);
        auto status = co_await responder.send(200, "text/plain", path);
        EXPECT_TRUE(status.ok());
      },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        RawClient client(w.runtime);
        co_await client.connect(port);
        std::string all;
        for (int i = 0; i < 30; ++i) all += get("/" + std::to_string(100 + i));
        co_await client.send(all);
        for (int i = 0; i < 30; ++i) {
          const std::string answer = co_await client.read_answer();
          EXPECT_TRUE(answer.ends_with("/" + std::to_string(100 + i))) << answer;
        }
        co_await client.close();
      });
}

TEST_F(HttpServerOnSim, a_flood_of_pipelined_requests_is_read_as_far_as_the_read_ahead_goes) {
  ServerOptions options;
  options.read_ahead = 8192;
  run(
      [](const Request&, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        auto status = co_await responder.send(200, "text/plain", "x");
        (void)status;
      },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        w.network.options().buffer = 4096;
        RawClient client(w.runtime);
        co_await client.connect(port);
        bool sent = false;
        base::spawn([](RawClient& c, bool& flag) -> base::Task<void> {
          std::string all;
          for (int i = 0; i < 2000; ++i) all += get("/some/longer/path");
          flag = co_await c.send(all);
        }(client, sent));
        for (int i = 0; i < 2000; ++i) {
          const std::string answer = co_await client.read_answer();
          EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK")) << i;
        }
        EXPECT_TRUE(sent);
        co_await client.close();
      },
      options);
}

TEST_F(HttpServerOnSim, http10_closes_unless_asked_to_keep) {
  run(echo, [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
    RawClient client(w.runtime);
    co_await client.connect(port);
    co_await client.send("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const std::string kept = co_await client.read_answer();
    EXPECT_NE(kept.find("Connection: keep-alive\r\n"), std::string::npos);
    co_await client.send("GET /b HTTP/1.0\r\n\r\n");
    const std::string last = co_await client.read_to_end();
    EXPECT_NE(last.find("Connection: close\r\n"), std::string::npos);
    EXPECT_TRUE(last.ends_with("GET /b "));
    EXPECT_TRUE(client.ended());
    co_await client.close();
  });
}

TEST_F(HttpServerOnSim, head_and_204_have_no_body_on_the_wire) {
  run(
      [](const Request& request, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        const int code = request.path == "/none" ? 204 : 200;
        auto status = co_await responder.send(code, "text/plain", "body");
        EXPECT_TRUE(status.ok());
      },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        RawClient client(w.runtime);
        co_await client.connect(port);
        co_await client.send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n" + get("/none") + get("/b"));
        const std::string head = co_await client.read_until("\r\n\r\n");
        EXPECT_NE(head.find("Content-Length: 4\r\n"), std::string::npos);
        const std::string none = co_await client.read_until("\r\n\r\n");
        EXPECT_TRUE(none.starts_with("HTTP/1.1 204 No Content\r\n")) << none;
        EXPECT_EQ(none.find("Content-Length"), std::string::npos);
        const std::string last = co_await client.read_answer();
        EXPECT_TRUE(last.ends_with("body"));
        co_await client.close();
      });
}

TEST_F(HttpServerOnSim, a_stream_is_one_chunk_per_piece) {
  run(
      [](const Request& request, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        EXPECT_EQ(request.body, "in pieces");
        auto begun = responder.begin_stream(200, "text/event-stream");
        EXPECT_TRUE(begun.ok());
        auto first = co_await responder.write("data: 1\n\n");
        EXPECT_TRUE(first.ok());
        auto nothing = co_await responder.write("");
        EXPECT_TRUE(nothing.ok());
        const std::string_view two[] = {"data: ", "2\n\n"};
        auto second = co_await responder.write(two);
        EXPECT_TRUE(second.ok());
        auto end = co_await responder.end("data: [DONE]\n\n");
        EXPECT_TRUE(end.ok());
      },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        RawClient client(w.runtime);
        co_await client.connect(port);
        co_await client.send(
            "POST /s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nin "
            "\r\n6\r\npieces\r\n0\r\n\r\n");
        const std::string answer = co_await client.read_until("0\r\n\r\n");
        EXPECT_TRUE(
            answer.ends_with("Transfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n9\r\ndata: "
                             "2\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"))
            << answer;
        EXPECT_EQ(count_of(answer, "Content-Length"), 0U);
        co_await client.close();
      });
}

TEST_F(HttpServerOnSim, a_stream_that_fails_has_no_last_chunk) {
  run(
      [](const Request& request, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        auto begun = responder.begin_stream(200, "text/event-stream");
        EXPECT_TRUE(begun.ok());
        auto first = co_await responder.write("data: 1\n\n");
        EXPECT_TRUE(first.ok());
        if (request.path == "/forgotten") co_return;
        responder.fail();
        auto later = co_await responder.write("x");
        EXPECT_FALSE(later.ok());
      },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        for (const std::string path : {"/fail", "/forgotten"}) {
          RawClient client(w.runtime);
          co_await client.connect(port);
          co_await client.send(get(path));
          const std::string answer = co_await client.read_to_end();
          EXPECT_NE(answer.find("data: 1"), std::string::npos);
          EXPECT_EQ(answer.find("0\r\n\r\n"), std::string::npos);
          co_await client.close();
        }
      });
}

TEST_F(HttpServerOnSim, headers_of_a_handler_are_sent_once_and_can_not_break_the_framing) {
  run(
      [](const Request&, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        Headers headers;
        headers.add("Content-Type", "text/plain").add("X-One", "1").add("X-One", "2");
        headers.add("content-length", "999")
            .add("Transfer-Encoding", "chunked")
            .add("SERVER", "other")
            .add("date", "never");
        headers.add("X-Evil", "a\r\nX-Injected: b").add("bad name", "x");
        auto status = co_await responder.send(429, headers, "{}");
        EXPECT_TRUE(status.ok());
      },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        RawClient client(w.runtime);
        co_await client.connect(port);
        co_await client.send(get("/"));
        const std::string answer = co_await client.read_answer();
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 429 Too Many Requests\r\n"));
        EXPECT_TRUE(answer.ends_with(
            "Content-Type: text/plain\r\nX-One: 1\r\nX-One: 2\r\nContent-Length: 2\r\n\r\n{}"))
            << answer;
        EXPECT_EQ(count_of(answer, "Server:"), 1U);
        EXPECT_EQ(count_of(answer, "Date:"), 1U);
        EXPECT_EQ(answer.find("Injected"), std::string::npos);
        co_await client.close();
      });
}

TEST_F(HttpServerOnSim, a_handler_without_an_answer_is_answered_500) {
  run([](const Request&, Responder&, base::CancelSignal&) -> base::Task<void> { co_return; },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        RawClient client(w.runtime);
        co_await client.connect(port);
        co_await client.send(get("/"));
        const std::string answer = co_await client.read_answer();
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 500 ")) << answer;
        EXPECT_NE(answer.find("{\"error\":{\"message\":"), std::string::npos);
        co_await client.close();
      });
}

TEST_F(HttpServerOnSim, a_second_answer_is_an_error_and_leaves_the_wire_alone) {
  run(
      [](const Request&, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        auto first = co_await responder.send(200, "text/plain", "one");
        EXPECT_TRUE(first.ok());
        auto second = co_await responder.send(200, "text/plain", "two");
        EXPECT_FALSE(second.ok());
        auto piece = co_await responder.write("three");
        EXPECT_FALSE(piece.ok());
      },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        RawClient client(w.runtime);
        co_await client.connect(port);
        co_await client.send(get("/") + "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        const std::string answers = co_await client.read_to_end();
        EXPECT_EQ(count_of(answers, "one"), 2U);
        EXPECT_EQ(count_of(answers, "two") + count_of(answers, "three"), 0U);
        co_await client.close();
      });
}

TEST_F(HttpServerOnSim, expect_100_continue_is_answered_before_the_body_is_sent) {
  run(echo, [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
    RawClient client(w.runtime);
    co_await client.connect(port);
    co_await client.send(
        "POST /p HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    const std::string interim = co_await client.read_until("\r\n\r\n");
    EXPECT_EQ(interim, "HTTP/1.1 100 Continue\r\n\r\n");
    co_await client.send("hi");
    const std::string answer = co_await client.read_answer();
    EXPECT_TRUE(answer.ends_with("POST /p hi")) << answer;
    // Too large: the refusal comes instead of the invitation.
    co_await client.send(
        "POST /p HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
        "99999999999\r\n\r\n");
    const std::string refused = co_await client.read_to_end();
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 413 ")) << refused;
    co_await client.close();
  });
}

TEST_F(HttpServerOnSim, refused_requests_get_their_status_as_json_and_the_connection_closes) {
  ServerOptions options;
  options.limits.body_bytes = 1000;
  options.limits.head_bytes = 2000;
  run(
      [](const Request&, Responder&, base::CancelSignal&) -> base::Task<void> {
        ADD_FAILURE() << "a refused request reached the handler";
        co_return;
      },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        const std::pair<std::string, std::string> cases[] = {
            {"GET / HTTP/1.1\r\nHost: a\r\nX: y\nZ: 1\r\n\r\n", "400"},
            {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: "
             "chunked\r\n\r\n0\r\n\r\n",
             "400"},
            {post(std::string(5000, 'x')), "413"},
            {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(5000, 'x') + "\r\n\r\n", "431"},
            {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", "505"},
            {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", "501"},
        };
        for (const auto& [bytes, status] : cases) {
          RawClient client(w.runtime);
          co_await client.connect(port);
          co_await client.send(bytes);
          const std::string answer = co_await client.read_to_end();
          EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + status + " ")) << answer;
          EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
          EXPECT_NE(answer.find("{\"error\":{\"message\":\""), std::string::npos);
          EXPECT_TRUE(answer.ends_with(",\"param\":null}}"));
          EXPECT_TRUE(client.ended());
          co_await client.close();
        }
      },
      options);
}

TEST_F(HttpServerOnSim, slow_clients_are_timed_out) {
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

TEST_F(HttpServerOnSim, a_client_that_does_not_read_is_dropped) {
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

TEST_F(HttpServerOnSim, a_lost_client_cancels_its_handler_at_once) {
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

TEST_F(HttpServerOnSim, a_client_that_only_stops_sending_can_still_be_answered) {
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

TEST_F(HttpServerOnSim, draining_lets_running_handlers_finish_and_refuses_new_requests) {
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

TEST_F(HttpServerOnSim, at_the_drain_deadline_handlers_are_cancelled) {
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

TEST_F(HttpServerOnSim, one_connection_too_many_is_answered_503) {
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

TEST_F(HttpServerOnSim, faults_of_the_network_leave_no_connection_behind) {
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
