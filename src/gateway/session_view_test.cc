#include "gateway/session_view.h"

#include <gtest/gtest.h>

#include "gateway/testing/http_caller.h"
#include "gateway/testing/scene.h"
#include "json/value.h"

namespace verbatim::gateway {
namespace {

using testing::Scene;
using trajectory::TurnPtr;
using namespace chat::testing;  // NOLINT(google-build-using-namespace)

std::string at(const std::string& json, const std::vector<std::string>& path) {
  return testing::Answer::text_at(json, path);
}

std::string list_of(const trajectory::TokenIds& ids) {
  std::string text;
  for (const auto id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return "[" + text + "]";
}

store::SessionInfo session(std::uint64_t version) {
  store::SessionInfo info;
  info.spec = std::make_shared<store::SessionSpec>("s1", 5);
  info.version = version;
  return info;
}

std::size_t size_at(const std::string& json, std::string_view key) {
  const auto doc = json::Document::parse(json).value();
  return doc.root().find(key)->size();
}

TEST(SessionView, a_fresh_session_is_empty) {
  const auto view = session_view(session(1), {}, 1);
  EXPECT_EQ(view, R"({"session_id":"s1","session":{"session_id":"s1","version":1,)"
                  R"("created_at":0.005,"last_used_at":0,"turns":0,"tokens":0,"bytes":0,)"
                  R"("implicit":false,"secret":false,"options":{},"metadata":{}},)"
                  R"("report":{"attached":0,"branched":0,"restarted":0,"started":0,"choices":0,)"
                  R"("ambiguous":0,"reasons":{},"first_differences":{}},"records":[],)"
                  R"("metadata":{"accumulated_token_ids":[],"max_trim_tokens":1,"version":1,)"
                  R"("tree":{"nodes":[],"leaves":[]}}})");
}

TEST(SessionView, a_record_is_the_request_and_the_response_of_an_engine) {
  Scene scene;
  auto request = Scene::request({system("be brief"), user("hello")});
  request.tools = {tool("look")};
  request.sampling.temperature = 0.5;
  request.template_kwargs = R"({"enable_thinking": false})";
  const TurnPtr turn = scene.recorded(std::move(request), "fine<|im_end|>");
  const auto view = session_view(session(2), {turn}, 0);
  ASSERT_EQ(size_at(view, "records"), 1U);
  const std::string record = at(view, {"records", "0"});
  EXPECT_EQ(std::stod(at(record, {"timestamp"})),
            static_cast<double>(turn->times.committed_ms) / 1000);
  EXPECT_EQ(std::stod(at(record, {"request_timestamp"})),
            static_cast<double>(turn->times.received_ms) / 1000);
  EXPECT_EQ(at(record, {"method"}), "POST");
  EXPECT_EQ(at(record, {"path"}), "/v1/chat/completions");
  EXPECT_EQ(at(record, {"status_code"}), "200");

  EXPECT_EQ(at(record, {"request", "model"}), "toy");
  EXPECT_EQ(at(record, {"request", "messages"}),
            R"([{"role":"system","content":"be brief"},{"role":"user","content":"hello"}])");
  EXPECT_EQ(at(record, {"request", "tools", "0"}), tool("look").raw);
  EXPECT_EQ(at(record, {"request", "input_ids"}), list_of(trajectory::prompt_of(turn)));
  EXPECT_EQ(at(record, {"request", "temperature"}), "0.5");
  EXPECT_EQ(at(record, {"request", "max_tokens"}), std::to_string(turn->max_new_tokens));
  EXPECT_EQ(at(record, {"request", "chat_template_kwargs"}), R"({"enable_thinking": false})");

  const std::string response = at(record, {"response"});
  EXPECT_EQ(at(response, {"id"}), "chatcmpl-1");
  EXPECT_EQ(at(response, {"object"}), "chat.completion");
  EXPECT_EQ(at(response, {"choices", "0", "message"}), R"({"role":"assistant","content":"fine"})");
  EXPECT_EQ(at(response, {"choices", "0", "finish_reason"}), "stop");
  const auto prompt_size = std::to_string(trajectory::prompt_of(turn).size());
  EXPECT_EQ(at(response, {"usage", "prompt_tokens"}), prompt_size);
  EXPECT_EQ(at(response, {"usage", "completion_tokens"}), std::to_string(turn->completion.size()));
  const std::string meta = at(response, {"choices", "0", "meta_info"});
  EXPECT_EQ(at(meta, {"prompt_tokens"}), prompt_size);
  EXPECT_EQ(at(meta, {"finish_reason", "type"}), "stop");
  EXPECT_EQ(at(meta, {"output_token_logprobs", "0"}),
            "[-0.5," + std::to_string(turn->completion[0]) + ",null]");
}

TEST(SessionView, records_are_the_path_to_the_turn_committed_last) {
  Scene scene;
  const auto one = scene.recorded(Scene::request({user("1")}), "a<|im_end|>");
  const auto two = scene.recorded(Scene::continued(one, user("2")), "b<|im_end|>");
  const auto other = scene.recorded(Scene::continued(one, user("3")), "c<|im_end|>");
  const auto view = session_view(session(4), {one, two, other}, 0);
  EXPECT_EQ(size_at(view, "records"), 2U);
  EXPECT_EQ(at(view, {"records", "1", "response", "choices", "0", "message", "content"}), "c");
  EXPECT_EQ(at(view, {"records", "1", "request", "messages", "1"}),
            R"({"role":"assistant","content":"a"})");
  EXPECT_EQ(at(view, {"metadata", "accumulated_token_ids"}), list_of(trajectory::row_of(other)));
  EXPECT_EQ(at(view, {"metadata", "version"}), "4");
}

TEST(SessionView, the_tree_lists_every_turn_and_the_way_to_each_leaf) {
  Scene scene;
  const auto one = scene.recorded(Scene::request({user("1")}), "a<|im_end|>");
  auto cut = testing::FakeEngine::says(encoded("b"));
  cut.finish = {engine::EngineFinish::Kind::kLength, "length", {}, {}};
  scene.engine.scripts.push_back(cut);
  const auto two = scene.turn(Scene::continued(one, user("2"))).value();
  const auto other = scene.recorded(Scene::continued(one, user("3")), "c<|im_end|>");
  const auto view = session_view(session(4), {one, two, other}, 0);
  const std::string tree = at(view, {"metadata", "tree"});
  ASSERT_EQ(size_at(tree, "nodes"), 3U);
  const std::string node = at(tree, {"nodes", "1"});
  EXPECT_EQ(at(node, {"id"}), std::to_string(two->id));
  EXPECT_EQ(at(node, {"parent"}), std::to_string(one->id));
  EXPECT_EQ(at(tree, {"nodes", "0", "parent"}), "null");
  EXPECT_EQ(at(node, {"seq"}), "2");
  EXPECT_EQ(at(node, {"truncated"}), "true");
  EXPECT_EQ(at(tree, {"nodes", "2", "truncated"}), "false");
  EXPECT_EQ(std::stod(at(node, {"committed_at"})),
            static_cast<double>(two->times.committed_ms) / 1000);
  EXPECT_EQ(at(node, {"completion_span"}),
            "[" + std::to_string(two->row_size - 1) + "," + std::to_string(two->row_size) + "]");
  EXPECT_EQ(at(node, {"num_tokens"}), std::to_string(two->row_size));
  EXPECT_EQ(at(node, {"response_id"}), "chatcmpl-1");
  const auto path = [&](const TurnPtr& leaf) {
    return "{\"node_id\":\"" + std::to_string(leaf->id) + "\",\"path_node_ids\":[\"" +
           std::to_string(one->id) + "\",\"" + std::to_string(leaf->id) + "\"]}";
  };
  EXPECT_EQ(at(tree, {"leaves"}), "[" + path(two) + "," + path(other) + "]");
}

TEST(SessionView, tool_messages_keep_their_call_and_unknown_fields) {
  Scene scene;
  const auto one = scene.recorded(
      Scene::request({user("1")}),
      "<tool_call>\n{\"name\": \"look\", \"arguments\": {}}\n</tool_call><|im_end|>");
  auto answer = result("42");
  answer.tool_call_id = one->answer.tool_calls[0].id;
  answer.unknown = {{"extra", "[1]"}};
  const auto two = scene.recorded(Scene::continued(one, answer), "b<|im_end|>");
  const auto view = session_view(session(3), {one, two}, 0);
  EXPECT_EQ(at(view, {"records", "1", "request", "messages", "2"}),
            R"({"role":"tool","content":"42","tool_call_id":")" + answer.tool_call_id +
                R"(","extra":[1]})");
  EXPECT_EQ(at(view, {"records", "1", "request", "messages", "1", "tool_calls", "0", "id"}),
            answer.tool_call_id);
}

}  // namespace
}  // namespace verbatim::gateway
