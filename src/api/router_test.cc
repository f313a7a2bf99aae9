#include "api/router.h"

#include <set>

#include <gtest/gtest.h>

#include "api/testing/gateway_on_sim.h"
#include "net/testing/raw_client.h"

namespace verbatim::api {
namespace {

using base::Task;
using testing::ask;
using testing::GatewayOnSim;
using testing::HttpCaller;
using testing::message;

TEST(Router, unknown_paths_are_404_in_the_shape_of_the_protocol) {
  GatewayOnSim gateway;
  gateway.run([](HttpCaller& c) -> Task<void> {
    for (const char* path : {"/", "/v1", "/v1/chat", "/v1/completions", "/sessions/",
                             "/sessions/a/", "/sessions//v1/chat/completions", "/sessions/a/b",
                             "/sessions/a/v1/chat/completions/x", "/healthy"}) {
      const auto answer = co_await c.post(path, "{}");
      EXPECT_EQ(answer.status, 404) << path;
      EXPECT_EQ(answer.text("error", "type"), "not_found_error") << path;
      EXPECT_NE(answer.text("error", "message").find(path), std::string::npos);
    }
  });
}

TEST(Router, known_paths_with_another_method_are_405_with_allow) {
  struct Row {
    const char* method;
    const char* path;
    const char* allow;
  };
  GatewayOnSim gateway;
  gateway.run([](HttpCaller& c) -> Task<void> {
    const std::vector<Row> rows{{"POST", "/health", "GET"},
                                {"DELETE", "/v1/models", "GET"},
                                {"GET", "/v1/chat/completions", "POST"},
                                {"HEAD", "/v1/chat/completions", "POST"},
                                {"PUT", "/sessions/a", "GET, DELETE"},
                                {"PUT", "/sessions", "GET, POST"},
                                {"POST", "/sessions/a/tree", "GET"},
                                {"GET", "/sessions/a/v1/chat/completions", "POST"}};
    for (const auto& row : rows) {
      const auto answer = co_await c.call(row.method, row.path);
      EXPECT_EQ(answer.status, 405) << row.method << " " << row.path;
      EXPECT_EQ(answer.header("allow"), row.allow) << row.path;
    }
  });
}

TEST(Router, head_is_a_get_without_its_body) {
  GatewayOnSim gateway;
  gateway.run([](HttpCaller& c) -> Task<void> {
    const auto head = co_await c.call("HEAD", "/health");
    const auto get = co_await c.get("/health");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.body, "");
    EXPECT_EQ(get.text("status"), "ok");
    EXPECT_EQ(head.header("content-length"), std::to_string(get.body.size()));
  });
}

TEST(Router, ready_means_that_turns_would_be_kept) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    gateway.store.takes_none =
        base::error(base::ErrorKind::kUnavailable, "the store can't write (disk full)");
    const auto no = co_await c.get("/ready");
    EXPECT_EQ(no.status, 503);
    EXPECT_EQ(no.text("error", "message"), "the store can't write (disk full)");
    gateway.store.takes_none.reset();
    const auto yes = co_await c.get("/ready");
    EXPECT_EQ(yes.status, 200) << yes.body;
  });
}

TEST(Router, ready_means_that_the_engine_made_a_token) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto yes = co_await c.get("/ready");
    EXPECT_EQ(yes.status, 200) << yes.body;
    gateway.engine->set_healthy(false);
    const auto no = co_await c.get("/ready");
    EXPECT_EQ(no.status, 503);
    EXPECT_NE(no.text("error", "message").find("does not answer"), std::string::npos);
    const auto health = co_await c.get("/health");
    EXPECT_EQ(health.status, 200) << "the gateway itself is well";
  });
}

TEST(Router, models_lists_the_served_one_with_its_context) {
  GatewayOnSim gateway;
  gateway.engine_options.max_model_len = 4321;
  gateway.learns = false;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto before = co_await c.get("/v1/models");
    EXPECT_EQ(before.text("data", 0, "id"), "toy");
    EXPECT_EQ(before.text("data", 0, "max_model_len"), "") << "nobody knows yet";
    const auto probe = co_await gateway.instance->learn(gateway.in(std::chrono::seconds(5)));
    EXPECT_TRUE(probe.ok());
    const auto after = co_await c.get("/v1/models");
    EXPECT_EQ(after.text("data", 0, "max_model_len"), "4321");
  });
}

TEST(Router, a_session_is_made_read_and_deleted) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto made = co_await c.post("/sessions", "");
    EXPECT_EQ(made.status, 200);
    const std::string id = made.text("session_id");
    EXPECT_EQ(id.size(), 32U);
    const auto read = co_await c.get("/sessions/" + id);
    EXPECT_EQ(read.status, 200);
    EXPECT_EQ(read.text("session_id"), id);
    EXPECT_EQ(read.text("records"), "[]");
    const auto turn =
        co_await c.post("/sessions/" + id + "/v1/chat/completions", ask(message("user", "q")));
    EXPECT_EQ(turn.status, 200) << turn.body;
    const auto deleted = co_await c.call("DELETE", "/sessions/" + id);
    EXPECT_EQ(deleted.status, 204);
    EXPECT_EQ(deleted.body, "");
    for (const char* method : {"GET", "DELETE"}) {
      const auto gone = co_await c.call(method, "/sessions/" + id);
      EXPECT_EQ(gone.status, 404);
      EXPECT_NE(gone.text("error", "message").find("session_id=" + id), std::string::npos);
    }
    const auto late =
        co_await c.post("/sessions/" + id + "/v1/chat/completions", ask(message("user", "q")));
    EXPECT_EQ(late.status, 404);
    EXPECT_EQ(gateway.store.dump(), "");
    const auto file = gateway.world.files.read("records/" + id + ".jsonl", 1 << 20);
    EXPECT_TRUE(file.ok());
    if (file) {
      EXPECT_NE(file->find("\"reason\":\"deleted\""), std::string::npos);
    }
  });
}

TEST(Router, reading_a_session_changes_nothing) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto made = co_await c.post("/sessions", "");
    const std::string path = "/sessions/" + made.text("session_id");
    (void)co_await c.post(path + "/v1/chat/completions", ask(message("user", "q")));
    const std::string before = gateway.store.dump();
    const auto one = co_await c.get(path);
    const auto two = co_await c.get(path);
    EXPECT_EQ(one.body, two.body);
    EXPECT_EQ(gateway.store.dump(), before);
  });
}

TEST(Router, an_admin_path_of_the_engine_is_not_passed_on) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    for (const char* path :
         {"/sessions/unknown/abort_request", "/abort_request", "/sessions/unknown/generate"}) {
      const auto answer = co_await c.post(path, "{\"rid\":\"\",\"abort_all\":true}");
      EXPECT_EQ(answer.status, 404) << path;
    }
    EXPECT_EQ(gateway.engine->stats().abort_calls, 0U);
    EXPECT_EQ(gateway.engine->stats().requests, 0U);
  });
}

TEST(Router, every_answer_has_one_server_and_one_date) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"fine"})", R"({"status":429,"headers":{"server":"x","date":"y"},)"
                                        R"("body":{"error":{"message":"slow down"}}})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto turn = ask(message("user", "q"));
    const auto fine = co_await c.post("/v1/chat/completions", turn);
    const auto refused = co_await c.post("/v1/chat/completions", turn);
    const auto missing = co_await c.get("/nowhere");
    EXPECT_EQ(refused.status, 429);
    for (const auto* answer : {&fine, &refused, &missing}) {
      EXPECT_EQ(answer->headers.count("server"), 1U);
      EXPECT_EQ(answer->headers.count("date"), 1U);
      EXPECT_EQ(answer->header("server"), "verbatim");
    }
  });
}

TEST(Router, every_answer_has_one_request_id_whoever_makes_it) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"fine"})", R"({"text":"fine"})",
                  R"({"status":429,"headers":{"x-request-id":"up-1"},)"
                  R"("body":{"error":{"message":"slow down"}}})",
                  R"({"status":500,"body":"flat"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto turn = ask(message("user", "q"));
    std::vector<testing::Answer> answers;
    for (const bool stream : {false, true}) {
      const auto body = stream ? testing::ask_with(",\"stream\":true", message("user", "q")) : turn;
      answers.push_back(co_await c.post("/v1/chat/completions", body));
      EXPECT_EQ(answers.back().status, 200);
    }
    answers.push_back(co_await c.post("/v1/chat/completions", turn));
    EXPECT_EQ(answers.back().status, 429);
    EXPECT_EQ(answers.back().header("x-engine-request-id"), "up-1");
    answers.push_back(co_await c.post("/v1/chat/completions", turn));
    answers.push_back(co_await c.post("/v1/chat/completions", "{"));
    EXPECT_EQ(answers.back().status, 400);
    answers.push_back(co_await c.post("/sessions/none/v1/chat/completions", turn));
    answers.push_back(co_await c.get("/nowhere"));
    answers.push_back(co_await c.call("PUT", "/sessions"));
    answers.push_back(co_await c.post("/sessions", "{}"));
    answers.push_back(co_await c.get("/health"));
    answers.push_back(co_await c.get("/metrics"));
    std::set<std::string> ids;
    for (const auto& answer : answers) {
      EXPECT_EQ(answer.headers.count("x-request-id"), 1U) << answer.status << answer.body;
      EXPECT_TRUE(answer.header("x-request-id").starts_with("req_")) << answer.status;
      ids.insert(std::string(answer.header("x-request-id")));
    }
    EXPECT_EQ(ids.size(), answers.size());
    c.headers.add("X-Request-Id", "client-9");
    const auto missing = co_await c.get("/nowhere");
    EXPECT_EQ(missing.header("x-request-id"), "client-9");
  });
}

}  // namespace
}  // namespace verbatim::api
