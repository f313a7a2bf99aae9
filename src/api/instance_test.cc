// The whole gateway against a simulated engine: what clients, engines and networks do to it.
#include "api/instance.h"

#include <gtest/gtest.h>

#include "api/testing/gateway_on_sim.h"
#include "chat/testing/toy_chat.h"
#include "trajectory/turn.h"

namespace verbatim::api {
namespace {

using base::Task;
using std::chrono::seconds;
using testing::Answer;
using testing::ask;
using testing::ask_with;
using testing::chat_body;
using testing::GatewayOnSim;
using testing::HttpCaller;
using testing::message;
using testing::Node;
using testing::nodes;
using Messages = std::vector<std::string>;

const std::string kSession = "/sessions/s";
const std::string kChat = "/sessions/s/v1/chat/completions";

// Runs `body` in a session "s" of a gateway whose engine samples the texts of `steps`.
void in_session(const Messages& steps,
                const std::function<Task<void>(GatewayOnSim&, HttpCaller&)>& body,
                const std::function<void(GatewayOnSim&)>& set = {}) {
  GatewayOnSim gateway;
  if (!steps.empty()) gateway.script(steps);
  if (set) set(gateway);
  gateway.run([&](HttpCaller& c) -> Task<void> {
    EXPECT_TRUE((co_await gateway.store.create_session(store::SessionSpec("s", 1))).ok());
    co_await body(gateway, c);
  });
}

// The turns of the session, `count` of them.
Task<std::vector<Node>> tree(HttpCaller& c, std::size_t count) {
  const auto view = co_await c.get(kSession);
  auto list = nodes(view);
  EXPECT_EQ(list.size(), count);
  list.resize(count);
  co_return std::move(list);
}

std::string said(const Answer& answer) {
  return answer.text("choices", 0, "message");
}

const Messages kTexts{R"({"text":"one"})", R"({"text":"two"})", R"({"text":"three"})",
                      R"({"text":"four"})"};

// A step that samples `text`, without a stop id, and ends by length.
std::string cut_step(std::string_view text) {
  std::string ids;
  for (const auto id : chat::testing::encoded(text))
    ids += (ids.empty() ? "" : ",") + std::to_string(id);
  return "{\"output_ids\":[" + ids + "],\"finish\":\"length\"}";
}

// Two turns: user a -> one, user b -> two. The messages of both.
Task<Messages> two_turns(HttpCaller& c) {
  Messages messages{message("user", "a")};
  auto first = co_await c.post(kChat, chat_body(messages));
  EXPECT_EQ(first.status, 200) << first.body;
  messages.push_back(said(first));
  messages.push_back(message("user", "b"));
  auto second = co_await c.post(kChat, chat_body(messages));
  EXPECT_EQ(second.status, 200) << second.body;
  messages.push_back(said(second));
  co_return messages;
}

TEST(Instance, a_conversation_extends_its_row) {
  in_session(kTexts, [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
    auto messages = co_await two_turns(c);
    messages.push_back(message("user", "c"));
    const auto third = co_await c.post(kChat, chat_body(messages));
    EXPECT_EQ(third.status, 200);
    const auto list = co_await tree(c, 3);
    EXPECT_EQ(list[1].parent, list[0].id);
    EXPECT_EQ(list[2].parent, list[1].id);
    const auto turns = (co_await g.store.turns("s")).value();
    const auto row = trajectory::row_of(turns[1]);
    const auto prompt = trajectory::prompt_of(turns[2]);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), prompt.begin()));
  });
}

TEST(Instance, a_turn_that_is_sampled_again_becomes_a_sibling) {
  in_session(kTexts, [](GatewayOnSim&, HttpCaller& c) -> Task<void> {
    auto messages = co_await two_turns(c);
    messages.pop_back();
    for (int i = 0; i < 2; ++i) {
      const auto again = co_await c.post(kChat, chat_body(messages));
      EXPECT_EQ(again.status, 200);
    }
    const auto first_again = co_await c.post(kChat, ask(message("user", "a")));
    EXPECT_EQ(first_again.status, 200) << "the first turn too";
    const auto list = co_await tree(c, 5);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(list[i].parent, list[0].id);
    EXPECT_EQ(list[4].parent, "null");
  });
}

TEST(Instance, a_failed_retry_leaves_everything_as_it_was) {
  in_session({kTexts[0], kTexts[1], R"({"status":500,"body":"boom"})", R"({"fault":"cut_stream"})",
              R"({"fault":"closed","repeat":true})"},
             [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
               auto messages = co_await two_turns(c);
               const auto before_view = co_await c.get(kSession);
               const std::string before = g.store.dump();
               messages.pop_back();
               for (int i = 0; i < 3; ++i) {
                 const auto retry = co_await c.post(kChat, chat_body(messages));
                 EXPECT_GE(retry.status, 500);
               }
               EXPECT_EQ(g.store.dump(), before);
               const auto view = co_await c.get(kSession);
               EXPECT_EQ(view.body, before_view.body);
             });
}

TEST(Instance, an_edit_further_up_branches_or_starts_a_root) {
  in_session(kTexts, [](GatewayOnSim&, HttpCaller& c) -> Task<void> {
    auto messages = co_await two_turns(c);
    auto edited = messages;
    edited[2] = message("user", "another question");
    edited.resize(3);
    EXPECT_EQ((co_await c.post(kChat, chat_body(edited))).status, 200);
    edited = messages;
    edited[0] = message("user", "another start");
    edited.push_back(message("user", "c"));
    EXPECT_EQ((co_await c.post(kChat, chat_body(edited))).status, 200);
    edited = messages;
    edited[3] = message("assistant", "not what was said");
    edited.push_back(message("user", "c"));
    EXPECT_EQ((co_await c.post(kChat, chat_body(edited))).status, 200);
    const auto list = co_await tree(c, 5);
    EXPECT_EQ(list[2].parent, list[0].id) << "two turns back";
    EXPECT_EQ(list[3].parent, "null");
    EXPECT_EQ(list[3].attach, "history") << "it says that a history was not recorded";
    EXPECT_EQ(list[4].parent, list[0].id) << "the edited answer is the client's text";
  });
}

TEST(Instance, dropped_reasoning_extends_and_edited_reasoning_does_not) {
  in_session({R"({"text":"<think>\nwhy\n</think>\n\none"})", kTexts[1], kTexts[2]},
             [](GatewayOnSim&, HttpCaller& c) -> Task<void> {
               const auto first = co_await c.post(kChat, ask(message("user", "a")));
               EXPECT_EQ(first.text("choices", 0, "message", "reasoning_content"), "why");
               (void)co_await c.post(kChat, ask(message("user", "a"), message("assistant", "one"),
                                                message("user", "b")));
               (void)co_await c.post(
                   kChat, ask(message("user", "a"),
                              R"({"role":"assistant","content":"one","reasoning_content":"how"})",
                              message("user", "b")));
               const auto list = co_await tree(c, 3);
               EXPECT_EQ(list[1].parent, list[0].id);
               EXPECT_EQ(list[2].parent, "null");
             });
}

TEST(Instance, calls_that_a_client_spells_anew_extend) {
  const std::string call =
      R"({"text":"<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1, \"b\": [2]}}\n</tool_call>"})";
  in_session(
      {call, kTexts[0], kTexts[1], kTexts[2]}, [](GatewayOnSim&, HttpCaller& c) -> Task<void> {
        const std::string tools =
            R"(,"tools":[{"type":"function","function":{"name":"look","parameters":{}}}])";
        const auto first = co_await c.post(kChat, ask_with(tools, message("user", "a")));
        EXPECT_EQ(first.text("choices", 0, "finish_reason"), "tool_calls") << first.body;
        EXPECT_EQ(first.text("choices", 0, "message", "content"), "null");
        const std::string id = first.text("choices", 0, "message", "tool_calls", 0, "id");
        const auto with = [&](const std::string& call_id, const std::string& arguments,
                              const std::string& content) {
          return chat_body(
              {message("user", "a"),
               "{\"role\":\"assistant\",\"content\":" + content + ",\"tool_calls\":[{\"id\":\"" +
                   call_id +
                   "\",\"type\":\"function\",\"function\":{\"name\":\"look\",\"arguments\":" +
                   arguments + "}}]}",
               "{\"role\":\"tool\",\"tool_call_id\":\"" + call_id + "\",\"content\":\"42\"}"},
              tools);
        };
        EXPECT_EQ((co_await c.post(kChat, with(id, R"("{\"b\":[2.0],\"a\":1}")", "null"))).status,
                  200);
        EXPECT_EQ((co_await c.post(kChat, with(id, R"("{\"a\": 1, \"b\": [2]}")", "\"\""))).status,
                  200);
        EXPECT_EQ(
            (co_await c.post(kChat, with("other", R"("{\"a\":1,\"b\":[2]}")", "null"))).status,
            200);
        const auto list = co_await tree(c, 4);
        for (std::size_t i = 1; i < list.size(); ++i) EXPECT_EQ(list[i].parent, list[0].id) << i;
      });
}

TEST(Instance, an_inserted_assistant_message_is_the_clients_text) {
  in_session(kTexts, [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
    auto messages = co_await two_turns(c);
    messages.push_back(message("assistant", "inserted"));
    messages.push_back(message("user", "c"));
    EXPECT_EQ((co_await c.post(kChat, chat_body(messages))).status, 200);
    const auto list = co_await tree(c, 3);
    EXPECT_EQ(list.back().parent, list[1].id);
    const auto turns = (co_await g.store.turns("s")).value();
    EXPECT_EQ(turns.back()->messages.size(), 2U);
  });
}

TEST(Instance, other_tools_start_a_root_that_says_so) {
  in_session(kTexts, [](GatewayOnSim&, HttpCaller& c) -> Task<void> {
    auto messages = co_await two_turns(c);
    messages.push_back(message("user", "c"));
    const auto answer = co_await c.post(
        kChat, chat_body(messages, R"(,"tools":[{"type":"function","function":{"name":"look"}}])"));
    EXPECT_EQ(answer.status, 200) << answer.body;
    const auto list = co_await tree(c, 3);
    EXPECT_EQ(list.back().parent, "null");
    EXPECT_EQ(list.back().attach, "tools");
  });
}

TEST(Instance, two_continuations_at_once_are_siblings) {
  in_session({R"({"text":"one"})", R"({"text":"two","delay_ms":500})",
              R"({"text":"three","delay_ms":100})"},
             [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
               const auto first = co_await c.post(kChat, ask(message("user", "a")));
               int done = 0;
               HttpCaller other(g.world.runtime, g.port);
               for (auto* caller : {&c, &other}) {
                 base::spawn([](HttpCaller& by, std::string body, int& count) -> Task<void> {
                   const auto answer = co_await by.post(kChat, body);
                   EXPECT_EQ(answer.status, 200) << answer.body;
                   ++count;
                 }(*caller, ask(message("user", "a"), said(first), message("user", "b")), done));
               }
               co_await base::sleep_for(g.world.executor, seconds(5));
               EXPECT_EQ(done, 2);
               const auto list = co_await tree(c, 3);
               for (std::size_t i = 1; i < list.size(); ++i) EXPECT_EQ(list[i].parent, list[0].id);
               co_await other.stop();
             });
}

TEST(Instance, a_cut_turn_goes_on_behind_a_synthetic_close) {
  in_session({cut_step("one two"), cut_step("<think>\nwhy"), kTexts[2]},
             [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
               const auto first = co_await c.post(kChat, ask(message("user", "a")));
               EXPECT_EQ(first.text("choices", 0, "finish_reason"), "length");
               const auto second = co_await c.post(
                   kChat, ask(message("user", "a"), said(first), message("user", "b")));
               EXPECT_EQ(second.status, 200);
               EXPECT_EQ(second.text("choices", 0, "message", "content"), "null");
               EXPECT_EQ(second.text("choices", 0, "message", "reasoning_content"), "why");
               const auto third = co_await c.post(
                   kChat, ask(message("user", "a"), said(first), message("user", "b"), said(second),
                              message("user", "c")));
               EXPECT_EQ(third.status, 200) << third.body;
               const auto turns = (co_await g.store.turns("s")).value();
               EXPECT_EQ(turns.size(), 3U);
               if (turns.size() != 3) co_return;
               EXPECT_EQ(turns[2]->parent, turns[1]);
               for (std::size_t i = 1; i < 3; ++i)
                 EXPECT_EQ(turns[i]->spans.front().source, message::SpanSource::kClose);
             });
}

TEST(Instance, nothing_but_a_stop_and_nothing_at_all_are_turns) {
  in_session({R"({"output_ids":[554],"finish":"stop"})", R"({"output_ids":[],"finish":"stop"})"},
             [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
               for (const char* more : {"", ",\"stream\":true"}) {
                 const auto answer = co_await c.post(kChat, ask_with(more, message("user", "a")));
                 EXPECT_EQ(answer.status, 200) << answer.body;
               }
               EXPECT_EQ((co_await g.store.turns("s")).value().size(), 2U);
             });
}

TEST(Instance, a_deleted_session_ends_its_generation) {
  in_session({R"({"text":"one two three","delay_ms":1000,"token_delay_ms":5000})"},
             [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
               std::optional<Answer> answer;
               HttpCaller other(g.world.runtime, g.port);
               base::spawn([](HttpCaller& by, std::optional<Answer>& out) -> Task<void> {
                 out = co_await by.post(kChat, ask(message("user", "a")));
               }(other, answer));
               co_await base::sleep_for(g.world.executor, seconds(3));
               EXPECT_EQ(g.engine->stats().running, 1U);
               const auto deleted = co_await c.call("DELETE", kSession);
               EXPECT_EQ(deleted.status, 204);
               co_await base::sleep_for(g.world.executor, seconds(1));
               EXPECT_EQ(g.engine->stats().running, 0U) << "the engine was told";
               EXPECT_TRUE(answer.has_value());
               if (answer) {
                 EXPECT_EQ(answer->status, 404);
               }
               EXPECT_EQ(g.store.dump(), "");
               co_await other.stop();
             });
}

TEST(Instance, a_client_that_goes_away_ends_its_generation_and_leaves_no_trace) {
  for (const char* more : {"", ",\"stream\":true"}) {
    in_session({R"({"text":"one two three","token_delay_ms":1000})", kTexts[0]},
               [&](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
                 const std::string before = g.store.dump();
                 base::CancelSignal hang_up;
                 base::Timer later;
                 later.arm(g.world.executor.timers(), g.in(std::chrono::milliseconds(2500)),
                           [&] { hang_up.fire("gone"); });
                 HttpCaller leaving(g.world.runtime, g.port);
                 leaving.hang_up = &hang_up;
                 (void)co_await leaving.post(kChat, ask_with(more, message("user", "a")));
                 co_await base::sleep_for(g.world.executor, seconds(1));
                 EXPECT_EQ(g.engine->stats().running, 0U);
                 EXPECT_EQ(g.store.dump(), before);
                 EXPECT_EQ((co_await c.post(kChat, ask(message("user", "a")))).status, 200);
                 co_await leaving.stop();
               });
  }
}

// Every fault of an engine's answer: an error of the engine's, or a turn where the answer is good.
TEST(Instance, no_fault_of_the_engine_is_an_error_of_ours_or_half_a_turn) {
  using sim::Fault;
  for (std::size_t i = 0; i < sim::kFaults; ++i) {
    const auto fault = static_cast<Fault>(i);
    for (const bool stream : {false, true}) {
      SCOPED_TRACE(std::string(sim::name(fault)) + (stream ? " streaming" : " whole"));
      in_session(
          {R"({"text":"one two three","fault":")" + std::string(sim::name(fault)) + "\"}",
           kTexts[0]},
          [&](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
            const std::string before = g.store.dump();
            const auto answer = co_await c.post(
                kChat, ask_with(stream ? ",\"stream\":true" : "", message("user", "a")));
            const auto turns = (co_await g.store.turns("s")).value();
            const bool told_error =
                answer.status != 200 || answer.body.find("\"error\"") != std::string::npos;
            EXPECT_EQ(told_error, turns.empty()) << answer.status << answer.body;
            EXPECT_FALSE(answer.cut);
            const bool engines_500 = fault == Fault::kHttp500;
            EXPECT_TRUE(engines_500 || answer.status != 500) << answer.body;
            if (told_error) {
              EXPECT_EQ(g.store.dump(), before);
            }
            const auto next = co_await c.post(kChat, ask(message("user", "b")));
            EXPECT_EQ(next.status, 200) << "the connection stays usable: " << next.body;
          },
          [](GatewayOnSim& g) { g.options.runner.turn_timeout = seconds(100); });
    }
  }
}

TEST(Instance, an_answer_that_is_none_is_502) {
  for (const char* body : {"not json", "[]", "null", "", R"({\"text\":\"x\"})",
                           R"({\"text\":\"x\",\"output_ids\":[1],\"meta_info\":null})",
                           R"({\"output_ids\":\"x\",\"meta_info\":{}})"}) {
    in_session(
        {std::string(R"({"status":200,"headers":{"content-type":"application/json"},"body":")") +
         body + "\"}"},
        [&](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
          const std::string before = g.store.dump();
          const auto answer = co_await c.post(kChat, ask(message("user", "a")));
          EXPECT_EQ(answer.status, 502) << body << answer.body;
          EXPECT_EQ(answer.text("error", "type"), "upstream_error");
          EXPECT_EQ(g.store.dump(), before);
        });
  }
}

TEST(Instance, an_engine_that_is_not_there_is_an_error_of_its_own) {
  in_session({}, [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
    co_await g.engine->stop();
    const std::string before = g.store.dump();
    const auto answer = co_await c.post(kChat, ask(message("user", "a")));
    EXPECT_TRUE(answer.status == 502 || answer.status == 503) << answer.status << answer.body;
    EXPECT_EQ(g.store.dump(), before);
  });
}

TEST(Instance, a_status_of_the_engine_passes_through_with_its_headers) {
  for (const int status : {400, 429, 500, 503}) {
    const std::string text = std::to_string(status);
    std::string step = R"({"status":)";
    step.append(text).append(R"(,"headers":{"retry-after":"3","x-request-id":"up-7"},)");
    step.append(R"("body":{"error":{"message":"no","code":)").append(text).append("}}}");
    in_session({step}, [&](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
      const std::string before = g.store.dump();
      const auto answer =
          co_await c.post(kChat, ask_with(",\"stream\":true", message("user", "a")));
      EXPECT_EQ(answer.status, status);
      EXPECT_EQ(answer.header("retry-after"), "3");
      EXPECT_EQ(answer.header("x-engine-request-id"), "up-7");
      EXPECT_EQ(answer.text("error", "message"), "no");
      EXPECT_EQ(g.store.dump(), before);
    });
  }
}

TEST(Instance, bad_requests_are_400_and_name_the_field) {
  struct Row {
    const char* body;
    const char* field;
  };
  in_session({}, [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
    const std::string before = g.store.dump();
    const std::vector<Row> rows{
        {"{", ""},
        {"[]", ""},
        {R"({"messages":"hi"})", "messages"},
        {R"({"messages":[1,2]})", "messages[0]"},
        {R"({"messages":[]})", "messages"},
        {R"({})", "messages"},
        {R"({"messages":[{"content":"x"}]})", "messages[0].role"},
        {R"({"messages":[{"role":"user","content":"x"}],"n":129})", "n"},
        {R"({"messages":[{"role":"user","content":"x"}],"temperature":"hot"})", "temperature"},
        {R"({"messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"tools":1}})",
         "chat_template_kwargs.tools"},
        {R"({"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]})",
         "messages"}};
    for (const auto& row : rows) {
      const auto answer = co_await c.post(kChat, row.body);
      EXPECT_EQ(answer.status, 400) << row.body << answer.body;
      const auto param = answer.text("error", "param");
      EXPECT_EQ(param == "null" ? "" : param, row.field) << row.body << answer.body;
    }
    EXPECT_EQ(g.store.dump(), before);
    EXPECT_EQ(g.engine->stats().requests, 0U);
    EXPECT_EQ((co_await c.post(kChat, ask(message("user", "a")))).status, 200);
  });
}

TEST(Instance, a_prompt_over_the_context_is_refused_without_an_engine_call) {
  in_session(
      {},
      [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
        std::string words;
        for (int i = 0; i < 100; ++i) words += " weather";
        const auto answer = co_await c.post(kChat, ask(message("user", words)));
        EXPECT_EQ(answer.status, 400);
        EXPECT_EQ(answer.text("error", "code"), "context_length_exceeded");
        EXPECT_NE(answer.text("error", "message").find("64"), std::string::npos);
        EXPECT_EQ(g.engine->stats().requests, 0U);
      },
      [](GatewayOnSim& g) { g.engine_options.max_model_len = 64; });
}

TEST(Instance, shutting_down_lets_running_turns_finish_and_refuses_new_ones) {
  in_session({R"({"text":"one two","delay_ms":2000})", kTexts[1]},
             [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
               std::optional<Answer> running;
               HttpCaller other(g.world.runtime, g.port);
               base::spawn([](HttpCaller& by, std::optional<Answer>& out) -> Task<void> {
                 out = co_await by.post(kChat, ask_with(",\"stream\":true", message("user", "a")));
               }(other, running));
               co_await base::sleep_for(g.world.executor, seconds(1));
               bool drained = false;
               base::spawn([](GatewayOnSim& gateway, bool& out) -> Task<void> {
                 co_await gateway.instance->drain(gateway.in(seconds(30)));
                 out = true;
               }(g, drained));
               const auto late = co_await c.post(kChat, ask(message("user", "b")));
               EXPECT_TRUE(late.status == 0 || late.status == 503) << late.status;
               EXPECT_FALSE(drained);
               co_await base::sleep_for(g.world.executor, seconds(20));
               EXPECT_TRUE(running.has_value());
               if (running) {
                 EXPECT_TRUE(running->body.ends_with("data: [DONE]\n\n"));
               }
               EXPECT_TRUE(drained);
               EXPECT_EQ((co_await g.store.turns("s")).value().size(), 1U);
               co_await other.stop();
             });
}

TEST(Instance, shutting_down_cancels_what_still_runs_at_the_deadline) {
  in_session({R"({"text":"one two","delay_ms":900000})"},
             [](GatewayOnSim& g, HttpCaller&) -> Task<void> {
               const std::string before = g.store.dump();
               HttpCaller other(g.world.runtime, g.port);
               bool over = false;
               base::spawn([](HttpCaller& by, bool& out) -> Task<void> {
                 (void)co_await by.post(kChat, ask(message("user", "a")));
                 out = true;
               }(other, over));
               co_await base::sleep_for(g.world.executor, seconds(1));
               co_await g.instance->drain(g.in(seconds(5)));
               co_await base::sleep_for(g.world.executor, seconds(1));
               EXPECT_TRUE(over);
               EXPECT_EQ(g.engine->stats().running, 0U);
               EXPECT_EQ(g.store.dump(), before);
               co_await other.stop();
             });
}

// Told to end at once, or at the end of the time that running turns have.
TEST(Instance, a_turn_that_is_ended_with_the_gateway_says_so_to_its_client) {
  struct Row {
    const char* more;
    int status;
  };
  for (const bool hurried : {false, true}) {
    for (const Row& row : {Row{"", 503}, Row{",\"stream\":true", 200}}) {
      for (const bool retries : {false, true}) {
        in_session({R"({"text":"one two three","token_delay_ms":900000})"},
                   [&](GatewayOnSim& g, HttpCaller&) -> Task<void> {
                     const std::string before = g.store.dump();
                     HttpCaller other(g.world.runtime, g.port);
                     if (retries) other.headers.add("Idempotency-Key", "once");
                     std::optional<Answer> answer;
                     base::spawn([](HttpCaller& by, std::string body,
                                    std::optional<Answer>& out) -> Task<void> {
                       out = co_await by.post(kChat, body);
                     }(other, ask_with(row.more, message("user", "a")), answer));
                     co_await base::sleep_for(g.world.executor, seconds(30));
                     if (hurried) g.instance->hurry();
                     const auto from = g.world.executor.clock().now();
                     co_await g.instance->drain(g.in(hurried ? seconds(3600) : seconds(5)));
                     EXPECT_LE(g.world.executor.clock().now() - from, seconds(8));
                     EXPECT_TRUE(answer.has_value());
                     if (answer) {
                       // The first comment of a silent stream is sent before anything is sampled.
                       EXPECT_EQ(answer->status, row.status) << answer->body;
                       EXPECT_NE(answer->body.find("\"code\":\"shutting_down\""), std::string::npos)
                           << answer->body;
                     }
                     EXPECT_EQ(g.engine->stats().running, 0U);
                     EXPECT_EQ(g.store.dump(), before);
                     co_await other.stop();
                   });
      }
    }
  }
}

TEST(Instance, committed_turns_are_in_the_record_file) {
  in_session(kTexts, [](GatewayOnSim& g, HttpCaller& c) -> Task<void> {
    (void)co_await two_turns(c);
    const auto file = g.world.files.read("records/s.jsonl", 1 << 20);
    EXPECT_TRUE(file.ok());
    if (file) {
      EXPECT_EQ(std::count(file->begin(), file->end(), '\n'), 2);
    }
  });
}

}  // namespace
}  // namespace verbatim::api
