// What GET /metrics says of requests that were answered, refused and given up.
#include "api/monitoring.h"

#include <gtest/gtest.h>

#include "api/testing/gateway_on_sim.h"

namespace verbatim::api {
namespace {

using base::Task;
using std::chrono::seconds;
using testing::Answer;
using testing::ask;
using testing::ask_with;
using testing::GatewayOnSim;
using testing::HttpCaller;
using testing::message;

const std::string kTexts = R"({"text":"one"})";
const std::string kKeys = "alice key-of-alice-0123456789\nbob key-of-bob-0123456789\n";

// The value behind a series; "" where there is none.
std::string value_of(const Answer& metrics, const std::string& series) {
  const auto at = ("\n" + metrics.body).find("\n" + series + " ");
  if (at == std::string::npos) return "";
  const auto begin = at + series.size() + 1;
  return metrics.body.substr(begin, metrics.body.find('\n', begin) - begin);
}

std::string requests(std::string_view door, std::string_view outcome) {
  return "verbatim_turn_requests_total{protocol=\"chat\",door=\"" + std::string(door) +
         "\",outcome=\"" + std::string(outcome) + "\"}";
}

std::string committed(std::string_view mode, std::string_view attach, std::string_view reason) {
  return "verbatim_turns_committed_total{mode=\"" + std::string(mode) + "\",attach=\"" +
         std::string(attach) + "\",reason=\"" + std::string(reason) + "\"}";
}

TEST(Monitoring, turns_are_counted_by_door_outcome_and_place) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"one"})", R"({"text":"two"})", R"({"text":"three"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto made = co_await c.post("/sessions", R"({"mode":"linear"})");
    const std::string chat = "/sessions/" + made.text("session_id") + "/v1/chat/completions";
    (void)co_await c.post(chat, ask(message("user", "a")));
    (void)co_await c.post(chat, ask_with(",\"stream\":true", message("user", "a"),
                                         message("assistant", "one"), message("user", "b")));
    (void)co_await c.post("/v1/chat/completions", ask(message("user", "a")));
    (void)co_await c.post("/v1/chat/completions", "{");
    (void)co_await c.post("/sessions/none/v1/chat/completions", ask(message("user", "a")));
    const auto seen = co_await c.get("/metrics");
    EXPECT_EQ(seen.status, 200);
    EXPECT_EQ(seen.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    EXPECT_EQ(value_of(seen, requests("path", "answered")), "2");
    EXPECT_EQ(value_of(seen, requests("none", "answered")), "1");
    EXPECT_EQ(value_of(seen, requests("none", "refused")), "1");
    EXPECT_EQ(value_of(seen, requests("path", "refused")), "1");
    EXPECT_EQ(value_of(seen, committed("linear", "root", "first")), "1");
    EXPECT_EQ(value_of(seen, committed("linear", "child", "history")), "1");
    EXPECT_EQ(value_of(seen, committed("tree", "root", "first")), "1");
    EXPECT_EQ(value_of(seen, "verbatim_turn_requests_running"), "0");
    EXPECT_EQ(value_of(seen, "verbatim_turn_stage_seconds_count{stage=\"commit\"}"), "3");
    EXPECT_EQ(value_of(seen, "verbatim_turn_stage_seconds_count{stage=\"read\"}"), "5");
    EXPECT_EQ(value_of(seen, "verbatim_turn_request_seconds_count"), "5");
    EXPECT_EQ(value_of(seen, "verbatim_http_answers_total{code=\"200\"}"), "4");
    EXPECT_EQ(value_of(seen, "verbatim_http_answers_total{code=\"404\"}"), "1");
    EXPECT_EQ(value_of(seen, "verbatim_http_connections"), "1");
    EXPECT_NE(seen.body.find("verbatim_engine_info{kind=\"sglang\",mode=\"generate\",version="),
              std::string::npos);
  });
}

TEST(Monitoring, ids_are_counted_as_the_client_is_told) {
  GatewayOnSim gateway;
  gateway.script({kTexts});
  gateway.run([](HttpCaller& c) -> Task<void> {
    const auto answer = co_await c.post("/v1/chat/completions", ask(message("user", "a")));
    const auto seen = co_await c.get("/metrics");
    EXPECT_EQ(value_of(seen, "verbatim_prompt_tokens_total"),
              answer.text("usage", "prompt_tokens"));
    EXPECT_EQ(value_of(seen, "verbatim_rendered_prompt_tokens_total"),
              answer.text("usage", "prompt_tokens"));
    EXPECT_EQ(value_of(seen, "verbatim_sampled_tokens_total"),
              answer.text("usage", "completion_tokens"));
  });
}

TEST(Monitoring, a_client_that_hangs_up_is_counted_as_aborted_and_nothing_runs_on) {
  for (const char* more : {"", ",\"stream\":true"}) {
    GatewayOnSim gateway;
    gateway.script({R"({"text":"one two three","token_delay_ms":1000})"});
    gateway.run([&](HttpCaller& c) -> Task<void> {
      base::CancelSignal hang_up;
      base::Timer later;
      later.arm(gateway.world.executor.timers(), gateway.in(std::chrono::milliseconds(2500)),
                [&] { hang_up.fire("gone"); });
      HttpCaller leaving(gateway.world.runtime, gateway.port);
      leaving.hang_up = &hang_up;
      (void)co_await leaving.post("/v1/chat/completions", ask_with(more, message("user", "a")));
      co_await base::sleep_for(gateway.world.executor, seconds(1));
      const auto seen = co_await c.get("/metrics");
      EXPECT_EQ(value_of(seen, requests("none", "aborted")), "1") << more;
      EXPECT_EQ(value_of(seen, "verbatim_turn_requests_running"), "0");
      EXPECT_EQ(value_of(seen, committed("tree", "root", "first")), "0");
      co_await leaving.stop();
    });
  }
}

TEST(Monitoring, a_turn_whose_session_is_deleted_is_counted_as_that) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"one two three","token_delay_ms":5000})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto made = co_await c.post("/sessions", "{}");
    const std::string session = "/sessions/" + made.text("session_id");
    HttpCaller other(gateway.world.runtime, gateway.port);
    base::spawn([](HttpCaller& by, std::string path) -> Task<void> {
      (void)co_await by.post(path, ask(message("user", "a")));
    }(other, session + "/v1/chat/completions"));
    co_await base::sleep_for(gateway.world.executor, seconds(3));
    const auto before = co_await c.get("/metrics");
    EXPECT_EQ(value_of(before, "verbatim_turn_requests_running"), "1");
    (void)co_await c.call("DELETE", session);
    co_await base::sleep_for(gateway.world.executor, seconds(1));
    const auto seen = co_await c.get("/metrics");
    EXPECT_EQ(value_of(seen, requests("path", "deleted")), "1");
    EXPECT_EQ(value_of(seen, "verbatim_turn_requests_running"), "0");
    co_await other.stop();
  });
}

TEST(Monitoring, metrics_need_an_operators_key_where_there_are_keys) {
  GatewayOnSim gateway;
  const auto keys = gateway::ApiKeys::read(kKeys).value();
  gateway.options.keys = &keys;
  gateway.run([](HttpCaller& c) -> Task<void> {
    EXPECT_EQ((co_await c.get("/metrics")).status, 401);
    c.headers.add("Authorization", "Bearer vbs_a_secret_of_some_session");
    EXPECT_EQ((co_await c.get("/metrics")).status, 401);
    c.headers = {};
    c.headers.add("Authorization", "Bearer key-of-bob-0123456789");
    EXPECT_EQ((co_await c.get("/metrics")).status, 200);
    EXPECT_EQ((co_await c.post("/metrics", "")).status, 405);
  });
}

TEST(Monitoring, a_scraper_that_asks_for_openmetrics_gets_it) {
  GatewayOnSim gateway;
  gateway.run([](HttpCaller& c) -> Task<void> {
    c.headers.add("Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5");
    const auto seen = co_await c.get("/metrics");
    EXPECT_TRUE(seen.header("content-type").starts_with("application/openmetrics-text"));
    EXPECT_TRUE(seen.body.ends_with("# EOF\n"));
  });
}

// Several instances, as of several threads, are one program.
TEST(Monitoring, instances_that_share_it_are_added_up) {
  base::sim::SimWorld world(3);
  Monitoring monitoring(world.files);
  gateway::TurnMetrics one(monitoring.metrics());
  gateway::TurnMetrics two(monitoring.metrics());
  one.began();
  two.began();
  EXPECT_EQ(monitoring.metrics().value(gateway::kTurnsRunningMetric), 2);
}

}  // namespace
}  // namespace verbatim::api
