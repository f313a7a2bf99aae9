// Images, sound and files in conversations, over each kind and mode by messages.
#include <gtest/gtest.h>

#include "api/testing/gateway_on_sim.h"
#include "base/sha256.h"
#include "engine/kinds.h"

namespace verbatim::api {
namespace {

using base::Task;
using testing::ask;
using testing::GatewayOnSim;
using testing::HttpCaller;
using testing::message;

const std::string kChat = "/sessions/s/v1/chat/completions";
const std::string kUrl = "data:image/png;base64,AAAA";

struct Way {
  std::string kind;
  std::string mode;
  protocol::Wire wire;
  [[nodiscard]] bool by_chat() const { return wire == protocol::Wire::kChat; }
};

// Every kind in every mode of its own by messages.
std::vector<Way> ways() {
  std::vector<Way> all;
  for (const auto& kind : engine::kinds()) {
    for (const auto& mode : kind.modes) {
      if (mode.path == engine::Path::kMessages)
        all.push_back({std::string(kind.name), std::string(mode.name), mode.wire});
    }
  }
  return all;
}

void in(const Way& way, const std::function<Task<void>(GatewayOnSim&, HttpCaller&)>& body) {
  SCOPED_TRACE(way.kind + " " + way.mode);
  GatewayOnSim gateway;
  gateway.kind = way.kind;
  gateway.mode = way.mode;
  gateway.model = std::make_unique<gateway::Model>();
  gateway.model->name = "sim";
  gateway.engine_options.keeps_log = true;
  gateway.script({R"({"text":"one"})", R"({"text":"two"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    EXPECT_TRUE((co_await gateway.store.create_session(store::SessionSpec("s", 1))).ok());
    co_await body(gateway, c);
  });
}

std::string said(const std::string& parts) {
  return R"({"role":"user","content":[{"type":"text","text":"look"},)" + parts + "]}";
}

std::string image(const std::string& url) {
  return R"({"type":"image_url","image_url":{"url":")" + url + "\"}}";
}

std::string prompt_of(const GatewayOnSim& gateway, std::size_t turn) {
  return gateway.engine_options.tokenizer->decode(gateway.engine->served().at(turn).prompt);
}

// As the simulator shows an image.
std::string mark(const std::string& url) {
  return "[image_url " + base::sha256_hex(url) + "]";
}

TEST(MessageParts, of_a_turn_are_sent_again_with_the_next) {
  const std::string web = "https://example.com/a.png";
  for (const auto& way : ways()) {
    in(way, [&](GatewayOnSim& gateway, HttpCaller& c) -> Task<void> {
      const auto asked = said(image(kUrl) + "," + image(web));
      const auto first = co_await c.post(kChat, ask(asked));
      EXPECT_EQ(first.status, 200) << first.body;
      const auto second =
          co_await c.post(kChat, ask(asked, message("assistant", "one"), message("user", "b")));
      EXPECT_EQ(second.status, 200) << second.body;
      EXPECT_EQ(gateway.engine->served().size(), 2U);
      for (std::size_t turn = 0; turn < gateway.engine->served().size(); ++turn)
        EXPECT_NE(prompt_of(gateway, turn).find("look" + mark(kUrl) + mark(web)), std::string::npos)
            << prompt_of(gateway, turn);
      const auto view = co_await c.get("/sessions/s");
      const auto list = testing::nodes(view);
      EXPECT_EQ(list.size(), 2U);
      if (list.size() == 2) {
        EXPECT_EQ(list[1].parent, list[0].id);
      }
      EXPECT_NE(view.body.find(asked.substr(asked.find('['))), std::string::npos) << view.body;
    });
  }
}

TEST(MessageParts, another_image_is_another_conversation) {
  for (const auto& way : ways()) {
    in(way, [&](GatewayOnSim&, HttpCaller& c) -> Task<void> {
      const auto first = co_await c.post(kChat, ask(said(image(kUrl))));
      EXPECT_EQ(first.status, 200) << first.body;
      const auto second =
          co_await c.post(kChat, ask(said(image("data:image/png;base64,BBBB")),
                                     message("assistant", "one"), message("user", "b")));
      EXPECT_EQ(second.status, 200) << second.body;
      const auto view = co_await c.get("/sessions/s");
      const auto list = testing::nodes(view);
      EXPECT_EQ(list.size(), 2U);
      if (list.size() == 2) {
        EXPECT_EQ(list[1].parent, list[0].parent);
      }
    });
  }
}

TEST(MessageParts, without_a_word_are_refused_before_the_engine_is_called) {
  const std::string sound =
      R"({"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}})";
  for (const auto& way : ways()) {
    in(way, [&](GatewayOnSim& gateway, HttpCaller& c) -> Task<void> {
      const auto answer =
          co_await c.post(kChat, ask(message("user", "a"), message("assistant", "b"), said(sound)));
      EXPECT_EQ(answer.status, way.by_chat() ? 200 : 400) << answer.body;
      EXPECT_EQ(gateway.engine->stats().requests, way.by_chat() ? 1U : 0U);
      if (!way.by_chat()) {
        EXPECT_EQ(answer.text("error", "param"), "messages[2].content[1]");
        EXPECT_NE(answer.body.find("leave it out"), std::string::npos) << answer.body;
      }
    });
  }
}

TEST(MessageParts, to_an_engine_by_token_ids_are_refused_by_name) {
  for (const char* kind : {"sglang", "vllm", "dynamo"}) {
    SCOPED_TRACE(kind);
    GatewayOnSim gateway;
    gateway.kind = kind;
    gateway.run([&](HttpCaller& c) -> Task<void> {
      const auto answer = co_await c.post("/v1/chat/completions", ask(said(image(kUrl))));
      EXPECT_EQ(answer.status, 400) << answer.body;
      EXPECT_EQ(answer.text("error", "param"), "messages[0].content[1]");
      EXPECT_NE(answer.body.find("text only"), std::string::npos) << answer.body;
      EXPECT_EQ(gateway.engine->stats().requests, 0U);
    });
  }
}

}  // namespace
}  // namespace verbatim::api
