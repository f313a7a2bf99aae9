#include "api/relay_instance.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "api/testing/relay_scene.h"
#include "base/pause.h"
#include "base/random.h"
#include "base/timer.h"
#include "net/sse.h"
#include "net/testing/raw_client.h"
#include "net/testing/server_on_sim.h"

namespace verbatim::api {
namespace {

using base::Task;
using net::testing::RawClient;
using net::testing::Script;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Answer;
using testing::HttpCaller;
using testing::kChat;
using testing::RelayScene;

std::string random_bytes(base::Random& random, std::size_t size) {
  std::string out(size, '\0');
  for (auto& c : out) c = static_cast<char>(random.next());
  return out;
}

enum class Framing { kLength, kChunked, kUntilClose };

std::string framed(Framing framing, const std::string& body, base::Random& random,
                   const std::string& head) {
  std::string out = head;
  if (framing == Framing::kLength) {
    out += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  } else if (framing == Framing::kUntilClose) {
    out += "\r\n" + body;
  } else {
    out += "Transfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < body.size();) {
      const auto n = std::min<std::size_t>(1 + random.below(9000), body.size() - at);
      char size[20];
      std::snprintf(size, sizeof size, "%zx\r\n", n);
      out.append(size).append(body, at, n).append("\r\n");
      at += n;
    }
    out += "0\r\n\r\n";
  }
  return out;
}

std::string body_of(const std::string& raw) {
  return raw.substr(raw.find("\r\n\r\n") + 4);
}

TEST(Relay, both_bodies_arrive_as_they_are_whatever_cuts_them) {
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    base::SeededRandom random(seed);
    RelayScene scene(seed);
    scene.world.network.options().fragment = static_cast<unsigned>(random.below(2)) * 400;
    scene.world.network.options().max_latency = milliseconds(random.below(4));
    scene.world.network.options().buffer = seed % 3 == 0 ? 4000 : 64 * 1024;
    const auto framing = static_cast<Framing>(seed % 3);
    const std::string up = random_bytes(random, random.below(100'000)) + "the end";
    const std::string down = random_bytes(random, random.below(300'000));
    const int status = seed % 5 == 0 ? 429 : 200;
    scene.script({{"the end",
                   framed(framing, down, random,
                          "HTTP/1.1 " + std::to_string(status) + " X\r\nX-Kept: a b\r\n"),
                   Script::Then::kClose}});
    const Answer answer = scene.post(up);
    EXPECT_EQ(answer.status, status);
    EXPECT_FALSE(answer.cut);
    EXPECT_TRUE(answer.body == down) << answer.body.size() << " of " << down.size();
    EXPECT_TRUE(body_of(scene.raw->received) == up);
    EXPECT_EQ(answer.header("x-kept"), "a b");
    EXPECT_EQ(answer.headers.has("content-length"), framing == Framing::kLength);
    EXPECT_EQ(answer.headers.has("transfer-encoding"), framing == Framing::kChunked);
  }
}

// A reader that is slower than the engine makes buffers fill and bytes move.
TEST(Relay, a_slow_reader_gets_every_byte_and_slows_the_engine) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    RelayScene scene(seed);
    scene.world.network.options().fragment = 300;
    base::SeededRandom random(seed);
    const std::string down = random_bytes(random, 2'000'000);
    std::size_t written = 0;
    scene.engine(
        [&](const net::Request&, net::Responder& answer, base::CancelSignal&) -> Task<void> {
          net::BodyEnd end;
          if (seed % 2 == 0) end = {net::BodyEnd::Kind::kLength, down.size()};
          const net::Headers none;
          (void)answer.begin_stream(200, none, end);
          while (written < down.size()) {
            const auto n = std::min<std::size_t>(1 + random.below(20'000), down.size() - written);
            const auto status = co_await answer.write(std::string_view(down).substr(written, n));
            if (!status.ok()) co_return;
            written += n;
          }
          (void)co_await answer.end();
        });
    scene.run([&](HttpCaller&) -> Task<void> {
      net::HttpClient client(scene.world.runtime);
      net::ClientRequest request;
      request.endpoint = {"gateway", scene.port, false};
      request.method = "POST";
      request.target = kChat;
      std::string got;
      {
        auto response = co_await client.request(request, base::kNever);
        EXPECT_TRUE(response.ok());
        co_await base::sleep_for(scene.world.executor, seconds(10));
        EXPECT_LT(written, 600'000U) << "buffers on the way are bounded";
        while (response.ok()) {
          auto bytes = co_await response->read();
          EXPECT_TRUE(bytes.ok());
          if (!bytes.ok() || bytes->empty()) break;
          got += *bytes;
          if (random.chance(200)) co_await base::sleep_for(scene.world.executor, milliseconds(20));
        }
      }
      EXPECT_TRUE(got == down) << got.size();
      co_await client.stop();
    });
  }
}

const char* const kEvents = "data: {\"n\":1}\n\ndata: {\"n\":2}\r\n\r\ndata: [DONE]\n\n";

struct Wire {
  std::string bytes;
  std::size_t head = 0;
};

Wire event_stream(bool chunked) {
  Wire wire;
  wire.bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n";
  const std::string body = kEvents;
  wire.bytes += chunked ? "Transfer-Encoding: chunked\r\n\r\n"
                        : "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  wire.head = wire.bytes.size();
  if (!chunked) {
    wire.bytes += body;
    return wire;
  }
  for (const std::size_t cut : {0U, 17U, 40U}) {
    const std::string piece = body.substr(cut, cut == 0 ? 17 : cut == 17 ? 23 : 1000);
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    wire.bytes += size + piece + "\r\n";
  }
  wire.bytes += "0\r\n\r\n";
  return wire;
}

TEST(Relay, an_answer_that_is_cut_anywhere_is_never_whole_for_the_client) {
  for (const bool chunked : {true, false}) {
    const Wire wire = event_stream(chunked);
    for (std::size_t cut = 0; cut < wire.bytes.size(); ++cut) {
      SCOPED_TRACE(::testing::Message()
                   << (chunked ? "chunked, " : "length, ") << "cut at " << cut);
      RelayScene scene(cut + 1);
      scene.world.network.options().fragment = cut % 2 == 0 ? 300 : 0;
      scene.script({{"{}", wire.bytes.substr(0, cut), Script::Then::kClose}});
      const Answer answer = scene.post("{}");
      if (cut < wire.head) {
        EXPECT_EQ(answer.status, 502);
        EXPECT_EQ(answer.text("error", "type"), "upstream_error") << answer.body;
        continue;
      }
      // Nothing was sent yet: it can still be an error.
      if (answer.status == 502) {
        EXPECT_FALSE(answer.cut);
        EXPECT_EQ(answer.text("error", "type"), "upstream_error") << answer.body;
        continue;
      }
      EXPECT_EQ(answer.status, 200);
      EXPECT_TRUE(answer.cut) << "it must not end in order";
      const std::string whole = kEvents;
      const std::size_t error = answer.body.find("data: {\"error\"");
      const std::string passed = answer.body.substr(0, error);
      EXPECT_EQ(whole.substr(0, passed.size()), passed);
      EXPECT_EQ(error != std::string::npos, chunked && net::ends_event(passed))
          << "an error event stands between events only: " << answer.body;
    }
  }
}

TEST(Relay, a_compressed_stream_and_other_bodies_get_no_event) {
  for (const char* fields : {"Content-Type: text/event-stream\r\nContent-Encoding: gzip\r\n",
                             "Content-Type: application/json\r\n", ""}) {
    RelayScene scene;
    scene.script({{"{}",
                   std::string("HTTP/1.1 200 OK\r\n") + fields +
                       "Transfer-Encoding: chunked\r\n\r\n4\r\nab\n\n\r\n",
                   Script::Then::kClose}});
    const Answer answer = scene.post("{}");
    EXPECT_TRUE(answer.cut);
    EXPECT_EQ(answer.body, "ab\n\n") << fields;
  }
}

std::string ok_answer(const std::string& fields = "") {
  return "HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 2\r\n\r\nhi";
}

TEST(Relay, who_the_client_is_stays_here_and_what_it_says_of_the_request_goes_up) {
  RelayScene scene;
  scene.peer.url.base_path = "/router";
  scene.script({{"{}",
                 ok_answer("X-Request-Id: r1\r\nX-Hop: 1\r\nConnection: X-Hop\r\nRetry-After: 7\r\n"
                           "Set-Cookie: a\r\nSet-Cookie: b\r\nServer: them\r\n"),
                 Script::Then::kClose}});
  Answer answer;
  scene.run([&](HttpCaller& c) -> Task<void> {
    c.headers.add("Authorization", "Bearer client").add("X-Api-Key", "client");
    c.headers.add("Api-Key", "client").add("Proxy-Authorization", "client").add("TE", "trailers");
    c.headers.add("X-Request-Id", "r1").add("traceparent", "00-1").add("X-Custom", "ä");
    answer = co_await c.post(std::string(kChat) + "?api-version=1&x=%20", "{}");
  });
  const std::string& up = scene.raw->received;
  EXPECT_TRUE(up.starts_with("POST /router/v1/chat/completions?api-version=1&x=%20 HTTP/1.1\r\n"))
      << up;
  EXPECT_EQ(up.find("client"), std::string::npos) << up;
  EXPECT_EQ(up.find("trailers"), std::string::npos);
  for (const char* line :
       {"Authorization: Bearer engine-key\r\n", "X-Request-Id: r1\r\n", "traceparent: 00-1\r\n",
        "X-Custom: ä\r\n", "Content-Type: application/json\r\n", "Content-Length: 2\r\n"})
    EXPECT_EQ(net::testing::count_of(up, line), 1U) << line << up;
  EXPECT_EQ(answer.header("x-request-id"), "r1");
  EXPECT_EQ(answer.header("retry-after"), "7");
  EXPECT_EQ(answer.headers.count("set-cookie"), 2U);
  EXPECT_FALSE(answer.headers.has("x-hop"));
  EXPECT_EQ(answer.header("server"), "verbatim");
}

TEST(Relay, an_answer_of_an_engine_that_says_no_request_id_has_the_clients_or_a_drawn_one) {
  for (const bool named : {false, true}) {
    RelayScene scene;
    scene.script({{"{}", ok_answer(), Script::Then::kClose}});
    net::Headers headers;
    if (named) headers.add("X-Request-Id", "client-9");
    const auto answer = scene.post("{}", std::move(headers));
    EXPECT_EQ(answer.headers.count("x-request-id"), 1U);
    const auto id = answer.header("x-request-id");
    EXPECT_TRUE(named ? id == "client-9" : id.starts_with("req_")) << id;
  }
}

// A stream that has begun gets an event, an answer that has not a status.
TEST(Relay, an_answer_that_is_ended_with_the_gateway_says_so_to_its_client) {
  for (const bool begun : {false, true}) {
    RelayScene scene;
    base::Executor& executor = scene.world.executor;
    scene.engine([&](const net::Request&, net::Responder& responder,
                     base::CancelSignal& cancel) -> Task<void> {
      if (begun) {
        EXPECT_TRUE(responder.begin_stream(200, "text/event-stream").ok());
        (void)co_await responder.write("data: one\n\n");
      }
      base::Pause pause(executor, std::nullopt, cancel);
      (void)co_await pause;
    });
    std::optional<Answer> answer;
    scene.run([&](HttpCaller&) -> Task<void> {
      HttpCaller other(scene.world.runtime, scene.port);
      base::spawn([](HttpCaller& by, std::optional<Answer>& out) -> Task<void> {
        out = co_await by.post(kChat, "{}");
      }(other, answer));
      co_await base::sleep_for(executor, std::chrono::seconds(5));
      scene.relay().hurry();
      const auto from = scene.now();
      co_await scene.relay().drain(from + std::chrono::hours(1));
      EXPECT_LE(scene.now() - from, std::chrono::seconds(3));
      co_await other.stop();
    });
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, begun ? 200 : 503) << answer->body;
    EXPECT_NE(answer->body.find("shutting_down"), std::string::npos) << answer->body;
    EXPECT_EQ(answer->body.starts_with("data: one\n\n"), begun);
  }
}

TEST(Relay, without_a_key_of_its_own_nothing_takes_the_place_of_the_clients) {
  RelayScene scene;
  scene.peer.api_key.clear();
  scene.script({{"{}", ok_answer(), Script::Then::kClose}});
  net::Headers headers;
  headers.add("authorization", "Bearer client");
  EXPECT_EQ(scene.post("{}", headers).body, "hi");
  EXPECT_EQ(scene.raw->received.find("uthorization"), std::string::npos) << scene.raw->received;
}

TEST(Relay, every_relayed_route_goes_up_and_only_those) {
  struct Row {
    const char* method;
    const char* path;
    bool relayed;
  };
  for (const Row& row : {Row{"POST", "/v1/chat/completions", true},
                         Row{"POST", "/v1/completions", true}, Row{"POST", "/v1/embeddings", true},
                         Row{"GET", "/v1/models", true}, Row{"GET", "/v1/chat/completions", false},
                         Row{"POST", "/v1/models", false}, Row{"POST", "/v1/responses", false},
                         Row{"GET", "/health", false}, Row{"POST", "/shutdown", false}}) {
    RelayScene scene;
    int calls = 0;
    scene.engine([&](const net::Request& request, net::Responder& answer,
                     base::CancelSignal& cancel) -> Task<void> {
      ++calls;
      co_await net::testing::echo(request, answer, cancel);
    });
    scene.run([&](HttpCaller& c) -> Task<void> {
      const auto answer = co_await c.call(row.method, row.path);
      EXPECT_EQ(answer.status == 200, row.relayed || std::string_view(row.path) == "/health");
      if (row.relayed) {
        EXPECT_TRUE(answer.body.starts_with(std::string(row.method) + " " + row.path));
      }
    });
    EXPECT_EQ(calls, row.relayed ? 1 : 0) << row.method << " " << row.path;
  }
}

TEST(Relay, what_needs_token_ids_is_refused_with_the_remedy) {
  RelayScene scene;
  scene.run([](HttpCaller& c) -> Task<void> {
    for (const auto& [method, path] :
         {std::pair("POST", "/sessions"), std::pair("GET", "/sessions/a"),
          std::pair("DELETE", "/sessions/a"),
          std::pair("POST", "/sessions/a/v1/chat/completions")}) {
      const auto answer = co_await c.call(method, path);
      EXPECT_EQ(answer.status, 400) << path;
      const std::string message = answer.text("error", "message");
      for (const char* word : {"token ids", "--tokenizer", "sglang", "vllm", kChat})
        EXPECT_NE(message.find(word), std::string::npos) << message;
      EXPECT_EQ(message.find("vllm, openai"), std::string::npos) << message;
    }
  });
}

TEST(Relay, an_engine_that_gives_no_answer_has_the_status_of_its_failure) {
  {
    RelayScene scene;
    scene.peer.url.endpoint = {"nobody", 9, false};
    const Answer answer = scene.post("{}");
    EXPECT_EQ(answer.status, 503);
    EXPECT_NE(answer.text("error", "message").find("nobody:9"), std::string::npos);
  }
  for (const char* bytes : {"", "HTTP/1.1 200", "SSH-2.0\r\n\r\n", "HTTP/1.1 200 OK\nX: 1\n\n"}) {
    RelayScene scene;
    scene.script({{"{}", bytes, Script::Then::kClose}});
    EXPECT_EQ(scene.post("{}").status, 502) << bytes;
  }
  RelayScene silent;
  silent.peer.head_timeout = seconds(20);
  silent.script({{"{}", "", Script::Then::kSilence}});
  const auto before = silent.now();
  EXPECT_EQ(silent.post("{}").status, 504);
  EXPECT_GE(silent.now() - before, seconds(20));
}

TEST(Relay, an_engine_that_falls_silent_within_an_answer_breaks_it) {
  RelayScene scene;
  scene.peer.idle_timeout = seconds(40);
  const Wire wire = event_stream(true);
  scene.script({{"{}", wire.bytes.substr(0, wire.head + 4 + 15), Script::Then::kSilence}});
  const Answer answer = scene.post("{}");
  EXPECT_TRUE(answer.cut);
  ASSERT_EQ(answer.events().size(), 2U) << answer.body;
  EXPECT_NE(answer.events()[1].find("no answer in time"), std::string::npos);
}

TEST(Relay, a_kept_connection_that_the_engine_had_closed_costs_nothing) {
  RelayScene scene;
  scene.script(
      {{"{}", ok_answer(), Script::Then::kClose}, {"{}", ok_answer(), Script::Then::kClose}});
  scene.run([](HttpCaller& c) -> Task<void> {
    for (int i = 0; i < 2; ++i) {
      const auto answer = co_await c.post(kChat, "{}");
      EXPECT_EQ(answer.status, 200) << answer.body;
      EXPECT_EQ(answer.body, "hi");
    }
  });
}

TEST(Relay, a_client_that_hangs_up_ends_the_request_at_the_engine_at_once) {
  for (const bool within_answer : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      SCOPED_TRACE(::testing::Message()
                   << "seed " << seed << (within_answer ? " within" : " before"));
      RelayScene scene(seed);
      base::CancelSignal hang_up;
      std::optional<base::MonoTime> hung_up;
      std::optional<base::MonoTime> told;
      scene.engine(
          [&](const net::Request&, net::Responder& answer, base::CancelSignal& gone) -> Task<void> {
            const base::CancelHook hook(gone, [&] { told = scene.now(); });
            if (within_answer) {
              (void)answer.begin_stream(200, "text/event-stream");
              (void)co_await answer.write("data: 1\n\n");
            }
            for (int i = 0; i < 1000 && !told; ++i)
              co_await base::sleep_for(scene.world.executor, milliseconds(10));
          });
      scene.run([&](HttpCaller& c) -> Task<void> {
        c.hang_up = &hang_up;
        base::Timer timer;
        timer.arm(scene.world.executor.timers(), scene.now() + milliseconds(500), [&] {
          hung_up = scene.now();
          hang_up.fire("enough");
        });
        const auto answer = co_await c.post(kChat, "{}");
        EXPECT_TRUE(answer.cut);
        EXPECT_EQ(answer.status, within_answer ? 200 : 0);
      });
      ASSERT_TRUE(told && hung_up);
      EXPECT_LE(*told - *hung_up, milliseconds(5));
    }
  }
}

TEST(Relay, the_head_does_not_wait_for_the_body) {
  RelayScene scene;
  scene.engine([&](const net::Request&, net::Responder& answer, base::CancelSignal&) -> Task<void> {
    (void)answer.begin_stream(200, "text/event-stream");
    (void)co_await answer.flush_head();
    co_await base::sleep_for(scene.world.executor, seconds(5));
    (void)co_await answer.end("data: 1\n\n");
  });
  scene.run([&](HttpCaller&) -> Task<void> {
    const auto before = scene.now();
    net::HttpClient http(scene.world.runtime);
    net::ClientRequest request;
    request.endpoint = {"gateway", scene.port, false};
    request.method = "POST";
    request.target = kChat;
    {
      auto response = co_await http.request(request, base::kNever);
      EXPECT_LT(scene.now() - before, seconds(1));
      auto body = co_await response->read_all(100);
      EXPECT_EQ(*body, "data: 1\n\n");
    }
    co_await http.stop();
  });
}

TEST(Relay, answers_without_a_body_and_old_clients_keep_their_framing) {
  RelayScene scene;
  scene.script(
      {{"\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n", Script::Then::kClose},
       {"{}", "HTTP/1.1 204 No Content\r\n\r\n", Script::Then::kClose},
       {"{}", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        Script::Then::kClose}});
  scene.run([&](HttpCaller& c) -> Task<void> {
    const auto head = co_await c.call("HEAD", "/v1/models");
    EXPECT_EQ(head.header("content-length"), "1234");
    EXPECT_FALSE(head.cut);
    const auto none = co_await c.post(kChat, "{}");
    EXPECT_EQ(none.status, 204);
    EXPECT_FALSE(none.cut);
    RawClient old(scene.world.runtime);
    co_await old.connect(scene.port);
    co_await old.send("POST /v1/chat/completions HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}");
    const auto answer = co_await old.read_to_end();
    EXPECT_TRUE(answer.ends_with("\r\n\r\nhi")) << answer;
    EXPECT_EQ(answer.find("chunked"), std::string::npos) << answer;
    co_await old.close();
  });
}

TEST(Relay, ready_means_that_the_engine_lists_models) {
  RelayScene scene;
  bool well = true;
  scene.engine([&](const net::Request&, net::Responder& answer, base::CancelSignal&) -> Task<void> {
    (void)co_await answer.send(well ? 200 : 503, "application/json", R"({"data":[]})");
  });
  scene.run([&](HttpCaller& c) -> Task<void> {
    auto answer = co_await c.get("/ready");
    EXPECT_EQ(answer.status, 200);
    well = false;
    answer = co_await c.get("/ready");
    EXPECT_EQ(answer.status, 503);
    answer = co_await c.get("/health");
    EXPECT_EQ(answer.status, 200);
  });
}

TEST(Relay, the_limits_of_the_server_hold) {
  RelayScene scene;
  scene.server.limits.body_bytes = 100;
  scene.run([](HttpCaller& c) -> Task<void> {
    auto answer = co_await c.post(kChat, std::string(101, ' '));
    EXPECT_EQ(answer.status, 413);
    c.headers.add("X-Big", std::string(70'000, 'x'));
    answer = co_await c.post(kChat, "{}");
    EXPECT_EQ(answer.status, 431);
  });
}

}  // namespace
}  // namespace verbatim::api
