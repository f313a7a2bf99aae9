#include "store/memory_store.h"

#include <gtest/gtest.h>

#include "base/task.h"

namespace verbatim::store {
namespace {

// Runs a task that never waits.
template <class T>
T run(base::Task<T> task) {
  std::optional<T> result;
  base::spawn([](base::Task<T> t, std::optional<T>& out) -> base::Task<void> {
    out.emplace(co_await std::move(t));
  }(std::move(task), result));
  return std::move(*result);
}

std::unique_ptr<Turn> make_turn(const std::string& session, TurnPtr parent, std::uint8_t mark) {
  auto turn = std::make_unique<Turn>();
  turn->id = mark;
  turn->session_id = session;
  turn->parent = std::move(parent);
  turn->root = std::make_shared<trajectory::RootInfo>();
  turn->digest.bytes[0] = mark;
  turn->completion = {mark};
  turn->logprobs = {-0.5};
  return turn;
}

std::vector<TurnPtr> find(MemoryStore& store, std::uint8_t mark) {
  trajectory::Digest digest;
  digest.bytes[0] = mark;
  const std::vector<trajectory::Digest> digests{digest};
  return run(store.find(digests)).value();
}

TEST(MemoryStore, gives_turns_their_numbers_and_finds_them) {
  MemoryStore store;
  ASSERT_TRUE(run(store.create_session("s", 7)).ok());
  const auto first = run(store.commit(make_turn("s", nullptr, 1), SessionUse::kExisting));
  ASSERT_TRUE(first.ok());
  const auto second = run(store.commit(make_turn("s", *first, 2), SessionUse::kExisting));
  EXPECT_EQ((*second)->seq, 2U);
  EXPECT_EQ((*second)->branch, 1U) << "the first child goes on with its parent's branch";
  EXPECT_EQ((*run(store.commit(make_turn("s", *first, 3), SessionUse::kExisting)))->branch, 3U);
  ASSERT_EQ(find(store, 2).size(), 1U);
  EXPECT_EQ(find(store, 2)[0], *second);
  EXPECT_EQ(run(store.turns("s")).value().size(), 3U);
}

TEST(MemoryStore, raises_the_version_with_every_change) {
  MemoryStore store;
  ASSERT_TRUE(run(store.create_session("s", 0)).ok());
  const auto before = run(store.session("s")).value()->version;
  ASSERT_TRUE(run(store.commit(make_turn("s", nullptr, 1), SessionUse::kExisting)).ok());
  EXPECT_GT(run(store.session("s")).value()->version, before);
}

TEST(MemoryStore, refuses_a_commit_into_a_deleted_session_and_stays_the_same) {
  MemoryStore store;
  ASSERT_TRUE(run(store.create_session("s", 0)).ok());
  const auto first = run(store.commit(make_turn("s", nullptr, 1), SessionUse::kExisting));
  ASSERT_TRUE(run(store.delete_session("s")).ok());
  const std::string before = store.dump();
  EXPECT_EQ(run(store.commit(make_turn("s", *first, 2), SessionUse::kExisting)).error().kind,
            base::ErrorKind::kNotFound);
  EXPECT_EQ(run(store.commit(make_turn("s", *first, 2), SessionUse::kImplicit)).error().kind,
            base::ErrorKind::kNotFound);
  EXPECT_EQ(store.dump(), before);
  EXPECT_TRUE(find(store, 1).empty());
  EXPECT_EQ(run(store.delete_session("s")).error().kind, base::ErrorKind::kNotFound);
}

TEST(MemoryStore, reading_changes_nothing) {
  MemoryStore store;
  ASSERT_TRUE(run(store.create_session("s", 0)).ok());
  ASSERT_TRUE(run(store.commit(make_turn("s", nullptr, 1), SessionUse::kExisting)).ok());
  const std::string before = store.dump();
  (void)run(store.session("s"));
  (void)run(store.turns("s"));
  (void)find(store, 1);
  EXPECT_EQ(store.dump(), before);
}

TEST(MemoryStore, drops_the_implicit_session_that_committed_longest_ago) {
  MemoryStore store(20'000);
  ASSERT_TRUE(run(store.create_session("kept", 0)).ok());
  ASSERT_TRUE(run(store.commit(make_turn("kept", nullptr, 200), SessionUse::kExisting)).ok());
  for (std::uint8_t i = 1; i <= 100; ++i) {
    ASSERT_TRUE(
        run(store.commit(make_turn("chat" + std::to_string(i), nullptr, i), SessionUse::kImplicit))
            .ok());
  }
  EXPECT_TRUE(find(store, 1).empty());
  EXPECT_EQ(find(store, 100).size(), 1U);
  EXPECT_EQ(find(store, 200).size(), 1U) << "created sessions stay";
  EXPECT_FALSE(run(store.session("chat1")).value().has_value());
}

}  // namespace
}  // namespace verbatim::store
