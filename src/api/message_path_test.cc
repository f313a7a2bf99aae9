// The gateway on the message path, against a simulated server of the public protocols.
#include <gtest/gtest.h>

#include "api/instance.h"
#include "api/testing/gateway_on_sim.h"

namespace verbatim::api {
namespace {

using base::Task;
using std::chrono::milliseconds;
using testing::ask;
using testing::ask_with;
using testing::GatewayOnSim;
using testing::HttpCaller;
using testing::message;

const std::string kChat = "/sessions/s/v1/chat/completions";
const char* kModes[] = {"chat", "responses", "messages"};

// Runs `body` in a session "s" of a gateway that sends messages up, in each mode.
void in_each_mode(const std::vector<std::string>& steps,
                  const std::function<Task<void>(GatewayOnSim&, HttpCaller&)>& body,
                  const std::function<void(GatewayOnSim&)>& set = {}) {
  for (const char* mode : kModes) {
    SCOPED_TRACE(mode);
    GatewayOnSim gateway;
    gateway.kind = "openai";
    gateway.mode = mode;
    gateway.model = std::make_unique<gateway::Model>();
    gateway.model->name = "sim";
    gateway.engine_options.keeps_log = true;
    gateway.script(steps);
    if (set) set(gateway);
    gateway.run([&](HttpCaller& c) -> Task<void> {
      EXPECT_TRUE((co_await gateway.store.create_session(store::SessionSpec("s", 1))).ok());
      co_await body(gateway, c);
    });
  }
}

std::string prompt_of(const GatewayOnSim& gateway, std::size_t turn) {
  return gateway.engine_options.tokenizer->decode(gateway.engine->served().at(turn).prompt);
}

const std::vector<std::string> kThinks{R"({"text":"<think>\nhm\n</think>\n\none"})",
                                       R"({"text":"two"})", R"({"text":"three"})"};

TEST(MessagePath, the_engine_gets_back_the_reasoning_that_the_client_left_out) {
  in_each_mode(kThinks, [](GatewayOnSim& gateway, HttpCaller& c) -> Task<void> {
    const auto first = co_await c.post(kChat, ask(message("user", "a")));
    EXPECT_EQ(first.status, 200) << first.body;
    EXPECT_EQ(first.text("choices", 0, "message", "content"), "one");
    const auto reasoning = first.text("choices", 0, "message", "reasoning_content");
    EXPECT_NE(reasoning, "");
    const auto second = co_await c.post(
        kChat, ask(message("user", "a"), message("assistant", "one"), message("user", "b")));
    EXPECT_EQ(second.status, 200) << second.body;
    EXPECT_NE(prompt_of(gateway, 1).find("<think>" + reasoning + "</think>one"), std::string::npos)
        << prompt_of(gateway, 1);
    const auto view = co_await c.get("/sessions/s");
    const auto list = testing::nodes(view);
    EXPECT_EQ(list.size(), 2U);
    if (list.size() == 2) {
      EXPECT_EQ(list[1].parent, list[0].id);
    }
    EXPECT_EQ(view.text("metadata", "tree", "nodes", 0, "token_exact"), "false");
  });
}

TEST(MessagePath, stateless_chat_is_kept_as_the_token_path_keeps_it) {
  in_each_mode(kThinks, [](GatewayOnSim& gateway, HttpCaller& c) -> Task<void> {
    const std::string path = "/v1/chat/completions";
    const auto first = co_await c.post(path, ask(message("user", "a")));
    EXPECT_EQ(first.status, 200) << first.body;
    const auto second = co_await c.post(
        path, ask(message("user", "a"), message("assistant", "one"), message("user", "b")));
    EXPECT_EQ(second.status, 200) << second.body;
    EXPECT_NE(gateway.store.dump().find("\"attach\":\"history\""), std::string::npos);
  });
}

TEST(MessagePath, a_stream_joins_to_the_whole_answer_and_counts_what_the_engine_counted) {
  in_each_mode(kThinks, [](GatewayOnSim&, HttpCaller& c) -> Task<void> {
    const auto answer =
        co_await c.post(kChat, ask_with(R"(,"stream":true,"stream_options":{"include_usage":true})",
                                        message("user", "a")));
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::string text;
    std::string finish;
    std::string total;
    for (const auto& event : answer.events()) {
      const auto at = [&](const std::vector<std::string>& path) {
        return testing::Answer::text_at(event, path);
      };
      text += at({"choices", "0", "delta", "content"});
      const auto finished = at({"choices", "0", "finish_reason"});
      if (finished != "null" && !finished.empty()) finish = finished;
      if (const auto counted = at({"usage", "completion_tokens"}); !counted.empty())
        total = counted;
    }
    EXPECT_EQ(text, "one");
    EXPECT_EQ(finish, "stop");
    EXPECT_NE(total, "");
    EXPECT_NE(total, "0");
  });
}

TEST(MessagePath, what_fails_leaves_the_session_untouched) {
  const std::vector<std::string> steps{R"({"text":"one"})",
                                       R"({"text":"two three four","fault":"cut_stream"})",
                                       R"({"text":"two"})"};
  in_each_mode(steps, [](GatewayOnSim& gateway, HttpCaller& c) -> Task<void> {
    const auto first = co_await c.post(kChat, ask(message("user", "a")));
    EXPECT_EQ(first.status, 200) << first.body;
    const auto before = gateway.store.dump();
    const auto next = ask(message("user", "a"), message("assistant", "one"), message("user", "b"));
    const auto cut = co_await c.post(kChat, next);
    EXPECT_EQ(cut.status, 502) << cut.body;
    EXPECT_EQ(gateway.store.dump(), before);
    const auto again = co_await c.post(kChat, next);
    EXPECT_EQ(again.status, 200) << again.body;
  });
}

TEST(MessagePath, an_unknown_session_and_a_last_word_of_the_assistant_never_reach_the_engine) {
  in_each_mode(kThinks, [](GatewayOnSim& gateway, HttpCaller& c) -> Task<void> {
    const auto unknown =
        co_await c.post("/sessions/x/v1/chat/completions", ask(message("user", "a")));
    EXPECT_EQ(unknown.status, 404);
    const auto last = co_await c.post(kChat, ask(message("assistant", "a")));
    EXPECT_EQ(last.status, 400);
    EXPECT_EQ(last.text("error", "param"), "messages");
    const auto logprobs =
        co_await c.post(kChat, ask_with(R"(,"logprobs":true)", message("user", "a")));
    EXPECT_EQ(logprobs.status, 400);
    EXPECT_EQ(logprobs.text("error", "param"), "logprobs");
    EXPECT_EQ(gateway.engine->stats().requests, 0U);
  });
}

TEST(MessagePath, a_client_that_hangs_up_ends_the_generation_and_leaves_no_turn) {
  in_each_mode(
      {R"({"text":"one two three four five six"})"},
      [](GatewayOnSim& gateway, HttpCaller& c) -> Task<void> {
        base::CancelSignal gone;
        base::Timer leaving;
        c.hang_up = &gone;
        leaving.arm(gateway.world.executor.timers(), gateway.in(milliseconds(450)),
                    [&gone] { gone.fire("gone"); });
        const auto cut =
            co_await c.post(kChat, ask_with(R"(,"stream":true)", message("user", "a")));
        EXPECT_TRUE(cut.cut);
        c.hang_up = nullptr;
        co_await base::sleep_for(gateway.world.executor, milliseconds(200));
        EXPECT_EQ(gateway.engine->stats().aborted_by_close, 1U);
        EXPECT_EQ(gateway.engine->stats().running, 0U);
        const auto view = co_await c.get("/sessions/s");
        EXPECT_TRUE(testing::nodes(view).empty());
      },
      [](GatewayOnSim& gateway) { gateway.engine_options.token_delay = milliseconds(100); });
}

TEST(MessagePath, a_session_is_not_made_with_what_its_protocol_has_no_word_for) {
  in_each_mode(kThinks, [](GatewayOnSim& gateway, HttpCaller& c) -> Task<void> {
    const auto made =
        co_await c.post("/sessions", R"({"sampling":{"temperature":0.5,"frequency_penalty":0.5}})");
    const bool wordless = gateway.mode == "messages";
    EXPECT_EQ(made.status, wordless ? 400 : 200) << made.body;
    if (wordless) {
      EXPECT_EQ(made.text("error", "param"), "sampling.frequency_penalty");
    }
    const auto plain = co_await c.post("/sessions", R"({"sampling":{"temperature":0.5}})");
    EXPECT_EQ(plain.status, 200) << plain.body;
    EXPECT_EQ(gateway.engine->stats().requests, 0U);
  });
}

TEST(MessagePath, choices_are_siblings_with_one_prompt) {
  in_each_mode(kThinks, [](GatewayOnSim& gateway, HttpCaller& c) -> Task<void> {
    const auto answer =
        co_await c.post(kChat, ask_with(R"(,"n":2,"seed":7)", message("user", "a")));
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.text("choices", 1, "index"), "1");
    EXPECT_EQ(gateway.engine->served().size(), 2U);
    const auto view = co_await c.get("/sessions/s/tree");
    EXPECT_EQ(view.status, 200);
  });
}

}  // namespace
}  // namespace verbatim::api
