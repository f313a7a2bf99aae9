#include <csignal>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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

TEST(AsioLoopback, a_resetting_client_fires_the_cancel_signal) {
  Loopback on;
  std::string reason;
  on.run([](base::Runtime& runtime, std::string& why) -> base::Task<void> {
    bool begun = false;
    HttpServer server(
        runtime,
        [&](const Request&, Responder& responder, base::CancelSignal& cancel) -> base::Task<void> {
          auto status = responder.begin_stream(200, "text/plain");
          EXPECT_TRUE(status.ok());
          status = co_await responder.write("unread by the client");
          EXPECT_TRUE(status.ok());
          begun = true;
          while (!cancel.fired())
            co_await base::sleep_for(runtime.executor, std::chrono::milliseconds(1));
          why = cancel.reason();
        });
    auto port = server.start("127.0.0.1", 0);
    const base::Endpoint to{"localhost", *port, false};
    auto stream = co_await runtime.network.connect(to, soon(runtime));
    EXPECT_TRUE(stream.ok());
    const std::string_view pieces[] = {"GET / HTTP/1.1\r\n", "Host: a\r\n\r\n"};
    auto written = co_await base::write_all(**stream, pieces);
    EXPECT_TRUE(written.ok());
    while (!begun) co_await base::sleep_for(runtime.executor, std::chrono::milliseconds(1));
    co_await base::sleep_for(runtime.executor, std::chrono::milliseconds(5));
    (*stream)->close();
    co_await server.drain(soon(runtime));
  }(on.runtime, reason));
  EXPECT_EQ(reason, "client disconnected");
}

TEST(AsioLoopback, closing_ends_pending_operations_as_cancelled) {
  Loopback on;
  on.run([](base::Runtime& runtime) -> base::Task<void> {
    auto listener = runtime.network.listen("127.0.0.1", 0, base::Network::PortUse::kExclusive);
    const base::Endpoint to{"127.0.0.1", (*listener)->port(), false};
    auto client = co_await runtime.network.connect(to, soon(runtime));
    auto server = co_await (*listener)->accept();
    EXPECT_TRUE(client.ok() && server.ok());
    bool read_over = false;
    bool accept_over = false;
    base::spawn([](base::ByteStream& stream, bool& over) -> base::Task<void> {
      char buffer[10];
      auto got = co_await base::read_some(stream, buffer);
      EXPECT_EQ(got.error().kind, base::ErrorKind::kCancelled);
      auto later = co_await base::read_some(stream, buffer);
      EXPECT_EQ(later.error().kind, base::ErrorKind::kCancelled);
      over = true;
    }(**client, read_over));
    base::spawn([](base::Listener& l, bool& over) -> base::Task<void> {
      auto none = co_await l.accept();
      EXPECT_EQ(none.error().kind, base::ErrorKind::kCancelled);
      over = true;
    }(**listener, accept_over));
    (*client)->close();
    (*listener)->close();
    EXPECT_FALSE(read_over || accept_over);  // posted
    char buffer[10];
    auto end = co_await base::read_some(**server, buffer);
    EXPECT_TRUE(end.ok());
    EXPECT_EQ(*end, 0U);
    // NOLINTNEXTLINE(bugprone-infinite-loop): the two tasks set them
    while (!read_over || !accept_over)
      co_await base::sleep_for(runtime.executor, std::chrono::milliseconds(1));
  }(on.runtime));
}

TEST(AsioLoopback, a_connect_that_nobody_answers_ends_at_its_deadline) {
  Loopback on;
  // A listener whose queue is full drops further handshakes.
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size), 0);
  on.run([](base::Runtime& runtime, std::uint16_t port) -> base::Task<void> {
    std::vector<std::unique_ptr<base::ByteStream>> held;
    const base::Endpoint to{"127.0.0.1", port, false};
    bool timed_out = false;
    for (int i = 0; i < 5 && !timed_out; ++i) {
      auto stream = co_await runtime.network.connect(
          to, runtime.clock().now() + std::chrono::milliseconds(100));
      if (stream.ok()) {
        held.push_back(std::move(*stream));
      } else {
        EXPECT_EQ(stream.error().kind, base::ErrorKind::kTimeout);
        timed_out = true;
      }
    }
    EXPECT_TRUE(timed_out);
  }(on.runtime, ntohs(at.sin_port)));
  ::close(listener);
}

TEST(AsioLoopback, a_port_can_be_shared_only_where_all_agree) {
  Loopback on;
  using Use = base::Network::PortUse;
  auto first = on.network->listen("127.0.0.1", 0, Use::kShared);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(on.network->listen("127.0.0.1", (*first)->port(), Use::kShared).ok());
  EXPECT_FALSE(on.network->listen("127.0.0.1", (*first)->port(), Use::kExclusive).ok());
  const auto named = on.network->listen("example.org", 0, Use::kShared);
  EXPECT_EQ(named.error().kind, base::ErrorKind::kInvalidRequest);
}

TEST(AsioLoopback, a_termination_signal_reaches_the_loop) {
  AsioLoop loop;
  int seen = 0;
  loop.on_terminate([&](int number) {
    seen = number;
    loop.stop();
  });
  loop.post([] { ::raise(SIGTERM); });
  loop.run();
  EXPECT_EQ(seen, SIGTERM);
}

TEST(AsioLoopback, timers_fire_in_order_and_never_early) {
  Loopback on;
  std::vector<int> order;
  on.run([](base::Runtime& runtime, std::vector<int>& fired) -> base::Task<void> {
    const base::MonoTime begin = runtime.clock().now();
    base::Timer late;
    base::Timer early;
    late.arm(runtime.executor.timers(), begin + std::chrono::milliseconds(20),
             [&] { fired.push_back(2); });
    early.arm(runtime.executor.timers(), begin + std::chrono::milliseconds(5),
              [&] { fired.push_back(1); });
    co_await base::sleep_until(runtime.executor, begin + std::chrono::milliseconds(30));
    EXPECT_GE(runtime.clock().now() - begin, std::chrono::milliseconds(30));
  }(on.runtime, order));
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(AsioLoopback, jobs_from_other_threads_run_on_the_loop) {
  Loopback on;
  int value = 0;
  on.run([](base::Runtime& runtime, int& into) -> base::Task<void> {
    into = co_await base::run_on(runtime.worker, runtime.executor, [] { return 7; });
  }(on.runtime, value));
  EXPECT_EQ(value, 7);
}

// No read was told of it yet: the loop does not run in between.
TEST(AsioLoopback, the_end_of_a_stream_is_known_at_once) {
  Loopback on;
  on.run([](base::Runtime& runtime) -> base::Task<void> {
    auto listener =
        runtime.network.listen("127.0.0.1", 0, base::Network::PortUse::kExclusive).value();
    const base::Endpoint to{"127.0.0.1", listener->port(), false};
    auto client = co_await runtime.network.connect(to, soon(runtime));
    auto server = co_await listener->accept();
    EXPECT_TRUE(client.ok() && server.ok());
    if (!client.ok() || !server.ok()) co_return;
    EXPECT_FALSE((*client)->unread());
    (*server)->close();
    EXPECT_TRUE((*client)->unread());
    (*client)->close();
    EXPECT_FALSE((*client)->unread());
    listener->close();
  }(on.runtime));
}

// A server that answers and closes, without a word of it in the answer.
TEST(AsioLoopback, a_kept_connection_that_the_server_closes_costs_no_request) {
  Loopback on;
  on.run([](base::Runtime& runtime) -> base::Task<void> {
    HttpServer server(runtime, echo, {.idle_timeout = std::chrono::milliseconds(1)});
    HttpClient client(runtime);
    auto port = server.start("127.0.0.1", 0);
    for (int i = 0; i < 50; ++i) {
      const auto request = post(*port, "hello");
      auto response = co_await client.request(request, soon(runtime));
      EXPECT_TRUE(response.ok());
      if (!response.ok()) break;
      auto body = co_await response->read_all(1000);
      EXPECT_TRUE(body.ok());
      response = base::error(base::ErrorKind::kInternal, "over");
      while (server.connections() > 0)
        co_await base::sleep_for(runtime.executor, std::chrono::milliseconds(1));
    }
    co_await client.stop();
    co_await server.stop();
  }(on.runtime));
}

}  // namespace
}  // namespace verbatim::net
