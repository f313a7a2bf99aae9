#include "net/http_client.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "net/testing/script_server.h"

namespace verbatim::net {
namespace {

using base::sim::SimWorld;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Script;
using testing::ScriptServer;

using Then = Script::Then;

class HttpClientOnSim : public ::testing::Test {
 protected:
  using Body = std::function<base::Task<void>(SimWorld&, HttpClient&, ScriptServer&)>;

  void run(const std::vector<Script>& scripts, Body body, ClientOptions options = {}) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed);
      SimWorld world(seed);
      world.network.options().fragment = seed % 3 == 0 ? 0 : 300;
      world.network.options().max_latency = milliseconds(seed % 2 == 0 ? 0 : 5);
      HttpClient client(world.runtime, options);
      EXPECT_TRUE(world.run([](SimWorld& w, HttpClient& c, const std::vector<Script>& s,
                               Body& b) -> base::Task<void> {
        ScriptServer server(w.runtime, s);
        co_await b(w, c, server);
        co_await c.stop();
        co_await server.stop();
      }(world, client, scripts, body)));
      world.executor.run_until_idle();
    }
  }
};

ClientRequest get(const ScriptServer& server) {
  ClientRequest request;
  request.endpoint = {"engine", server.port(), false};
  request.target = "/x";
  return request;
}

ClientRequest post(const ScriptServer& server, std::string_view body) {
  ClientRequest request = get(server);
  request.method = "POST";
  request.body = {body.substr(0, 1), body.substr(1)};
  return request;
}

base::MonoTime in(SimWorld& w, base::Duration d) {
  return w.executor.clock().now() + d;
}

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_F(HttpClientOnSim, a_request_has_exact_bytes) {
  run({{"hello", kOk, Then::kClose}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        ClientRequest request = post(server, "hello");
        request.headers.add("Content-Type", "application/json")
            .add("content-length", "77")
            .add("Host", "other");
        auto response = co_await client.request(request, in(w, seconds(5)));
        EXPECT_TRUE(response.ok());
        EXPECT_EQ(response->status(), 200);
        auto body = co_await response->read_all(100);
        EXPECT_EQ(*body, "ok");
        EXPECT_EQ(server.received,
                  "POST /x HTTP/1.1\r\nHost: engine:20000\r\nContent-Type: "
                  "application/json\r\nUser-Agent: verbatim\r\n"
                  "Content-Length: 5\r\n\r\nhello");
      });
}

TEST_F(HttpClientOnSim, a_fully_read_connection_is_used_again) {
  run({{"\r\n\r\n", kOk, Then::kNextInSameConnection},
       {"\r\n\r\n", kOk, Then::kNextInSameConnection},
       {"\r\n\r\n", kOk, Then::kClose}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        for (int i = 0; i < 3; ++i) {
          const ClientRequest request = get(server);
          auto response = co_await client.request(request, in(w, seconds(5)));
          EXPECT_TRUE(response.ok());
          auto body = co_await response->read_all(100);
          EXPECT_EQ(*body, "ok");
        }
        EXPECT_EQ(server.connections, 1);
      });
}

TEST_F(HttpClientOnSim, a_response_that_was_not_read_to_its_end_closes_the_connection) {
  run({{"\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok", Then::kSilence},
       {"\r\n\r\n", kOk, Then::kClose}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        for (int i = 0; i < 2; ++i) {
          const ClientRequest request = get(server);
          auto response = co_await client.request(request, in(w, seconds(5)));
          EXPECT_TRUE(response.ok());
          auto piece = co_await response->read();
          EXPECT_TRUE(piece.ok());
        }
        EXPECT_EQ(server.connections, 2);
      });
}

TEST_F(HttpClientOnSim, bodies_are_read_whatever_their_framing) {
  run({{"\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: "
        "close\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: "
        "u\r\n\r\n",
        Then::kClose},
       {"\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\nabcde", Then::kClose},
       {"\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nabcde",
        Then::kClose}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        for (int i = 0; i < 3; ++i) {
          const ClientRequest request = get(server);
          auto response = co_await client.request(request, in(w, seconds(5)));
          EXPECT_TRUE(response.ok());
          if (!response.ok()) continue;
          EXPECT_EQ(response->length_known(), i != 1);
          auto body = co_await response->read_all(5);
          EXPECT_TRUE(body.ok());
          EXPECT_EQ(*body, "abcde");
        }
      });
}

TEST_F(HttpClientOnSim, a_body_that_is_cut_is_an_error_and_not_an_end) {
  run({{"\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", Then::kClose},
       {"\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        Then::kClose},
       {"\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n",
        Then::kClose},
       {"\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX",
        Then::kClose}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        for (int i = 0; i < 4; ++i) {
          const ClientRequest request = get(server);
          auto response = co_await client.request(request, in(w, seconds(5)));
          EXPECT_TRUE(response.ok());
          auto body = co_await response->read_all(100);
          EXPECT_FALSE(body.ok());
          EXPECT_EQ(body.error().kind, base::ErrorKind::kEngine);
          if (i < 3) {
            EXPECT_EQ(body.error().message, "connection closed before the end");
          }
        }
      });
}

TEST_F(HttpClientOnSim, limits_hold) {
  ClientOptions options;
  options.limits.body_bytes = 100;
  options.limits.head_bytes = 1000;
  run(
      {{"\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", Then::kClose},
       {"\r\n\r\n", "HTTP/1.1 200 OK\r\nX: " + std::string(2000, 'x') + "\r\n\r\n", Then::kClose},
       {"\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n" + std::string(50, 'x'),
        Then::kClose}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        for (int i = 0; i < 3; ++i) {
          const ClientRequest request = get(server);
          auto response = co_await client.request(request, in(w, seconds(5)));
          EXPECT_EQ(response.ok(), i == 2);
          if (!response.ok()) {
            EXPECT_EQ(response.error().kind,
                      i == 0 ? base::ErrorKind::kTooLarge : base::ErrorKind::kEngine);
            continue;
          }
          auto body = co_await response->read_all(49);
          EXPECT_EQ(body.error().kind, base::ErrorKind::kTooLarge);
        }
      },
      options);
}

TEST_F(HttpClientOnSim, silence_is_a_timeout_before_and_within_the_body) {
  run({{"\r\n\r\n", "HTTP/1.1 200 ", Then::kSilence},
       {"\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", Then::kSilence}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        const base::MonoTime before = w.executor.clock().now();
        const ClientRequest first = get(server);
        auto none = co_await client.request(first, in(w, seconds(3)));
        EXPECT_FALSE(none.ok());
        EXPECT_EQ(none.error().kind, base::ErrorKind::kTimeout);
        EXPECT_GE(w.executor.clock().now() - before, seconds(3));
        const ClientRequest second = get(server);
        auto response = co_await client.request(second, in(w, seconds(3)));
        EXPECT_TRUE(response.ok());
        auto body = co_await response->read_all(100, in(w, seconds(7)));
        EXPECT_FALSE(body.ok());
        EXPECT_EQ(body.error().kind, base::ErrorKind::kTimeout);
      });
}

TEST_F(HttpClientOnSim, cancelling_ends_a_request_that_waits_for_its_head) {
  run({{"\r\n\r\n", "", Then::kSilence}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        base::CancelSignal cancel;
        base::Timer timer;
        timer.arm(w.executor.timers(), in(w, seconds(1)),
                  [&] { cancel.fire("client disconnected"); });
        ClientRequest request = get(server);
        request.cancel = &cancel;
        const base::MonoTime before = w.executor.clock().now();
        auto response = co_await client.request(request, base::kNever);
        EXPECT_FALSE(response.ok());
        EXPECT_EQ(response.error().kind, base::ErrorKind::kCancelled);
        EXPECT_LT(w.executor.clock().now() - before, seconds(2));
        auto again = co_await client.request(request, base::kNever);
        EXPECT_EQ(again.error().kind, base::ErrorKind::kCancelled);
      });
}

TEST_F(HttpClientOnSim, closing_a_response_ends_its_pending_read) {
  run({{"\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", Then::kSilence}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        const ClientRequest request = get(server);
        auto response = co_await client.request(request, in(w, seconds(3)));
        EXPECT_TRUE(response.ok());
        base::Timer timer;
        timer.arm(w.executor.timers(), in(w, seconds(1)), [&] { response->close(); });
        auto body = co_await response->read_all(100);
        EXPECT_FALSE(body.ok());
        EXPECT_EQ(body.error().kind, base::ErrorKind::kCancelled);
      });
}

TEST_F(HttpClientOnSim, an_idle_connection_the_server_closed_is_not_used) {
  run({{"\r\n\r\n", kOk, Then::kClose}, {"\r\n\r\n", kOk, Then::kClose}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        for (int i = 0; i < 2; ++i) {
          const ClientRequest request = get(server);
          {
            auto response = co_await client.request(request, in(w, seconds(5)));
            EXPECT_TRUE(response.ok());
            if (response.ok()) {
              auto body = co_await response->read_all(100);
              EXPECT_TRUE(body.ok());
            }
          }
          co_await base::sleep_for(w.executor, milliseconds(100));
          EXPECT_EQ(client.idle_connections(), 0U);
        }
        EXPECT_EQ(server.connections, 2);
      });
}

TEST_F(HttpClientOnSim, an_idle_connection_is_closed_after_its_time) {
  run({{"\r\n\r\n", kOk, Then::kSilence}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        const ClientRequest request = get(server);
        {
          auto response = co_await client.request(request, in(w, seconds(5)));
          EXPECT_TRUE(response.ok());
          auto body = co_await response->read_all(100);
          EXPECT_TRUE(body.ok());
        }
        EXPECT_EQ(client.idle_connections(), 1U);
        co_await base::sleep_for(w.executor, seconds(3));
        EXPECT_EQ(client.idle_connections(), 1U);
        co_await base::sleep_for(w.executor, seconds(2));
        EXPECT_EQ(client.idle_connections(), 0U);
      });
}

// A first exchange that leaves its connection in the pool.
base::Task<void> keep_one(SimWorld& w, HttpClient& client, ScriptServer& server) {
  const ClientRequest first = get(server);
  auto response = co_await client.request(first, in(w, seconds(5)));
  EXPECT_TRUE(response.ok());
  if (!response.ok()) co_return;
  auto body = co_await response->read_all(100);
  EXPECT_TRUE(body.ok());
}

// The server reads the second request of a kept connection and closes without a byte.
const std::vector<Script> kUnanswered = {{"\r\n\r\n", kOk, Then::kNextInSameConnection},
                                         {"second", "", Then::kClose},
                                         {"second", kOk, Then::kClose}};

TEST_F(HttpClientOnSim, what_the_server_had_whole_is_not_sent_again_by_itself) {
  run(kUnanswered, [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
    co_await keep_one(w, client, server);
    const ClientRequest second = post(server, "second");
    auto response = co_await client.request(second, in(w, seconds(5)));
    EXPECT_FALSE(response.ok());
    if (response.ok()) co_return;
    EXPECT_EQ(response.error().kind, base::ErrorKind::kEngine);
    EXPECT_EQ(response.error().code, "closed_before_response");
    EXPECT_EQ(server.connections, 1);
  });
}

TEST_F(HttpClientOnSim, it_is_sent_again_once_where_it_may_be_done_twice) {
  run(kUnanswered, [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
    co_await keep_one(w, client, server);
    ClientRequest second = post(server, "second");
    second.retry = RetryPolicy::kIfUnanswered;
    auto response = co_await client.request(second, in(w, seconds(5)));
    EXPECT_TRUE(response.ok());
    EXPECT_EQ(server.connections, 2);
  });
}

TEST_F(HttpClientOnSim, a_request_whose_writing_broke_off_is_sent_again) {
  // The server closes at the head; the rest is more than connections hold.
  const std::string large(300'000, 'x');
  const std::string whole = large + "end";
  run({{"\r\n\r\n", kOk, Then::kNextInSameConnection},
       {"\r\n\r\n", "", Then::kClose},
       {"end", kOk, Then::kClose}},
      [&](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        co_await keep_one(w, client, server);
        const ClientRequest second = post(server, whole);
        auto response = co_await client.request(second, in(w, seconds(5)));
        EXPECT_TRUE(response.ok());
        EXPECT_EQ(server.connections, 2);
      });
}

TEST_F(HttpClientOnSim, a_kept_connection_that_the_server_closed_is_not_used) {
  run({{"\r\n\r\n", kOk, Then::kClose}, {"second", kOk, Then::kClose}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        co_await keep_one(w, client, server);
        co_await base::sleep_for(w.executor, milliseconds(6));  // longer than any byte is under way
        const ClientRequest second = post(server, "second");
        auto response = co_await client.request(second, in(w, seconds(5)));
        EXPECT_TRUE(response.ok());
        EXPECT_EQ(server.connections, 2);
      });
}

TEST_F(HttpClientOnSim, whenever_a_kept_connection_closes_a_request_arrives_at_most_once) {
  std::size_t good = 0;
  std::size_t failed = 0;
  for (std::int64_t us = 0; us <= 6000; us += 500) {
    run({{"\r\n\r\n", kOk, Then::kClose}, {"second", kOk, Then::kClose}},
        [&, us](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
          co_await keep_one(w, client, server);
          co_await base::sleep_for(w.executor, std::chrono::microseconds(us));
          const ClientRequest second = post(server, "second");
          auto response = co_await client.request(second, in(w, seconds(5)));
          const auto once = server.received.find("second");
          EXPECT_EQ(once != std::string::npos, response.ok());
          const auto twice = server.received.find("second", once + 1);
          EXPECT_TRUE(once == std::string::npos || twice == std::string::npos);
          ++(response.ok() ? good : failed);
        });
  }
  EXPECT_GT(good, 0U);
  EXPECT_GT(failed, 0U) << "the request and the end may cross on the way";
}

TEST_F(HttpClientOnSim, a_fresh_connection_that_dies_is_never_retried) {
  run({{"\r\n\r\n", "", Then::kClose}, {"\r\n\r\n", kOk, Then::kClose}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        ClientRequest request = get(server);
        request.retry = RetryPolicy::kIfUnanswered;
        auto response = co_await client.request(request, in(w, seconds(5)));
        EXPECT_FALSE(response.ok());
        EXPECT_EQ(response.error().kind, base::ErrorKind::kEngine);
        EXPECT_EQ(response.error().code, "closed_before_response");
        EXPECT_EQ(server.connections, 1);
      });
}

TEST_F(HttpClientOnSim, requests_that_would_break_the_framing_are_refused) {
  run({}, [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
    ClientRequest request = get(server);
    request.target = "/x HTTP/1.1\r\nX: y";
    auto target = co_await client.request(request, in(w, seconds(5)));
    EXPECT_EQ(target.error().kind, base::ErrorKind::kInvalidRequest);
    ClientRequest evil = get(server);
    evil.headers.add("X", "a\r\nY: b");
    auto field = co_await client.request(evil, in(w, seconds(5)));
    EXPECT_EQ(field.error().kind, base::ErrorKind::kInvalidRequest);
  });
}

TEST_F(HttpClientOnSim, connections_per_host_are_bounded) {
  ClientOptions options;
  options.max_connections_per_host = 1;
  run(
      {{"\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", Then::kSilence}},
      [](SimWorld& w, HttpClient& client, ScriptServer& server) -> base::Task<void> {
        const ClientRequest request = get(server);
        auto held = co_await client.request(request, in(w, seconds(5)));
        EXPECT_TRUE(held.ok());
        auto second = co_await client.request(request, in(w, seconds(5)));
        EXPECT_FALSE(second.ok());
        EXPECT_EQ(second.error().code, "connection_limit");
      },
      options);
}

}  // namespace
}  // namespace verbatim::net
