// Conversations far larger than any that makes sense: they cost memory and time in their own size,
// not in its square, and nothing is cut without a word.
#include <gtest/gtest.h>

#include "gateway/session_view.h"
#include "gateway/testing/chat_server.h"
#include "json/writer.h"
#include "trajectory/turn.h"

namespace verbatim::gateway {
namespace {

using base::Task;
using testing::ChatServer;
using testing::HttpCaller;
using testing::Scene;
using trajectory::TurnPtr;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

// Whatever the engine says of its context.
void without_context(Scene& scene) {
  scene.engine.deaf = true;
  scene.model->max_model_len.store(std::uint64_t{1} << 40);
}

// One line of turns, one behind the other, without building each of its requests.
std::vector<TurnPtr> long_line(Scene& scene, std::size_t count) {
  without_context(scene);
  std::vector<message::Message> history{user("0")};
  std::vector<TurnPtr> turns;
  for (std::size_t i = 1; i <= count; ++i) {
    turns.push_back(scene.recorded(Scene::request(history), "ok<|im_end|>"));
    scene.engine.asked.clear();  // it keeps each prompt
    history.push_back(turns.back()->answer);
    history.push_back(user(std::to_string(i)));
  }
  return turns;
}

TEST(HostileSizes, a_session_of_5000_turns_goes_on_and_branches) {
  constexpr std::size_t kTurns = 5000;
  Scene scene;
  const auto turns = long_line(scene, kTurns);
  for (std::size_t i = 1; i < kTurns; ++i) ASSERT_EQ(turns[i]->parent, turns[i - 1]) << i;
  EXPECT_EQ(turns.back()->message_count, 2 * kTurns);
  for (const auto mode : {SessionMode::kTree, SessionMode::kLinear, SessionMode::kStrict}) {
    auto next = Scene::continued(turns.back(), user("and on"));
    next.rules.mode = mode;
    EXPECT_EQ(scene.plan(std::move(next))->parent, turns.back());
    auto early = Scene::continued(turns[99], user("another way"));
    early.rules.mode = mode;
    const auto branch = scene.plan(std::move(early));
    ASSERT_EQ(branch.ok(), mode == SessionMode::kTree);
    if (branch) {
      EXPECT_EQ(branch->parent, turns[99]);
    }
  }
  store::SessionInfo info;
  info.spec = std::make_shared<store::SessionSpec>(Scene::kSession, 5);
  const auto view = session_view(info, turns, 1);
  EXPECT_LT(view.size(), std::size_t{100} << 20) << "the view does not grow with the square";
  const auto document = json::Document::parse(view, {.max_bytes = SIZE_MAX}).value();
  const auto told = document.root().find("records")->size();
  const auto left_out = document.root().get("records_left_out");
  ASSERT_TRUE(left_out);
  EXPECT_GT(told, 0U);
  EXPECT_EQ(told + static_cast<std::size_t>(*left_out->integer()), kTurns);
  const auto metadata = *document.root().get("metadata");
  EXPECT_EQ(metadata.get("tree")->get("nodes")->size(), kTurns);
  EXPECT_EQ(metadata.get("accumulated_token_ids")->size(), turns.back()->row_size);
}

// A leaf at each turn of a long line: their paths together are as many as its square.
TEST(HostileSizes, paths_of_very_many_leaves_are_left_out) {
  Scene scene;
  auto turns = long_line(scene, 1500);
  const auto line = turns;
  store::SessionInfo info;
  info.spec = std::make_shared<store::SessionSpec>(Scene::kSession, 5);
  EXPECT_NE(session_tree(info, turns).find("path_node_ids"), std::string::npos);
  for (const auto& parent : line) {
    scene.engine.asked.clear();
    turns.push_back(scene.recorded(Scene::continued(parent, user("another way")), "no<|im_end|>"));
  }
  const auto tree = session_tree(info, turns);
  EXPECT_EQ(tree.find("path_node_ids"), std::string::npos);
  const auto document = json::Document::parse(tree).value();
  EXPECT_EQ(document.root().find("nodes")->size(), 3000U);
  EXPECT_EQ(document.root().find("leaves")->size(), 1500U);
}

std::string request_of(const std::vector<std::string>& texts, const std::string& more) {
  json::Writer w;
  w.begin_object().key("messages").begin_array();
  for (const auto& text : texts)
    w.begin_object().field("role", "user").field("content", text).end_object();
  if (!more.empty()) {
    w.begin_object().field("role", "assistant").field("content", "ok").end_object();
    w.begin_object().field("role", "user").field("content", more).end_object();
  }
  w.end_array().end_object();
  return w.take();
}

// In one message, and in nearly as many as a request may have.
TEST(HostileSizes, a_history_of_ten_megabytes_is_gone_on_behind) {
  constexpr std::size_t kBytes = 10'000'000;
  for (const std::size_t messages : {std::size_t{1}, std::size_t{50'000}}) {
    const std::string words = "what the weather is in Rome, ";
    std::string text;
    while (text.size() < kBytes / messages) text += words;
    const std::vector<std::string> texts(messages, text);
    ChatServer server;
    without_context(server.scene);
    server.run([&](HttpCaller& c) -> Task<void> {
      auto body = request_of(texts, "");
      EXPECT_GE(body.size(), kBytes);
      const auto first = co_await c.post("/s1", body);
      EXPECT_EQ(first.status, 200) << first.body.substr(0, 300);
      body = request_of(texts, "more");
      const auto second = co_await c.post("/s1", body);
      EXPECT_EQ(second.status, 200) << second.body.substr(0, 300);
      const auto turns = (co_await server.scene.store.turns("s1")).value();
      EXPECT_EQ(turns.size(), 2U);
      if (turns.size() != 2) co_return;
      EXPECT_EQ(turns[1]->parent, turns[0]);
      EXPECT_LT(turns[1]->prompt.size(), 100U) << "what is new alone is rendered";
      EXPECT_LT(trajectory::footprint(*turns[1]), std::size_t{1} << 16);
      const auto& sent = server.scene.engine.asked.back().prompt;
      EXPECT_EQ(sent.size(), turns[1]->row_size - turns[1]->completion.size());
    });
  }
}

}  // namespace
}  // namespace verbatim::gateway
