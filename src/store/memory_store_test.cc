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

base::Status create(MemoryStore& store, SessionSpec spec) {
  return run(store.create_session(std::move(spec)));
}

base::Result<TurnPtr> commit(MemoryStore& store, std::unique_ptr<Turn> turn, SessionUse use) {
  NewTurns added(std::move(turn), use);
  auto recorded = run(store.commit(std::move(added)));
  if (!recorded) return recorded.error();
  return recorded->front();
}

std::vector<TurnPtr> find(MemoryStore& store, std::uint8_t mark) {
  trajectory::Digest digest;
  digest.bytes[0] = mark;
  const std::vector<trajectory::Digest> digests{digest};
  return run(store.find(digests)).value();
}

TEST(MemoryStore, gives_turns_their_numbers_and_finds_them) {
  MemoryStore store;
  ASSERT_TRUE(create(store, SessionSpec("s", 7)).ok());
  const auto first = commit(store, make_turn("s", nullptr, 1), SessionUse::kExisting);
  ASSERT_TRUE(first.ok());
  const auto second = commit(store, make_turn("s", *first, 2), SessionUse::kExisting);
  EXPECT_EQ((*second)->seq, 2U);
  EXPECT_EQ((*second)->branch, 1U) << "the first child goes on with its parent's branch";
  EXPECT_EQ((*commit(store, make_turn("s", *first, 3), SessionUse::kExisting))->branch, 3U);
  ASSERT_EQ(find(store, 2).size(), 1U);
  EXPECT_EQ(find(store, 2)[0], *second);
  EXPECT_EQ(run(store.turns("s")).value().size(), 3U);
}

TEST(MemoryStore, raises_the_version_with_every_change) {
  MemoryStore store;
  ASSERT_TRUE(create(store, SessionSpec("s", 0)).ok());
  const auto before = run(store.session("s")).value()->version;
  ASSERT_TRUE(commit(store, make_turn("s", nullptr, 1), SessionUse::kExisting).ok());
  EXPECT_GT(run(store.session("s")).value()->version, before);
}

TEST(MemoryStore, refuses_a_commit_into_a_deleted_session_and_stays_the_same) {
  MemoryStore store;
  ASSERT_TRUE(create(store, SessionSpec("s", 0)).ok());
  const auto first = commit(store, make_turn("s", nullptr, 1), SessionUse::kExisting);
  ASSERT_TRUE(run(store.delete_session("s")).ok());
  const std::string before = store.dump();
  EXPECT_EQ(commit(store, make_turn("s", *first, 2), SessionUse::kExisting).error().kind,
            base::ErrorKind::kNotFound);
  EXPECT_EQ(commit(store, make_turn("s", *first, 2), SessionUse::kImplicit).error().kind,
            base::ErrorKind::kNotFound);
  EXPECT_EQ(store.dump(), before);
  EXPECT_TRUE(find(store, 1).empty());
  EXPECT_EQ(run(store.delete_session("s")).error().kind, base::ErrorKind::kNotFound);
}

TEST(MemoryStore, reading_changes_nothing) {
  MemoryStore store;
  ASSERT_TRUE(create(store, SessionSpec("s", 0)).ok());
  ASSERT_TRUE(commit(store, make_turn("s", nullptr, 1), SessionUse::kExisting).ok());
  const std::string before = store.dump();
  (void)run(store.session("s"));
  (void)run(store.turns("s"));
  (void)find(store, 1);
  EXPECT_EQ(store.dump(), before);
}

TEST(MemoryStore, keeps_what_a_session_was_made_with) {
  MemoryStore store;
  SessionSpec spec("s", 7);
  spec.owner = "o";
  spec.options = R"({"mode":"linear"})";
  spec.metadata = R"({"run":1})";
  spec.secret_hash = "h";
  ASSERT_TRUE(create(store, spec).ok());
  const auto info = run(store.session_of_secret("h")).value();
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->spec->id, "s");
  EXPECT_EQ(info->spec->owner, "o");
  EXPECT_EQ(info->spec->options, spec.options);
  EXPECT_EQ(info->spec->metadata, spec.metadata);
  EXPECT_EQ(info->last_used_ms, 7);
  EXPECT_FALSE(info->implicit);
  EXPECT_NE(store.dump().find("linear"), std::string::npos);
  ASSERT_TRUE(run(store.delete_session("s")).ok());
  EXPECT_FALSE(run(store.session_of_secret("h")).value().has_value());
}

TEST(MemoryStore, refuses_an_id_or_a_secret_that_is_taken) {
  MemoryStore store;
  SessionSpec spec("s", 7);
  spec.secret_hash = "h";
  ASSERT_TRUE(create(store, spec).ok());
  const std::string before = store.dump();
  EXPECT_EQ(create(store, SessionSpec("s", 8)).error().kind, base::ErrorKind::kConflict);
  spec.id = "t";
  EXPECT_EQ(create(store, spec).error().kind, base::ErrorKind::kConflict);
  EXPECT_EQ(store.dump(), before);
}

TEST(MemoryStore, lists_the_sessions_of_an_owner_page_by_page) {
  MemoryStore store;
  for (const std::string id : {"d", "b", "c", "a"}) {
    SessionSpec spec(id, 1);
    spec.owner = id == "c" ? "other" : "o";
    ASSERT_TRUE(create(store, spec).ok());
  }
  NewTurns stateless(make_turn("i", nullptr, 9), SessionUse::kImplicit);
  auto made = std::make_shared<SessionSpec>("i", 1);
  made->owner = "o";
  stateless.spec = std::move(made);
  ASSERT_TRUE(run(store.commit(std::move(stateless))).ok());
  const auto page = [&](std::uint64_t after, std::size_t limit, bool implicit) {
    std::string ids;
    SessionQuery query{"o", after, limit, implicit};
    const auto found = run(store.sessions(std::move(query))).value();
    for (const auto& info : found) ids += info.spec->id;
    return ids;
  };
  EXPECT_EQ(page(0, 10, false), "dba");
  EXPECT_EQ(page(0, 10, true), "dbai");
  EXPECT_EQ(page(0, 2, false), "db");
  const auto second = run(store.session("b")).value()->number;
  EXPECT_EQ(page(second, 2, false), "a");
  ASSERT_TRUE(run(store.delete_session("b")).ok());
  EXPECT_EQ(page(second, 2, false), "a") << "a page goes on behind a session that is gone";
}

TEST(MemoryStore, siblings_are_added_all_or_not_at_all) {
  MemoryStore store;
  ASSERT_TRUE(create(store, SessionSpec("s", 0)).ok());
  const auto first = commit(store, make_turn("s", nullptr, 1), SessionUse::kExisting);
  const auto siblings = [&](std::uint8_t one, std::uint8_t two) {
    NewTurns added(make_turn("s", *first, one), SessionUse::kExisting);
    added.turns.push_back(make_turn("s", *first, two));
    return run(store.commit(std::move(added)));
  };
  const std::string before = store.dump();
  EXPECT_EQ(siblings(2, 1).error().kind, base::ErrorKind::kConflict) << "1 is taken";
  EXPECT_EQ(store.dump(), before);
  const auto added = siblings(2, 3);
  ASSERT_EQ(added->size(), 2U);
  EXPECT_EQ((*added)[0]->branch, 1U);
  EXPECT_EQ((*added)[1]->branch, 3U);
  EXPECT_EQ(run(store.last_turn("s")).value(), (*added)[1]);
}

TEST(MemoryStore, finds_turns_by_their_ids) {
  MemoryStore store;
  ASSERT_TRUE(create(store, SessionSpec("s", 0)).ok());
  const auto first = commit(store, make_turn("s", nullptr, 1), SessionUse::kExisting);
  const std::vector<std::uint64_t> ids{7, 1};
  EXPECT_EQ(run(store.by_ids(ids)).value(), std::vector<TurnPtr>{*first});
  EXPECT_EQ(run(store.last_turn("nowhere")).value(), nullptr);
  ASSERT_TRUE(run(store.delete_session("s")).ok());
  EXPECT_TRUE(run(store.by_ids(ids)).value().empty());
}

TEST(MemoryStore, refuses_more_than_it_may_keep) {
  MemoryStore store({.sessions = 2, .bytes = 2500});
  ASSERT_TRUE(create(store, SessionSpec("a", 0)).ok());
  ASSERT_TRUE(create(store, SessionSpec("b", 0)).ok());
  ASSERT_TRUE(commit(store, make_turn("a", nullptr, 1), SessionUse::kExisting).ok());
  const std::string before = store.dump();
  EXPECT_EQ(create(store, SessionSpec("c", 0)).error().kind, base::ErrorKind::kUnavailable);
  EXPECT_EQ(commit(store, make_turn("b", nullptr, 2), SessionUse::kExisting).error().kind,
            base::ErrorKind::kUnavailable);
  EXPECT_FALSE(run(store.takes_turns("b", SessionUse::kExisting)).ok())
      << "known before it is sampled";
  EXPECT_TRUE(run(store.takes_turns("s", SessionUse::kImplicit)).ok());
  EXPECT_EQ(store.dump(), before);
  ASSERT_TRUE(run(store.delete_session("a")).ok());
  EXPECT_TRUE(create(store, SessionSpec("c", 0)).ok());
  EXPECT_TRUE(commit(store, make_turn("b", nullptr, 2), SessionUse::kExisting).ok());
}

TEST(MemoryStore, no_owner_takes_the_room_of_another) {
  const auto owned = [](const std::string& id, const std::string& owner) {
    SessionSpec spec(id, 0);
    spec.owner = owner;
    return spec;
  };
  MemoryStore few({.sessions = 10, .owners = 2});
  int made = 0;
  while (create(few, owned("a" + std::to_string(made), "a")).ok()) ++made;
  EXPECT_EQ(made, 8) << "its own 2, and the 6 that are common";
  EXPECT_TRUE(create(few, owned("b1", "b")).ok());
  EXPECT_TRUE(create(few, owned("b2", "b")).ok());

  MemoryStore small({.bytes = 100'000, .owners = 2});
  ASSERT_TRUE(create(small, owned("a", "a")).ok());
  ASSERT_TRUE(create(small, owned("b", "b")).ok());
  for (std::uint8_t i = 1; run(small.takes_turns("a", SessionUse::kExisting)).ok(); ++i) {
    ASSERT_TRUE(commit(small, make_turn("a", nullptr, i), SessionUse::kExisting).ok());
  }
  EXPECT_FALSE(commit(small, make_turn("a", nullptr, 251), SessionUse::kExisting).ok());
  EXPECT_TRUE(run(small.takes_turns("b", SessionUse::kExisting)).ok());
  EXPECT_TRUE(commit(small, make_turn("b", nullptr, 252), SessionUse::kExisting).ok());
}

// However large what a session is made with is: nothing of it is outside the limits.
TEST(MemoryStore, counts_what_sessions_are_made_with_and_the_roots_of_their_turns) {
  SessionSpec spec("a", 0);
  spec.metadata = std::string(100'000, 'm');
  MemoryStore created({.bytes = 100'000});
  ASSERT_TRUE(create(created, spec).ok());
  EXPECT_EQ(create(created, SessionSpec("b", 0)).error().kind, base::ErrorKind::kUnavailable);
  MemoryStore stateless({.implicit_bytes = 300'000});
  for (std::uint8_t i = 1; i <= 10; ++i) {
    auto turn = make_turn("chat" + std::to_string(i), nullptr, i);
    auto root = std::make_shared<trajectory::RootInfo>();
    root->tools.push_back({"look", std::string(100'000, 't')});
    turn->root = std::move(root);
    ASSERT_TRUE(commit(stateless, std::move(turn), SessionUse::kImplicit).ok());
  }
  EXPECT_TRUE(find(stateless, 8).empty());
  EXPECT_EQ(find(stateless, 10).size(), 1U);
}

TEST(MemoryStore, drops_the_implicit_session_that_committed_longest_ago) {
  MemoryStore store({.implicit_bytes = 20'000});
  ASSERT_TRUE(create(store, SessionSpec("kept", 0)).ok());
  ASSERT_TRUE(commit(store, make_turn("kept", nullptr, 200), SessionUse::kExisting).ok());
  for (std::uint8_t i = 1; i <= 100; ++i) {
    ASSERT_TRUE(
        commit(store, make_turn("chat" + std::to_string(i), nullptr, i), SessionUse::kImplicit)
            .ok());
  }
  EXPECT_TRUE(find(store, 1).empty());
  EXPECT_EQ(find(store, 100).size(), 1U);
  EXPECT_EQ(find(store, 200).size(), 1U) << "created sessions stay";
  EXPECT_FALSE(run(store.session("chat1")).value().has_value());
}

}  // namespace
}  // namespace verbatim::store
