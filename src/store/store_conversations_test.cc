// What stores promise of conversations.
#include <gtest/gtest.h>

#include "store/testing/full_turn.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::testing {
namespace {

using base::ErrorKind;

constexpr std::size_t kUnbounded = std::size_t{1} << 40;

std::unique_ptr<StoreStage> in_memory() {
  return memory_stage(1, kUnbounded);
}
std::unique_ptr<StoreStage> on_disk() {
  return std::make_unique<SqliteStage>(1);
}

class Conversations : public ::testing::TestWithParam<std::unique_ptr<StoreStage> (*)()> {
 protected:
  std::unique_ptr<StoreStage> stage_ = GetParam()();
  base::SeededRandom random_{5};

  static ConversationChange adding(std::vector<std::string> ids) {
    ConversationChange change;
    change.id = "conv_1";
    change.now_ms = 100;
    for (const auto& id : ids) change.added.push_back({id, R"({"id":")" + id + R"("})"});
    return change;
  }
  static ConversationChange removing(const std::string& id) {
    ConversationChange change;
    change.id = "conv_1";
    change.now_ms = 100;
    change.removed = id;
    return change;
  }
  base::Status create(std::vector<std::string> ids, const std::string& owner = "o") {
    SessionSpec spec("conv_1", 7);
    spec.owner = owner;
    auto first = adding(std::move(ids));
    first.now_ms = spec.created_ms;
    first.metadata = R"({"k":"v"})";
    return stage_->run(stage_->store().create_conversation(std::move(spec), std::move(first)));
  }
  base::Result<Conversation> change(ConversationChange change) {
    return stage_->run(stage_->store().change_conversation(std::move(change)));
  }
  std::optional<Conversation> read(const std::string& id = "conv_1") {
    return stage_->run(stage_->store().conversation(id)).value();
  }
  // "seq:id" of each.
  std::vector<std::string> items(ItemQuery query = {}) {
    query.conversation = "conv_1";
    if (query.limit == 0) query.limit = 100;
    std::vector<std::string> names;
    const auto found = stage_->run(stage_->store().conversation_items(query)).value();
    for (const auto& item : found) names.push_back(std::to_string(item->seq) + ":" + item->id);
    return names;
  }
  base::Result<std::vector<TurnPtr>> answer(TurnPtr parent, ConversationChange change) {
    NewTurns added(full_turn(random_, "conv_1", std::move(parent)), SessionUse::kExisting);
    change.answer = {added.turns.front()->id, true, R"({"tools":[]})"};
    added.response =
        full_response("resp_" + std::to_string(added.turns.front()->id), *added.turns.front());
    added.conversation = std::make_unique<ConversationChange>(std::move(change));
    return stage_->run(stage_->store().commit(std::move(added)));
  }
  using Names = std::vector<std::string>;
};

TEST_P(Conversations, hold_their_items_in_order_and_page_through_them) {
  ASSERT_TRUE(create({"a", "b"}).ok());
  ASSERT_TRUE(change(adding({"c", "d"})).ok());
  for (const bool again : {false, true}) {
    if (again && !stage_->restart()) break;
    const auto kept = read();
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->id, "conv_1");
    EXPECT_EQ(kept->owner, "o");
    EXPECT_EQ(kept->created_ms, 7);
    EXPECT_EQ(kept->metadata, R"({"k":"v"})");
    EXPECT_EQ(kept->items, 4u);
    EXPECT_EQ(kept->bytes, 4 * std::string(R"({"id":"a"})").size());
    EXPECT_EQ(kept->version, 2u);
    EXPECT_EQ(kept->turn, 0u);
    EXPECT_EQ(items(), (Names{"1:a", "2:b", "3:c", "4:d"}));
    EXPECT_EQ(items({.limit = 2}), (Names{"1:a", "2:b"}));
    EXPECT_EQ(items({.behind = 2, .limit = 1}), (Names{"3:c"}));
    EXPECT_EQ(items({.limit = 3, .descending = true}), (Names{"4:d", "3:c", "2:b"}));
    EXPECT_EQ(items({.behind = 2, .descending = true}), (Names{"1:a"}));
    EXPECT_EQ(items({.behind = 4}), Names{});
    EXPECT_EQ(items({.ids = {"d", "x", "a", "d"}}), (Names{"1:a", "4:d"}));
  }
  EXPECT_FALSE(read("conv_2"));
}

TEST_P(Conversations, take_a_change_whole_or_not_at_all) {
  ASSERT_TRUE(create({"a"}).ok());
  const std::string before = stage_->store().dump();
  const auto refused = [&](ConversationChange wrong, ErrorKind kind, const std::string& code) {
    const auto done = change(std::move(wrong));
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().kind, kind);
    EXPECT_EQ(done.error().code, code);
    EXPECT_EQ(stage_->store().dump(), before);
  };
  refused(adding({"b", "a"}), ErrorKind::kInvalidRequest, "item_already_in_conversation");
  refused(adding({"b", "b"}), ErrorKind::kInvalidRequest, "item_already_in_conversation");
  refused(removing("x"), ErrorKind::kNotFound, "not_found");
  auto late = adding({"b"});
  late.version = 2;
  refused(late, ErrorKind::kConflict, "conversation_locked");
  late.id = "conv_2";
  refused(late, ErrorKind::kNotFound, "not_found");
  EXPECT_FALSE(create({}).ok()) << "its id is taken";
  EXPECT_EQ(stage_->store().dump(), before);
}

TEST_P(Conversations, of_an_id_that_comes_twice_are_not_begun) {
  const auto begun = create({"a", "a"});
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().code, "item_already_in_conversation");
  EXPECT_EQ(stage_->store().dump(), "");
  EXPECT_TRUE(create({"a"}).ok());
}

TEST_P(Conversations, are_not_what_every_session_has) {
  ASSERT_TRUE(stage_->run(stage_->store().create_session(SessionSpec("conv_1", 1))).ok());
  EXPECT_FALSE(read());
  EXPECT_FALSE(change(adding({"a"})).ok());
  EXPECT_EQ(items(), Names{});
  auto version = adding({"a"});
  version.version = 1;
  EXPECT_FALSE(answer(nullptr, version).ok());
  EXPECT_TRUE(stage_->run(stage_->store().turns("conv_1")).value().empty());
}

TEST_P(Conversations, go_on_behind_the_turn_that_answered_all_items_before) {
  ASSERT_TRUE(create({"a"}).ok());
  auto first = adding({"b", "c"});
  first.version = 1;
  const auto turn = answer(nullptr, first);
  ASSERT_TRUE(turn.ok());
  auto kept = read();
  EXPECT_EQ(kept->turn, turn->front()->id);
  EXPECT_EQ(kept->answered, 3u);
  EXPECT_TRUE(kept->instructed);
  EXPECT_EQ(kept->carried, R"({"tools":[]})");
  ASSERT_TRUE(change(adding({"d"})).ok());
  kept = read();
  EXPECT_EQ(kept->turn, turn->front()->id) << "what came behind it changes nothing of it";
  EXPECT_EQ(kept->answered, 3u);
  EXPECT_EQ(kept->last, 4u);
  ASSERT_TRUE(change(removing("d")).ok());
  EXPECT_EQ(read()->turn, turn->front()->id);
  ASSERT_TRUE(change(removing("b")).ok());
  kept = read();
  EXPECT_EQ(kept->turn, 0u) << "it answered an item that is gone";
  EXPECT_EQ(kept->items, 2u);
  EXPECT_EQ(kept->bytes, 2 * std::string(R"({"id":"a"})").size());
  EXPECT_EQ(kept->carried, R"({"tools":[]})");
  ASSERT_TRUE(change(adding({"b"})).ok());
  EXPECT_EQ(items(), (Names{"1:a", "3:c", "5:b"})) << "no seq comes twice";
}

TEST_P(Conversations, take_a_turn_only_with_the_version_it_was_asked_of) {
  ASSERT_TRUE(create({"a"}).ok());
  auto first = adding({"b"});
  first.version = 1;
  ASSERT_TRUE(change(adding({"c"})).ok());
  const std::string before = stage_->store().dump();
  const auto late = answer(nullptr, first);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(late.error().code, "conversation_locked");
  EXPECT_EQ(stage_->store().dump(), before) << "neither turn nor response nor items";
  first.version = 2;
  EXPECT_TRUE(answer(nullptr, first).ok());
}

TEST_P(Conversations, are_not_broken_by_a_change_of_metadata) {
  ASSERT_TRUE(create({"a"}).ok());
  ConversationChange words;
  words.id = "conv_1";
  words.metadata = R"({"x":"y"})";
  const auto changed = change(words);
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed->metadata, R"({"x":"y"})");
  EXPECT_EQ(changed->owner, "o");
  EXPECT_EQ(read()->version, 1u);
  auto first = adding({"b"});
  first.version = 1;
  EXPECT_TRUE(answer(nullptr, first).ok());
}

TEST_P(Conversations, keep_what_an_engine_gives_an_id_for_the_second_time) {
  ASSERT_TRUE(create({"msg_1", "msg_1~3"}).ok());
  ASSERT_TRUE(answer(nullptr, adding({"msg_1", ""})).ok());
  EXPECT_EQ(items(), (Names{"1:msg_1", "2:msg_1~3", "3:msg_1~3~3", "4:item~4"}));
}

TEST_P(Conversations, leave_with_their_session) {
  ASSERT_TRUE(create({"a"}).ok());
  ASSERT_TRUE(answer(nullptr, adding({"b"})).ok());
  ASSERT_TRUE(stage_->run(stage_->store().delete_session("conv_1")).ok());
  EXPECT_FALSE(read());
  EXPECT_EQ(items(), Names{});
  EXPECT_EQ(stage_->store().dump(), "");
  ASSERT_TRUE(create({}).ok());
  EXPECT_EQ(items(), Names{});
}

TEST_P(Conversations, stay_when_the_last_response_is_deleted) {
  ASSERT_TRUE(create({}).ok());
  const auto turn = answer(nullptr, adding({"b"}));
  ASSERT_TRUE(turn.ok());
  const auto id = "resp_" + std::to_string(turn->front()->id);
  ASSERT_TRUE(stage_->run(stage_->store().delete_response(id)).value());
  EXPECT_EQ(read()->turn, turn->front()->id);
  EXPECT_EQ(items(), (Names{"1:b"}));
}

TEST_P(Conversations, are_in_use_when_items_change) {
  ASSERT_TRUE(create({}).ok());
  const auto info = [&] { return *stage_->run(stage_->store().session("conv_1")).value(); };
  const auto before = info();
  EXPECT_EQ(before.last_used_ms, 7);
  auto later = adding({"a"});
  later.now_ms = 5'000;
  ASSERT_TRUE(change(later).ok());
  EXPECT_EQ(info().last_used_ms, 5'000);
  EXPECT_GT(info().version, before.version);
  EXPECT_FALSE(stage_->run(stage_->store().expire_session("conv_1", 5'000)).value());
  EXPECT_TRUE(stage_->run(stage_->store().expire_session("conv_1", 5'001)).value());
  EXPECT_FALSE(read());
}

INSTANTIATE_TEST_SUITE_P(Stores, Conversations, ::testing::Values(in_memory, on_disk),
                         [](const auto& kind) { return kind.index == 0 ? "memory" : "sqlite"; });

TEST(StoredConversations, are_as_many_as_an_owner_may_have_sessions) {
  MemoryLimits limits;
  limits.owner_sessions = 1;
  const auto stage = memory_stage_within(1, limits);
  const auto create = [&](const std::string& id) {
    ConversationChange first;
    first.id = id;
    return stage->run(stage->store().create_conversation(SessionSpec(id, 1), first));
  };
  ASSERT_TRUE(create("conv_1").ok());
  const auto refused = create("conv_2");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, "session_quota");
}

TEST(StoredConversations, count_for_what_memory_holds) {
  MemoryLimits limits;
  limits.bytes = 100'000;
  const auto stage = memory_stage_within(1, limits);
  ConversationChange change;
  change.id = "conv_1";
  ASSERT_TRUE(
      stage->run(stage->store().create_conversation(SessionSpec("conv_1", 1), change)).ok());
  int added = 0;
  for (; added < 100; ++added) {
    change.added = {{"m" + std::to_string(added), std::string(10'000, 'x')}};
    if (!stage->run(stage->store().change_conversation(change)).ok()) break;
  }
  EXPECT_GT(added, 5);
  EXPECT_LT(added, 12);
  for (int i = 0; i < 5; ++i) {
    ConversationChange less;
    less.id = "conv_1";
    less.removed = "m" + std::to_string(i);
    ASSERT_TRUE(stage->run(stage->store().change_conversation(less)).ok());
  }
  EXPECT_TRUE(stage->run(stage->store().change_conversation(change)).ok()) << "room is given back";
}

}  // namespace
}  // namespace verbatim::store::testing
