// Conversations over HTTP: their items, the turns in them, and who may write when.
#include <gtest/gtest.h>

#include "api/testing/gateway_on_sim.h"
#include "base/timer.h"

namespace verbatim::api {
namespace {

using base::Task;
using testing::Answer;
using testing::GatewayOnSim;
using testing::HttpCaller;

constexpr const char* kConversations = "/v1/conversations";

std::string path_of(const std::string& id, const std::string& more = "") {
  return std::string(kConversations) + "/" + id + more;
}

std::string said(const std::string& role, const std::string& text) {
  return R"({"role":")" + role + R"(","content":")" + text + R"("})";
}

Task<std::string> make(HttpCaller& c, std::string items = "") {
  const auto made = co_await c.post(kConversations, R"({"items":[)" + items + "]}");
  EXPECT_EQ(made.status, 200) << made.body;
  co_return made.text("id");
}

std::string turn_body(const std::string& id, const std::string& input,
                      const std::string& more = "") {
  return R"({"input":")" + input + R"(","conversation":")" + id + "\"" + more + "}";
}

// "role or type: text" of each item, in order.
Task<std::vector<std::string>> items_of(HttpCaller& c, std::string id) {
  std::vector<std::string> items;
  const auto list = co_await c.get(path_of(id, "/items?order=asc&limit=100"));
  for (int i = 0; !list.text("data", i).empty(); ++i) {
    EXPECT_NE(list.text("data", i, "id"), "");
    const std::string role = list.text("data", i, "role");
    items.push_back((role.empty() ? list.text("data", i, "type") : role) + ": " +
                    list.text("data", i, "content", 0, "text"));
  }
  co_return items;
}

using Names = std::vector<std::string>;

// Prompts begin with all that was sampled and sent before.
void expect_extends(const trajectory::Turn& turn, const trajectory::TurnPtr& before) {
  ASSERT_EQ(turn.parent, before);
  EXPECT_EQ(turn.attach.reason, "named");
}

TEST(Conversations, items_reach_the_model_and_answers_join_them) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"fine"})", R"({"text":"more"})", R"({"text":"last"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make(c, said("user", "a") + "," + said("assistant", "b"));
    const auto first = co_await c.post("/v1/responses", turn_body(id, "c"));
    EXPECT_EQ(first.status, 200) << first.body;
    EXPECT_EQ(first.text("conversation", "id"), id);
    EXPECT_EQ(first.text("previous_response_id"), "null");
    const Names expected{"user: a", "assistant: b", "user: c", "assistant: fine"};
    EXPECT_EQ(co_await items_of(c, id), expected);
    const auto turns = co_await gateway.store.turns(id);
    EXPECT_EQ(turns.value().size(), 1U);
    const auto& root = turns.value().front();
    EXPECT_EQ(root->messages.size(), 3U);
    EXPECT_EQ(root->messages.front().text, "a");
    // What is added meanwhile goes behind what was sampled.
    const auto added =
        co_await c.post(path_of(id, "/items"), R"({"items":[)" + said("user", "d") + "]}");
    EXPECT_EQ(added.status, 200) << added.body;
    EXPECT_EQ(added.text("data", 0, "content", 0, "text"), "d");
    EXPECT_EQ(added.text("first_id"), added.text("data", 0, "id"));
    const auto second = co_await c.post("/v1/responses", turn_body(id, "e"));
    EXPECT_EQ(second.status, 200) << second.body;
    const auto third = co_await c.post(
        "/v1/responses", R"({"input":"f","store":false,"conversation":{"id":")" + id + "\"}}");
    EXPECT_EQ(third.status, 200) << third.body;
    const auto all = co_await gateway.store.turns(id);
    EXPECT_EQ(all.value().size(), 3U);
    expect_extends(*all.value()[1], all.value()[0]);
    expect_extends(*all.value()[2], all.value()[1]);
    EXPECT_EQ(all.value()[1]->messages.size(), 2U);
    const auto gone = co_await c.get("/v1/responses/" + third.text("id"));
    EXPECT_EQ(gone.status, 404) << "not stored, and said in the conversation all the same";
    EXPECT_EQ((co_await items_of(c, id)).size(), 9U);
  });
}

TEST(Conversations, what_was_changed_is_read_anew) {
  GatewayOnSim gateway;
  gateway.script(
      {R"({"text":"one"})", R"({"text":"two"})", R"({"text":"three"})", R"({"text":"four"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make(c);
    (void)co_await c.post("/v1/responses", turn_body(id, "a"));
    (void)co_await c.post("/v1/responses", turn_body(id, "b"));
    auto list = co_await c.get(path_of(id, "/items?order=asc"));
    // The last exchange goes: what is left is the first turn, to the letter.
    for (int i : {3, 2}) {
      const auto gone =
          co_await c.call("DELETE", path_of(id, "/items/" + list.text("data", i, "id")));
      EXPECT_EQ(gone.status, 200) << gone.body;
      EXPECT_EQ(gone.text("object"), "conversation");
    }
    const auto third = co_await c.post("/v1/responses", turn_body(id, "c"));
    EXPECT_EQ(third.status, 200) << third.body;
    auto turns = (co_await gateway.store.turns(id)).value();
    EXPECT_EQ(turns[2]->parent, turns[0]) << "it attaches by its history";
    // A question goes: no turn has such a history.
    list = co_await c.get(path_of(id, "/items?order=asc"));
    (void)co_await c.call("DELETE", path_of(id, "/items/" + list.text("data", 1, "id")));
    (void)co_await c.call("DELETE", path_of(id, "/items/" + list.text("data", 0, "id")));
    const auto fourth = co_await c.post("/v1/responses", turn_body(id, "d"));
    EXPECT_EQ(fourth.status, 200) << fourth.body;
    turns = (co_await gateway.store.turns(id)).value();
    EXPECT_EQ(turns[3]->parent, nullptr);
    EXPECT_EQ(turns[3]->messages.size(), 3U) << "c, three, d";
  });
}

// A slow turn in a conversation, on a connection of its own.
struct Slow {
  Answer answer;
  bool over = false;
};
void begin(GatewayOnSim& gateway, std::string body, Slow& slow) {
  base::spawn([](GatewayOnSim& g, std::string text, Slow& out) -> Task<void> {
    HttpCaller other(g.world.runtime, g.port);
    out.answer = co_await other.post("/v1/responses", text);
    co_await other.stop();
    out.over = true;
  }(gateway, std::move(body), slow));
}
Task<void> wait_for(GatewayOnSim& gateway, const Slow& slow) {
  // NOLINTNEXTLINE(bugprone-infinite-loop): the other task sets it
  while (!slow.over)
    co_await base::sleep_for(gateway.world.executor, std::chrono::milliseconds(100));
}

TEST(Conversations, one_writes_at_a_time_and_the_others_are_told_before_the_model_runs) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"one","delay_ms":2000})", R"({"text":"two"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make(c, said("user", "a"));
    const auto item = (co_await c.get(path_of(id, "/items"))).text("data", 0, "id");
    Slow slow;
    begin(gateway, turn_body(id, "b"), slow);
    co_await base::sleep_for(gateway.world.executor, std::chrono::milliseconds(500));
    const auto requests = gateway.engine->stats().requests;
    const std::string before = gateway.store.dump();
    const std::string one = R"({"items":[)" + said("user", "x") + "]}";
    std::vector<Answer> locked;
    locked.push_back(co_await c.post("/v1/responses", turn_body(id, "c")));
    locked.push_back(co_await c.post(path_of(id, "/items"), one));
    locked.push_back(co_await c.call("DELETE", path_of(id, "/items/" + item)));
    for (const auto& answer : locked) {
      EXPECT_EQ(answer.status, 409) << answer.body;
      EXPECT_EQ(answer.text("error", "code"), "conversation_locked");
      EXPECT_EQ(answer.text("error", "param"), "conversation");
    }
    EXPECT_EQ(gateway.engine->stats().requests, requests) << "the engine was not asked";
    EXPECT_EQ(gateway.store.dump(), before);
    const auto words = co_await c.post(path_of(id), R"({"metadata":{"k":"v"}})");
    EXPECT_EQ(words.status, 200) << "no item changes: " << words.body;
    co_await wait_for(gateway, slow);
    EXPECT_EQ(slow.answer.status, 200) << slow.answer.body;
    const auto free = co_await c.post("/v1/responses", turn_body(id, "c"));
    EXPECT_EQ(free.status, 200) << free.body;
    EXPECT_EQ((co_await items_of(c, id)).size(), 5U);
  });
}

TEST(Conversations, are_free_again_whatever_became_of_a_turn) {
  GatewayOnSim gateway;
  gateway.script({R"({"status":500,"body":{"error":{"message":"no"}}})",
                  R"({"text":"a b c","delay_ms":60000})", R"({"text":"fine"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make(c, said("user", "a"));
    const std::string before = gateway.store.dump();
    const auto failed = co_await c.post("/v1/responses", turn_body(id, "b"));
    EXPECT_EQ(failed.status, 500);
    const auto wrong = co_await c.post("/v1/responses", turn_body(id, "b", R"(,"tools":[{}])"));
    EXPECT_EQ(wrong.status, 400);
    const auto orphan =
        R"({"conversation":")" + id +
        R"(","input":[{"type":"function_call_output","call_id":"x","output":"y"}]})";
    EXPECT_EQ((co_await c.post("/v1/responses", orphan)).status, 400);
    base::CancelSignal hang_up;
    base::Timer timer;
    timer.arm(gateway.world.executor.timers(), gateway.in(std::chrono::seconds(1)),
              [&] { hang_up.fire("the test hangs up"); });
    HttpCaller leaver(gateway.world.runtime, gateway.port);
    leaver.hang_up = &hang_up;
    (void)co_await leaver.post("/v1/responses", turn_body(id, "b"));
    co_await leaver.stop();
    co_await base::sleep_for(gateway.world.executor, std::chrono::seconds(1));
    EXPECT_EQ(gateway.store.dump(), before);
    const auto good = co_await c.post("/v1/responses", turn_body(id, "b"));
    EXPECT_EQ(good.status, 200) << good.body;
  });
}

TEST(Conversations, deleted_they_end_their_turn_and_take_everything_along) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"one"})", R"({"text":"two","delay_ms":60000})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string empty = gateway.store.dump();
    const std::string id = co_await make(c, said("user", "a"));
    const auto first = co_await c.post("/v1/responses", turn_body(id, "b"));
    Slow slow;
    begin(gateway, turn_body(id, "c"), slow);
    co_await base::sleep_for(gateway.world.executor, std::chrono::milliseconds(500));
    const auto gone = co_await c.call("DELETE", path_of(id));
    EXPECT_EQ(gone.status, 200);
    EXPECT_EQ(gone.text("object"), "conversation.deleted");
    EXPECT_EQ(gone.text("deleted"), "true");
    co_await wait_for(gateway, slow);
    EXPECT_EQ(slow.answer.status, 404) << slow.answer.body;
    EXPECT_EQ(gateway.store.dump(), empty);
    const std::vector<std::string> paths{path_of(id), path_of(id, "/items"), "/sessions/" + id,
                                         "/v1/responses/" + first.text("id")};
    for (const auto& path : paths) EXPECT_EQ((co_await c.get(path)).status, 404) << path;
    const auto late = co_await c.post("/v1/responses", turn_body(id, "d"));
    EXPECT_EQ(late.status, 404) << late.body;
  });
}

// As replicas of the gateway would: past the table of this one.
TEST(Conversations, a_change_behind_the_back_of_a_turn_is_not_lost) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"one","delay_ms":2000})", R"({"text":"two"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make(c);
    Slow slow;
    begin(gateway, turn_body(id, "a"), slow);
    co_await base::sleep_for(gateway.world.executor, std::chrono::milliseconds(500));
    store::ConversationChange other;
    other.id = id;
    other.added.push_back({"msg_x", R"({"id":"msg_x","type":"message","role":"user",)"
                                    R"("content":[{"type":"input_text","text":"x"}]})"});
    EXPECT_TRUE((co_await gateway.store.change_conversation(other)).ok());
    const std::string before = gateway.store.dump();
    co_await wait_for(gateway, slow);
    EXPECT_EQ(slow.answer.status, 409) << slow.answer.body;
    EXPECT_EQ(slow.answer.text("error", "code"), "conversation_locked");
    EXPECT_EQ(gateway.store.dump(), before) << "neither turn nor response";
    const auto again = co_await c.post("/v1/responses", turn_body(id, "a"));
    EXPECT_EQ(again.status, 200) << again.body;
    const Names expected{"user: x", "user: a", "assistant: two"};
    EXPECT_EQ(co_await items_of(c, id), expected);
  });
}

TEST(Conversations, a_repeat_gets_what_the_first_got_though_others_went_on) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"one"})", R"({"text":"two"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make(c);
    const std::string tool = R"("tools":[{"type":"function","name":"f"}])";
    const std::string item = R"({"conversation":")" + id + R"(",)" + tool +
                             R"(,"input":[{"id":"msg_1","role":"user","content":"a"}]})";
    c.headers.set("Idempotency-Key", "k1");
    const auto first = co_await c.post("/v1/responses", item);
    EXPECT_EQ(first.status, 200) << first.body;
    c.headers.set("Idempotency-Key", "k2");
    const auto second = co_await c.post("/v1/responses", turn_body(id, "b", R"(,"tools":[])"));
    EXPECT_EQ(second.status, 200) << second.body;
    const std::string before = gateway.store.dump();
    c.headers.set("Idempotency-Key", "k1");
    const auto again = co_await c.post("/v1/responses", item);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(gateway.store.dump(), before);
    c.headers = {};
    const auto twice = co_await c.post("/v1/responses", item);
    EXPECT_EQ(twice.status, 400) << twice.body;
    EXPECT_EQ(twice.text("error", "code"), "item_already_in_conversation");
  });
}

TEST(Conversations, calls_and_outputs_may_come_by_either_way) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"fine"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make(
        c, said("user", "a") +
               R"(,{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"})");
    const auto missing = co_await c.post("/v1/responses", turn_body(id, "b"));
    EXPECT_EQ(missing.status, 400);
    EXPECT_NE(missing.body.find("c1"), std::string::npos) << missing.body;
    const auto added = co_await c.post(
        path_of(id, "/items"),
        R"({"items":[{"type":"function_call_output","call_id":"c1","output":"y"}]})");
    EXPECT_EQ(added.status, 200) << added.body;
    EXPECT_EQ(added.text("data", 0, "status"), "completed");
    const auto good = co_await c.post("/v1/responses", turn_body(id, "b"));
    EXPECT_EQ(good.status, 200) << good.body;
  });
}

TEST(Conversations, tools_hold_until_others_are_named) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"one"})", R"({"text":"two"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make(c);
    const auto first =
        co_await c.post("/v1/responses", turn_body(id, "a",
                                                   R"(,"tools":[{"type":"function","name":"f"}],)"
                                                   R"("instructions":"Be brief.")"));
    EXPECT_EQ(first.status, 200) << first.body;
    const auto second =
        co_await c.post("/v1/responses", turn_body(id, "b", R"(,"instructions":"Be brief.")"));
    EXPECT_EQ(second.text("tools", 0, "name"), "f") << second.body;
    const auto turns = (co_await gateway.store.turns(id)).value();
    expect_extends(*turns[1], turns[0]);
    EXPECT_EQ((co_await items_of(c, id)).size(), 4U) << "instructions are no items";
  });
}

TEST(Conversations, another_owner_sees_none_and_a_session_of_its_own_door_none_but_its_own) {
  const auto keys =
      gateway::ApiKeys::read("ann ann-key-0123456789\nbob bob-key-0123456789\n").value();
  GatewayOnSim gateway;
  gateway.options.keys = &keys;
  gateway.script({R"({"text":"one"})", R"({"text":"two"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    c.headers.set("Authorization", "Bearer ann-key-0123456789");
    const std::string id = co_await make(c, said("user", "a"));
    const auto item = (co_await c.get(path_of(id, "/items"))).text("data", 0, "id");
    const auto session = co_await c.post("/sessions", R"({"secret":true})");
    const std::string before = gateway.store.dump();
    struct Row {
      const char* method;
      std::string path, body;
    };
    const std::vector<Row> rows{
        {"GET", path_of(id), ""},
        {"POST", path_of(id), R"({"metadata":{}})"},
        {"DELETE", path_of(id), ""},
        {"GET", path_of(id, "/items"), ""},
        {"POST", path_of(id, "/items"), R"({"items":[)" + said("user", "x") + "]}"},
        {"GET", path_of(id, "/items/" + item), ""},
        {"DELETE", path_of(id, "/items/" + item), ""},
        {"POST", "/v1/responses", turn_body(id, "x")}};
    for (const auto& row : rows) {
      c.headers.set("Authorization", "Bearer bob-key-0123456789");
      const auto answer = co_await c.call(row.method, row.path, row.body);
      EXPECT_EQ(answer.status, 404) << row.method << row.path << answer.body;
    }
    c.headers.set("Authorization", "Bearer " + session.text("secret"));
    EXPECT_EQ((co_await c.get(path_of(id))).status, 404);
    EXPECT_EQ((co_await c.post(kConversations, "{}")).status, 401);
    EXPECT_EQ((co_await c.post("/v1/responses", turn_body(id, "x"))).status, 400);
    c.headers.set("Authorization", "Bearer ann-key-0123456789");
    c.headers.set("x-session-id", "mine");
    const auto elsewhere = co_await c.post("/v1/responses", turn_body(id, "x"));
    EXPECT_EQ(elsewhere.status, 400) << elsewhere.body;
    EXPECT_EQ(elsewhere.text("error", "param"), "conversation");
    EXPECT_EQ(gateway.store.dump(), before);
    c.headers = {};
    c.headers.set("Authorization", "Bearer ann-key-0123456789");
    const auto own = co_await c.post("/sessions/" + id + "/v1/responses", turn_body(id, "b"));
    EXPECT_EQ(own.status, 200) << own.body;
  });
}

TEST(Conversations, what_is_wrong_is_named_and_changes_nothing) {
  GatewayOnSim gateway;
  gateway.script({R"({"text":"never"})"});
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const std::string id = co_await make(c, R"({"id":"msg_1","role":"user","content":"a"})");
    const std::string before = gateway.store.dump();
    const auto requests = gateway.engine->stats().requests;
    std::string many, pairs;
    for (int i = 0; i < 21; ++i) many += (i == 0 ? "" : ",") + said("user", "x");
    for (int i = 0; i < 17; ++i) pairs += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":"v")";
    const std::string items = path_of(id, "/items");
    struct Row {
      std::string path, body, param;
    };
    const std::vector<Row> rows{
        {kConversations, R"({"items":{}})", "items"},
        {kConversations, R"({"items":[)" + many + "]}", "items"},
        {kConversations, R"({"items":[{"role":"king","content":"x"}]})", "items[0].role"},
        {kConversations, R"({"items":[{"type":"item_reference","id":"x"}]})", "items[0].type"},
        {kConversations, R"({"items":[{"id":5,"role":"user","content":"x"}]})", "items[0].id"},
        {kConversations, R"({"items":[{"id":"a/b","role":"user","content":"x"}]})", "items[0].id"},
        {kConversations, R"({"items":[{"id":"","role":"user","content":"x"}]})", "items[0].id"},
        {kConversations, R"({"metadata":[]})", "metadata"},
        {kConversations, R"({"metadata":{"k":1}})", "metadata.k"},
        {kConversations, R"({"metadata":{)" + pairs + "}}", "metadata"},
        {kConversations, R"({"metadata":{")" + std::string(65, 'k') + R"(":"v"}})", "metadata"},
        {kConversations, R"({"metadata":{"k":")" + std::string(513, 'v') + R"("}})", "metadata.k"},
        {kConversations, R"({"store":false})", "store"},
        {path_of(id), "{}", "metadata"},
        {path_of(id), R"({"items":[]})", "items"},
        {items, "{}", "items"},
        {items, R"({"items":[]})", "items"},
        {items, R"({"metadata":{}})", "metadata"},
        {items, R"({"items":[{"id":"msg_1","role":"user","content":"x"}]})", "items"},
        {"/v1/responses", R"({"input":"x","conversation":5})", "conversation"},
        {"/v1/responses", R"({"input":"x","conversation":{}})", "conversation.id"},
        {"/v1/responses", R"({"input":"x","conversation":""})", "conversation"},
        {"/v1/responses", turn_body(id, "x", R"(,"previous_response_id":"resp_1")"),
         "previous_response_id"}};
    for (const auto& row : rows) {
      const auto answer = co_await c.post(row.path, row.body);
      EXPECT_EQ(answer.status, 400) << row.body << answer.body;
      EXPECT_EQ(answer.text("error", "param"), row.param) << row.body << answer.body;
    }
    const std::vector<std::string> missing{path_of("conv_nowhere"), path_of("%00"),
                                           path_of(id, "/items/msg_2"),
                                           path_of(id, "/items?after=msg_2"), path_of(id, "/x")};
    for (const auto& path : missing) {
      const auto answer = co_await c.get(path);
      EXPECT_EQ(answer.status, 404) << path << answer.body;
      EXPECT_EQ(answer.text("error", "type"), "not_found_error") << answer.body;
    }
    const std::vector<std::string> queries{"?limit=0", "?limit=101", "?order=up", "?include=x",
                                           "?page=1"};
    for (const auto& query : queries)
      EXPECT_EQ((co_await c.get(items + query)).status, 400) << query;
    const auto hostile = turn_body(std::string(600, 'x'), "x");
    EXPECT_EQ((co_await c.post("/v1/responses", hostile)).status, 400);
    const auto unknown = turn_body("../../etc\\u0000", "x");
    EXPECT_EQ((co_await c.post("/v1/responses", unknown)).status, 404);
    EXPECT_EQ(gateway.store.dump(), before);
    EXPECT_EQ(gateway.engine->stats().requests, requests);
  });
}

TEST(Conversations, reading_changes_nothing_and_begins_without_a_word) {
  GatewayOnSim gateway;
  gateway.run([&](HttpCaller& c) -> Task<void> {
    const auto made = co_await c.post(kConversations, "");
    EXPECT_EQ(made.text("object"), "conversation");
    EXPECT_EQ(made.text("metadata"), "{}");
    const std::string id = made.text("id");
    EXPECT_EQ(id.substr(0, 5), "conv_");
    const std::string before = gateway.store.dump();
    const auto read = co_await c.get(path_of(id));
    EXPECT_EQ(read.body, made.body);
    const auto none = co_await c.get(path_of(id, "/items"));
    EXPECT_EQ(none.body,
              R"({"object":"list","data":[],"first_id":null,"last_id":null,"has_more":false})");
    EXPECT_EQ(gateway.store.dump(), before);
    const auto words = co_await c.post(path_of(id), R"({"metadata":{"k":"v"}})");
    EXPECT_EQ(words.text("metadata", "k"), "v");
    const auto cleared = co_await c.post(path_of(id), R"({"metadata":null})");
    EXPECT_EQ(cleared.text("metadata"), "{}");
  });
}

}  // namespace
}  // namespace verbatim::api
