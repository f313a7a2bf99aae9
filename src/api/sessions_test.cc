// Sessions over HTTP: what they are made with, who comes in by which door, and what runs in them.
#include <set>

#include <gtest/gtest.h>

#include "api/router.h"
#include "api/testing/gateway_on_sim.h"
#include "base/timer.h"
#include "engine/testing/proofs.h"

namespace verbatim::api {
namespace {

using base::Task;
using testing::Answer;
using testing::ask;
using testing::ask_with;
using testing::GatewayOnSim;
using testing::HttpCaller;
using testing::message;

constexpr const char* kAnn = "Bearer ann-key-0123456789";
constexpr const char* kBob = "Bearer bob-key-0123456789";

gateway::ApiKeys keys() {
  return gateway::ApiKeys::read("ann ann-key-0123456789\nbob bob-key-0123456789\n").value();
}

// A client that shows a key, or names its session in a header.
Task<Answer> with(HttpCaller& c, std::string name, std::string value, std::string method,
                  std::string path, std::string body = "") {
  const net::Headers before = c.headers;
  c.headers.set(name, value);
  auto answer = co_await c.call(method, path, body);
  c.headers = before;
  co_return answer;
}

Task<std::string> make_session(HttpCaller& c, std::string body) {
  const auto made = co_await c.post("/sessions", body);
  EXPECT_EQ(made.status, 200) << made.body;
  co_return made.text("session_id");
}

std::string chat_of(const std::string& id) {
  return "/sessions/" + id + "/v1/chat/completions";
}

TEST(Sessions, options_are_kept_and_shown) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make_session(
        c, R"({"mode":"linear","limits":{"turns":3},"metadata":{"run":"r1"}})");
    const auto read = co_await c.get("/sessions/" + id);
    EXPECT_EQ(read.text("session", "options", "mode"), "linear");
    EXPECT_EQ(read.text("session", "options", "limits", "turns"), "3");
    EXPECT_EQ(read.text("session", "metadata", "run"), "r1");
    EXPECT_EQ(read.text("session", "turns"), "0");
    const auto tree = co_await c.get("/sessions/" + id + "/tree");
    EXPECT_EQ(tree.status, 200);
    EXPECT_EQ(tree.text("nodes"), "[]");
    const auto missing = co_await c.get("/sessions/nowhere/tree");
    EXPECT_EQ(missing.status, 404);
  });
}

TEST(Sessions, an_option_that_the_engine_would_refuse_in_each_turn_makes_no_session) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string before = gateway.store.dump();
    const auto refused =
        co_await c.post("/sessions", R"({"sampling":{"stop_token_ids":[4000000000]}})");
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_EQ(refused.text("error", "param").substr(0, 23), "sampling.stop_token_ids")
        << refused.body;
    EXPECT_EQ(gateway.store.dump(), before);
    (void)co_await make_session(c, R"({"sampling":{"stop_token_ids":[5]}})");
  });
}

TEST(Sessions, a_wrong_option_makes_no_session) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string before = gateway.store.dump();
    const std::vector<std::string> bodies{R"({"mode":"graph"})", R"({"moed":"tree"})", "[1]", "{"};
    for (const auto& body : bodies) {
      const auto refused = co_await c.post("/sessions", body);
      EXPECT_EQ(refused.status, 400) << body;
      EXPECT_EQ(refused.text("error", "type"), "invalid_request_error");
    }
    EXPECT_EQ(gateway.store.dump(), before);
  });
}

TEST(Sessions, are_listed_page_by_page_and_reading_changes_nothing) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    std::vector<std::string> ids;
    for (int i = 0; i < 5; ++i) ids.push_back(co_await make_session(c, "{}"));
    const auto turn = ask(message("user", "q"));
    (void)co_await c.post("/v1/chat/completions", turn);
    const std::string before = gateway.store.dump();
    std::vector<std::string> seen;
    std::string after = "0";
    for (int page = 0; page < 3; ++page) {
      const auto list = co_await c.get("/sessions?limit=2&after=" + after);
      EXPECT_EQ(list.status, 200) << list.body;
      for (int i = 0; i < 2; ++i) {
        const std::string id = list.text("data", i, "session_id");
        if (!id.empty()) seen.push_back(id);
      }
      EXPECT_EQ(list.text("has_more"), page < 2 ? "true" : "false");
      after = list.text("next");
    }
    EXPECT_EQ(seen, ids);
    const auto all = co_await c.get("/sessions?implicit=true");
    EXPECT_NE(all.text("data", 5, "session_id"), "") << "stateless chat, on request";
    const std::vector<std::string> wrong{"limit=0",  "limit=1001", "limit=x",
                                         "after=-1", "implicit=1", "page=2",
                                         "limit",    "limit=%",    "%zz=1"};
    for (const auto& query : wrong) {
      const auto refused = co_await c.get("/sessions?" + query);
      EXPECT_EQ(refused.status, 400) << query;
    }
    // Of equal names the last counts, as in a body.
    const auto last = co_await c.get("/sessions?limit=x&limit=1&limit=3&implicit=7&implicit=false");
    EXPECT_EQ(last.status, 200) << last.body;
    EXPECT_NE(last.text("data", 2, "session_id"), "");
    EXPECT_EQ(last.text("data", 3, "session_id"), "");
    const auto escaped = co_await c.get("/sessions?%6cimit=%33&implicit=false");
    EXPECT_EQ(escaped.text("data", 2, "session_id"), last.text("data", 2, "session_id"));
    EXPECT_EQ(escaped.text("data", 3, "session_id"), "");
    const auto wrong_last = co_await c.get("/sessions?limit=3&limit=x");
    EXPECT_EQ(wrong_last.status, 400);
    EXPECT_EQ(gateway.store.dump(), before);
  });
}

TEST(Sessions, an_agent_cannot_override_what_a_session_fixes) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make_session(
        c, R"({"sampling":{"temperature":0.25,"max_tokens":7},"chat_template_kwargs":{"x":1}})");
    const auto body =
        ask_with(R"(,"temperature":2,"max_completion_tokens":1,"top_p":0.5)", message("user", "q"));
    const auto answer = co_await c.post(chat_of(id), body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto turns = (co_await gateway.store.turns(id)).value();
    EXPECT_EQ(turns.at(0)->sampling.temperature, 0.25);
    EXPECT_EQ(turns.at(0)->sampling.top_p, 0.5);
    EXPECT_EQ(turns.at(0)->max_new_tokens, 7U);
    EXPECT_EQ(turns.at(0)->template_kwargs, R"({"x":1})");
  });
}

TEST(Sessions, a_limit_that_is_reached_is_told_and_changes_nothing) {
  struct Row {
    const char* options;
    const char* named;
  };
  const std::vector<Row> rows{{R"({"limits":{"turns":1}})", "limits.turns"},
                              {R"({"limits":{"tokens":40}})", "limits.tokens"},
                              {R"({"limits":{"bytes":1}})", "limits.bytes"},
                              {R"({"limits":{"seconds":1}})", "limits.seconds"}};
  for (const auto& row : rows) {
    GatewayOnSim gateway;
    gateway.run([&](HttpCaller& c) -> Task<void> {
      const std::string id = co_await make_session(c, row.options);
      const auto body = ask(message("user", "q"));
      const auto first = co_await c.post(chat_of(id), body);
      EXPECT_EQ(first.status, 200) << row.options << first.body;
      co_await base::sleep_for(gateway.world.executor, std::chrono::seconds(2));
      for (int i = 0; i < 8; ++i) {
        const std::string before = gateway.store.dump();
        const auto refused = co_await c.post(chat_of(id), body);
        if (refused.status == 200) continue;  // tokens: some are left
        EXPECT_EQ(refused.status, 400) << row.options;
        EXPECT_EQ(refused.text("error", "code"), "session_limit");
        EXPECT_NE(refused.text("error", "message").find(row.named), std::string::npos)
            << refused.body;
        EXPECT_EQ(gateway.store.dump(), before);
        co_return;
      }
      ADD_FAILURE() << row.options << " was never reached";
    });
  }
}

TEST(Sessions, a_secret_leads_an_unmodified_client_into_its_session) {
  GatewayOnSim gateway;
  const auto known = keys();
  for (const bool with_keys : {false, true}) {
    gateway.options.keys = with_keys ? &known : nullptr;
    gateway.run([&](HttpCaller& c) -> Task<void> {
      const auto made =
          co_await with(c, "Authorization", kAnn, "POST", "/sessions", R"({"secret":true})");
      const std::string id = made.text("session_id");
      const std::string secret = "Bearer " + made.text("secret");
      EXPECT_GT(secret.size(), 40U) << made.body;
      const auto body = ask(message("user", "q"));
      const auto turn =
          co_await with(c, "Authorization", secret, "POST", "/v1/chat/completions", body);
      EXPECT_EQ(turn.status, 200) << turn.body;
      EXPECT_EQ((co_await gateway.store.turns(id)).value().size(), 1U);
      const auto own = co_await with(c, "Authorization", secret, "POST", chat_of(id), body);
      EXPECT_EQ(own.status, 200);
      const auto read = co_await with(c, "Authorization", secret, "GET", "/sessions/" + id);
      EXPECT_EQ(read.status, 401) << "it opens the chat alone";
      const auto removed = co_await with(c, "Authorization", secret, "DELETE", "/sessions/" + id);
      EXPECT_EQ(removed.status, 401);
      const auto list = co_await with(c, "Authorization", secret, "GET", "/sessions");
      EXPECT_EQ(list.status, 401);
      const auto other = co_await with(c, "Authorization", kAnn, "POST", "/sessions", "{}");
      const auto strange = co_await with(c, "Authorization", secret, "POST",
                                         chat_of(other.text("session_id")), body);
      EXPECT_EQ(strange.status, 404) << "no other session of its owner";
      const auto shown = co_await with(c, "Authorization", kAnn, "GET", "/sessions/" + id);
      EXPECT_EQ(shown.body.find(made.text("secret")), std::string::npos);
      EXPECT_EQ(gateway.store.dump().find(made.text("secret")), std::string::npos);
      (void)co_await with(c, "Authorization", kAnn, "DELETE", "/sessions/" + id);
      const auto late =
          co_await with(c, "Authorization", secret, "POST", "/v1/chat/completions", body);
      EXPECT_EQ(late.status, 401) << "not stateless chat";
    });
  }
}

TEST(Sessions, owners_do_not_see_each_other) {
  GatewayOnSim gateway;
  const auto known = keys();
  gateway.options.keys = &known;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto made = co_await with(c, "Authorization", kAnn, "POST", "/sessions", "{}");
    const std::string path = "/sessions/" + made.text("session_id");
    const auto body = ask(message("user", "q"));
    const std::string before = gateway.store.dump();
    const auto nobody = co_await c.get(path);
    EXPECT_EQ(nobody.status, 401);
    EXPECT_EQ(nobody.text("error", "type"), "authentication_error");
    const auto health = co_await c.get("/health");
    EXPECT_EQ(health.status, 200) << "probes need no key";
    const std::vector<std::pair<std::string, std::string>> calls{
        {"GET", path},
        {"GET", path + "/tree"},
        {"GET", path + "/v1/models"},
        {"DELETE", path},
        {"POST", path + "/v1/chat/completions"}};
    for (const auto& [method, target] : calls) {
      const std::string sent = method == "POST" ? body : std::string();
      const auto other = co_await with(c, "Authorization", kBob, method, target, sent);
      EXPECT_EQ(other.status, 404) << method << " " << target;
    }
    const auto list = co_await with(c, "Authorization", kBob, "GET", "/sessions");
    EXPECT_EQ(list.text("data"), "[]");
    EXPECT_EQ(gateway.store.dump(), before);
    const auto own = co_await with(c, "Authorization", kAnn, "GET", path);
    EXPECT_EQ(own.status, 200);
  });
}

TEST(Sessions, a_header_names_a_session_per_owner_made_by_its_first_turn) {
  GatewayOnSim gateway;
  const auto known = keys();
  gateway.options.keys = &known;
  gateway.options.session_header = "X-Mine";
  gateway.script({R"({"text":"a"})", R"({"text":"b"})", R"({"text":"c"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto first = ask(message("user", "q"));
    const auto second = ask(message("user", "q"), message("assistant", "a"), message("user", "r"));
    for (const auto* body : {&first, &second}) {
      c.headers.set("X-Mine", "run-1");
      const auto turn =
          co_await with(c, "Authorization", kAnn, "POST", "/v1/chat/completions", *body);
      EXPECT_EQ(turn.status, 200) << turn.body;
    }
    const auto bob =
        co_await with(c, "Authorization", kBob, "POST", "/v1/chat/completions", second);
    EXPECT_EQ(bob.status, 200);
    c.headers.remove("X-Mine");
    const auto list = co_await with(c, "Authorization", kAnn, "GET", "/sessions?implicit=true");
    EXPECT_EQ(list.text("data", 0, "turns"), "2");
    EXPECT_EQ(list.text("data", 0, "metadata", "name"), "run-1");
    EXPECT_EQ(list.text("data", 1, "session_id"), "");
    const auto tree = co_await with(c, "Authorization", kAnn, "GET",
                                    "/sessions/" + list.text("data", 0, "session_id") + "/tree");
    EXPECT_EQ(tree.text("nodes", 1, "parent"), tree.text("nodes", 0, "id")) << tree.body;
    const auto others = co_await with(c, "Authorization", kBob, "GET", "/sessions?implicit=true");
    EXPECT_EQ(others.text("data", 0, "turns"), "1") << "another session of the same name";
    c.headers.set("X-Mine", "../../etc/passwd");
    const std::string before = gateway.store.dump();
    const auto hostile =
        co_await with(c, "Authorization", kAnn, "POST", "/v1/chat/completions", first);
    EXPECT_EQ(hostile.status, 400);
    EXPECT_EQ(gateway.store.dump(), before);
  });
}

// A conversation over midnight, of an agent that writes the date into its system text.
TEST(Sessions, an_agent_is_known_by_its_user_agent_unless_its_session_says_otherwise) {
  struct Row {
    const char* options;
    const char* user_agent;
    const char* attach;
    const char* restarted;
  };
  const std::vector<Row> rows{{"{}", "opencode/1.18.33 ai-sdk", "profile", "0"},
                              {"{}", "curl/8", "system", "1"},
                              {R"({"client_profile":"opencode"})", "curl/8", "profile", "0"},
                              {R"({"client_profile":"none"})", "opencode/1", "system", "1"},
                              {R"({"equality":"exact"})", "opencode/1", "system", "1"}};
  for (const auto& row : rows) {
    GatewayOnSim gateway;
    gateway.script({R"({"text":"a"})", R"({"text":"b"})"});
    gateway.run([&](HttpCaller& c) -> Task<void> {
      const std::string id = co_await make_session(c, row.options);
      const auto first = ask(message("system", "Today's date: Mon"), message("user", "q"));
      const auto second = ask(message("system", "Today's date: Tue"), message("user", "q"),
                              message("assistant", "a"), message("user", "r"));
      for (const auto* body : {&first, &second}) {
        const auto turn =
            co_await with(c, "User-Agent", row.user_agent, "POST", chat_of(id), *body);
        EXPECT_EQ(turn.status, 200) << turn.body;
      }
      const auto view = co_await c.get("/sessions/" + id);
      const auto tree = co_await c.get("/sessions/" + id + "/tree");
      EXPECT_EQ(tree.text("nodes", 1, "attach"), row.attach) << row.options << row.user_agent;
      EXPECT_EQ(tree.text("report", "restarted"), row.restarted);
      EXPECT_EQ(tree.text("report"), view.text("report"));
    });
  }
}

TEST(Sessions, a_profile_that_this_server_lacks_is_refused) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"a"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto unknown = co_await c.post("/sessions", R"({"client_profile":"cursor"})");
    EXPECT_EQ(unknown.status, 400);
    EXPECT_EQ(unknown.text("error", "param"), "client_profile");
    // A session of a server that knew another one.
    store::SessionSpec spec("s9", 5);
    spec.options = R"({"client_profile":"gone"})";
    (void)co_await gateway.store.create_session(spec);
    const std::string before = gateway.store.dump();
    const auto body = ask(message("user", "q"));
    const auto refused = co_await c.post(chat_of("s9"), body);
    EXPECT_EQ(refused.status, 400) << refused.body;
    EXPECT_NE(refused.body.find("claude-code"), std::string::npos) << refused.body;
    EXPECT_EQ(gateway.store.dump(), before);
  });
}

TEST(Sessions, one_line_runs_one_turn_at_a_time) {
  for (const char* mode : {"linear", "strict", "tree"}) {
    GatewayOnSim gateway;
    gateway.script({R"({"text":"one two three","delay_ms":2000})", R"({"text":"x"})"});
    gateway.run([&](HttpCaller& c) -> Task<void> {
      const std::string id = co_await make_session(c, std::string(R"({"mode":")") + mode + "\"}");
      Answer slow;
      bool done = false;
      base::spawn([](GatewayOnSim& g, std::string path, Answer& out, bool& over) -> Task<void> {
        HttpCaller other(g.world.runtime, g.port);
        out = co_await other.post(path, ask(message("user", "q")));
        co_await other.stop();
        over = true;
      }(gateway, chat_of(id), slow, done));
      co_await base::sleep_for(gateway.world.executor, std::chrono::milliseconds(500));
      const auto requests = gateway.engine->stats().requests;
      const auto body = ask(message("user", "q"));
      const auto second = co_await c.post(chat_of(id), body);
      const bool tree = std::string_view(mode) == "tree";
      EXPECT_EQ(second.status, tree ? 200 : 409) << mode << second.body;
      if (!tree) {
        EXPECT_EQ(second.text("error", "code"), "session_busy");
        EXPECT_EQ(gateway.engine->stats().requests, requests) << "the engine was not asked";
      }
      // NOLINTNEXTLINE(bugprone-infinite-loop): the other task sets it
      while (!done)
        co_await base::sleep_for(gateway.world.executor, std::chrono::milliseconds(100));
      EXPECT_EQ(slow.status, 200);
      EXPECT_EQ((co_await gateway.store.turns(id)).value().size(), tree ? 2U : 1U);
      if (tree) co_return;
      const auto again = co_await c.post(chat_of(id), body);
      EXPECT_EQ(again.status, std::string_view(mode) == "linear" ? 200 : 409)
          << "the reservation is over: " << again.body;
    });
  }
}

TEST(Sessions, the_line_is_free_again_whatever_became_of_a_turn) {
  GatewayOnSim gateway;
  gateway.script({R"({"status":500,"body":{"error":{"message":"no"}}})",
                  R"({"text":"a b c","delay_ms":60000})", R"({"text":"fine"})",
                  R"({"text":"more"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make_session(c, R"({"mode":"strict"})");
    const std::string before = gateway.store.dump();
    const auto question = ask(message("user", "q"));
    const auto failed = co_await c.post(chat_of(id), question);
    EXPECT_EQ(failed.status, 500);
    const auto wrong = ask(message("user", "q"), message("assistant", "a"));
    const auto refused = co_await c.post(chat_of(id), wrong);
    EXPECT_EQ(refused.status, 400) << refused.body;
    base::CancelSignal hang_up;
    base::Timer timer;
    timer.arm(gateway.world.executor.timers(), gateway.in(std::chrono::seconds(1)),
              [&] { hang_up.fire("the test hangs up"); });
    HttpCaller leaver(gateway.world.runtime, gateway.port);
    leaver.hang_up = &hang_up;
    (void)co_await leaver.post(chat_of(id), question);
    co_await leaver.stop();
    co_await base::sleep_for(gateway.world.executor, std::chrono::seconds(1));
    EXPECT_EQ(gateway.store.dump(), before);
    const auto good = co_await c.post(chat_of(id), question);
    EXPECT_EQ(good.status, 200) << good.body;
    const auto next = ask(message("user", "q"), message("assistant", "fine"), message("user", "r"));
    const auto more = co_await c.post(chat_of(id), next);
    EXPECT_EQ(more.status, 200) << more.body;
  });
}

TEST(Sessions, several_choices_are_siblings_with_their_index) {
  for (const bool streaming : {false, true}) {
    GatewayOnSim gateway;
    gateway.script({R"({"text":"red"})", R"({"text":"green"})", R"({"text":"blue"})"});
    gateway.run([&](HttpCaller& c) -> Task<void> {
      const std::string id = co_await make_session(c, "{}");
      const auto body =
          ask_with(streaming ? R"(,"n":3,"stream":true,"stream_options":{"include_usage":true})"
                             : R"(,"n":3)",
                   message("user", "q"));
      const auto answer = co_await c.post(chat_of(id), body);
      EXPECT_EQ(answer.status, 200) << answer.body;
      const auto turns = (co_await gateway.store.turns(id)).value();
      EXPECT_EQ(turns.size(), 3U);
      if (turns.size() != 3) co_return;
      std::vector<std::string> texts(3);
      if (streaming) {
        for (const auto& event : answer.events()) {
          const std::string index = Answer::text_at(event, {"choices", "0", "index"});
          if (!index.empty())
            texts[std::stoul(index)] +=
                Answer::text_at(event, {"choices", "0", "delta", "content"});
        }
        EXPECT_EQ(answer.events().back(), "[DONE]");
      } else {
        for (int i = 0; i < 3; ++i) texts[i] = answer.text("choices", i, "message", "content");
      }
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(turns[i]->choice, i);
        EXPECT_EQ(turns[i]->parent, nullptr);
        EXPECT_EQ(turns[i]->answer.text, texts[i]) << answer.body;
        EXPECT_EQ(turns[i]->row_size - turns[i]->completion.size(),
                  turns[0]->row_size - turns[0]->completion.size());
      }
      auto next = ask(message("user", "q"), message("assistant", "green"), message("user", "r"));
      const auto more = co_await c.post(chat_of(id), next);
      EXPECT_EQ(more.status, 200) << more.body;
      const auto all = (co_await gateway.store.turns(id)).value();
      EXPECT_EQ(all.back()->parent ? all.back()->parent->answer.text : "", "green");
    });
  }
}

// Whether the engine is told the seed by this side, or reads it in the request as it came.
TEST(Sessions, choices_have_seeds_of_their_own_with_each_kind_of_engine) {
  for (const auto& driven : engine::testing::all_driven()) {
    SCOPED_TRACE(driven.name());
    GatewayOnSim gateway;
    gateway.kind = driven.kind->name;
    gateway.mode = driven.mode->name;
    gateway.engine_options.model = "toy";
    gateway.engine_options.keeps_log = true;
    if (driven.by_messages()) {
      gateway.model = std::make_unique<gateway::Model>();
      gateway.model->name = "toy";
    }
    gateway.run([&](HttpCaller& c) -> Task<void> {
      const auto body = ask_with(R"(,"model":"toy","n":3,"seed":40)", message("user", "q"));
      const auto answer = co_await c.post("/v1/chat/completions", body);
      EXPECT_EQ(answer.status, 200) << answer.body;
      std::multiset<std::int64_t> seeds;
      for (const auto& served : gateway.engine->served()) seeds.insert(served.seed.value_or(-1));
      EXPECT_EQ(seeds, (std::multiset<std::int64_t>{40, 41, 42}));
    });
  }
}

TEST(Sessions, a_choice_that_fails_fails_the_request_and_leaves_no_trace) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"red"})", R"({"status":500,"body":{"error":{"message":"no"}}})",
                  R"({"text":"a b c d e f","delay_ms":60000})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make_session(c, "{}");
    const std::string before = gateway.store.dump();
    const auto start = gateway.world.executor.clock().now();
    const auto body = ask_with(R"(,"n":3)", message("user", "q"));
    const auto answer = co_await c.post(chat_of(id), body);
    EXPECT_EQ(answer.status, 500) << answer.body;
    EXPECT_EQ(gateway.store.dump(), before);
    EXPECT_LT(gateway.world.executor.clock().now(), start + std::chrono::seconds(30))
        << "the others are given up";
    const std::string line = co_await make_session(c, R"({"mode":"strict"})");
    const auto refused = co_await c.post(chat_of(line), body);
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(refused.text("error", "param"), "n");
  });
}

TEST(Sessions, ten_thousand_that_are_abandoned_are_all_there) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    constexpr std::size_t kMany = 10'000;
    std::set<std::string> made;
    for (std::size_t i = 0; i < kMany; ++i) made.insert(co_await make_session(c, "{}"));
    EXPECT_EQ(made.size(), kMany);
    std::string after = "0";
    while (!after.empty()) {
      const auto page = co_await c.get("/sessions?limit=1000&after=" + after);
      const auto parsed = json::Document::parse(page.body);
      const auto data = parsed->root().get("data");
      for (const auto& each : *data)
        EXPECT_EQ(made.erase(each.value.get("session_id")->string()), 1U);
      after = page.text("has_more") == "true" ? page.text("next") : "";
    }
    EXPECT_TRUE(made.empty());
  });
}

TEST(Sessions, a_hundred_branches_on_one_turn_are_told_apart) {
  GatewayOnSim gateway;
  std::vector<std::string> steps{R"({"text":"root"})"};
  for (int i = 0; i < 100; ++i) steps.push_back(R"({"text":"b)" + std::to_string(i) + "\"}");
  steps.push_back(R"({"text":"leaf"})");
  gateway.script(steps);
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make_session(c, "{}");
    auto body = ask(message("user", "q"));
    (void)co_await c.post(chat_of(id), body);
    const auto question = [](int i) { return message("user", "q" + std::to_string(i)); };
    for (int i = 0; i < 100; ++i) {
      body = ask(message("user", "q"), message("assistant", "root"), question(i));
      (void)co_await c.post(chat_of(id), body);
    }
    body = ask(message("user", "q"), message("assistant", "root"), question(42),
               message("assistant", "b42"), message("user", "on"));
    (void)co_await c.post(chat_of(id), body);
    const auto turns = (co_await gateway.store.turns(id)).value();
    EXPECT_EQ(turns.size(), 102U);
    if (turns.size() != 102) co_return;
    for (std::size_t i = 1; i <= 100; ++i) EXPECT_EQ(turns[i]->parent, turns[0]);
    EXPECT_EQ(turns.back()->parent, turns[43]);
    EXPECT_TRUE(turns.back()->attach.difference.has_value()) << "it is not behind the last turn";
  });
}

TEST(Sessions, only_known_paths_lead_into_a_session) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make_session(c, "{}");
    const auto models = co_await c.get("/sessions/" + id + "/v1/models");
    EXPECT_EQ(models.text("data", 0, "id"), "toy");
    const auto unknown = co_await c.get("/sessions/unknown/v1/models");
    EXPECT_EQ(unknown.status, 404);
    const auto asked = gateway.engine->stats().requests;
    const std::vector<std::string> paths{
        "/abort_request",       "/generate",
        "/flush_cache",         "/v1/embeddings",
        "/v1/../abort_request", "/v1/chat/completions/../../../abort_request"};
    const std::vector<std::string> methods{"GET", "POST", "PUT", "DELETE", "PATCH"};
    for (const auto& path : paths) {
      std::string target = "/sessions/" + id;
      target += path;
      for (const auto& method : methods) {
        const auto answer = co_await c.call(method, target, "{}");
        EXPECT_TRUE(answer.status == 404 || answer.status == 405) << method << path;
      }
    }
    EXPECT_EQ(gateway.engine->stats().requests, asked);
    EXPECT_EQ(gateway.engine->stats().abort_calls, 0U);
  });
}

}  // namespace
}  // namespace verbatim::api
