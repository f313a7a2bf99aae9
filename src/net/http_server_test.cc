#include "net/http_server.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/timer.h"
#include "net/testing/raw_client.h"
#include "net/testing/server_on_sim.h"

namespace verbatim::net {
namespace {

using base::sim::SimWorld;
using testing::count_of;
using testing::echo;
using testing::get;
using testing::post;
using testing::RawClient;

using HttpServerOnSim = testing::ServerOnSim;

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

TEST_F(HttpServerOnSim, a_stream_of_known_length_keeps_the_connection_only_when_it_is_as_long) {
  struct Row {
    const char* pieces[2];
    const char* wire;
    bool kept;
  };
  static constexpr Row kRows[] = {{{"abc", "de"}, "abcde", true},
                                  {{"abc", "d"}, "abc", false},
                                  {{"abc", "def"}, "abc", false},
                                  {{"abcdef", ""}, "", false},
                                  {{"abcde", ""}, "abcde", true}};
  for (const Row& row : kRows) {
    run(
        [&](const Request&, Responder& responder, base::CancelSignal&) -> base::Task<void> {
          const Headers none;
          const auto begun = responder.begin_stream(200, none, {BodyEnd::Kind::kLength, 5});
          EXPECT_TRUE(begun.ok());
          (void)co_await responder.flush_head();
          (void)co_await responder.write(row.pieces[0]);
          const auto ended = co_await responder.end(row.pieces[1]);
          EXPECT_EQ(ended.ok(), row.kept);
        },
        [&](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
          RawClient client(w.runtime);
          co_await client.connect(port);
          for (int i = 0; i < (row.kept ? 2 : 1); ++i) {
            co_await client.send(get("/"));
            const std::string head = co_await client.read_until("\r\n\r\n");
            EXPECT_EQ(count_of(head, "Content-Length: 5\r\n"), 1U) << head;
            EXPECT_EQ(count_of(head, "chunked"), 0U);
            if (row.kept) {
              const std::string body = co_await client.read_until(row.wire);
              EXPECT_EQ(body, row.wire);
            }
          }
          if (!row.kept) {
            const std::string body = co_await client.read_to_end();
            EXPECT_EQ(body, row.wire);
          }
          co_await client.close();
        });
  }
}

TEST_F(HttpServerOnSim, a_stream_until_close_ends_with_the_connection) {
  run(
      [](const Request&, Responder& responder, base::CancelSignal&) -> base::Task<void> {
        const Headers none;
        (void)responder.begin_stream(200, none, {BodyEnd::Kind::kClose, 0});
        (void)co_await responder.write("a");
        (void)co_await responder.end("b");
      },
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        RawClient client(w.runtime);
        co_await client.connect(port);
        co_await client.send(get("/"));
        const std::string answer = co_await client.read_to_end();
        EXPECT_TRUE(client.ended());
        EXPECT_TRUE(answer.ends_with("\r\n\r\nab")) << answer;
        EXPECT_EQ(count_of(answer, "Connection: close\r\n"), 1U);
        co_await client.close();
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

// The value of a field in an answer's head; empty: it is not there, or more than once.
std::string field_of(const std::string& answer, const std::string& name) {
  const std::string head = answer.substr(0, answer.find("\r\n\r\n") + 2);
  const std::string begin = "\r\n" + name + ": ";
  const auto at = head.find(begin);
  if (at == std::string::npos || head.find(begin, at + 1) != std::string::npos) return "";
  const auto value = at + begin.size();
  return head.substr(value, head.find("\r\n", value) - value);
}

TEST_F(HttpServerOnSim, every_answer_has_a_request_id_of_the_layer_below_the_handler_too) {
  ServerOptions options;
  options.request_ids = true;
  options.limits.body_bytes = 1000;
  options.limits.head_bytes = 2000;
  const auto handler = [](const Request& request, Responder& responder,
                          base::CancelSignal&) -> base::Task<void> {
    if (request.path == "/none") co_return;
    EXPECT_FALSE(responder.request_id().empty());
    Headers headers;
    if (request.path == "/own") headers.add("x-request-id", "the handler's");
    if (request.path != "/stream") {
      (void)co_await responder.send(200, headers, "");
      co_return;
    }
    EXPECT_TRUE(responder.begin_stream(200, headers).ok());
    (void)co_await responder.end("piece");
  };
  run(
      handler,
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        const auto with = [](const std::string& id) {
          return "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: " + id +
                 "\r\n\r\n";
        };
        const std::string too_long(513, 'i');
        const std::vector<std::pair<std::string, std::string>> cases = {
            {with("client-9"), "client-9"},
            {with(std::string(512, 'i')), std::string(512, 'i')},
            {with("a b\xC3\xA9"), "a b\xC3\xA9"},
            {with(too_long), ""},
            {with("\xFF"), ""},
            {with(""), ""},
            {get("/own"), "the handler's"},
            {get("/stream"), ""},
            {get("/none"), ""},
            {post(std::string(5000, 'x'), "X-Request-Id: client-9\r\n"), "client-9"},
            {post(std::string(5000, 'x')), ""},
            {"GET / HTTP/1.1\r\nHost: a\r\nX: y\nZ: 1\r\n\r\n", ""},
            {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(5000, 'x') + "\r\n\r\n", ""},
            {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", ""},
            {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab", ""}};
        std::set<std::string> own;
        for (const auto& [bytes, expected] : cases) {
          RawClient client(w.runtime);
          co_await client.connect(port);
          co_await client.send(bytes);
          const std::string answer = co_await client.read_answer();
          std::string id = field_of(answer, "X-Request-Id");
          if (id.empty()) id = field_of(answer, "x-request-id");
          if (expected.empty()) {
            EXPECT_TRUE(id.starts_with("req_") && id.size() == 28) << answer;
            EXPECT_TRUE(own.insert(id).second) << "drawn twice";
          } else {
            EXPECT_EQ(id, expected) << answer;
          }
          co_await client.close();
        }
      },
      options);
}

TEST_F(HttpServerOnSim, each_request_of_a_connection_has_its_own_id) {
  ServerOptions options;
  options.request_ids = true;
  run(
      echo,
      [](SimWorld& w, HttpServer&, std::uint16_t port) -> base::Task<void> {
        RawClient client(w.runtime);
        co_await client.connect(port);
        co_await client.send(get("/a"));
        const std::string first = co_await client.read_answer();
        co_await client.send("GET /b HTTP/1.1\r\nHost: a\r\nX-Request-Id: b\r\n\r\n");
        const std::string second = co_await client.read_answer();
        co_await client.send(get("/c"));
        const std::string third = co_await client.read_answer();
        EXPECT_EQ(field_of(second, "X-Request-Id"), "b");
        EXPECT_TRUE(field_of(third, "X-Request-Id").starts_with("req_"));
        EXPECT_NE(field_of(first, "X-Request-Id"), field_of(third, "X-Request-Id"));
        co_await client.close();
      },
      options);
}

}  // namespace
}  // namespace verbatim::net
