#include <cstdlib>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "store/testing/full_turn.h"
#include "store/testing/store_model.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::testing {
namespace {

using Outcome = StoreModel::Outcome;

constexpr std::size_t kUnbounded = std::size_t{1} << 40;

std::unique_ptr<StoreStage> sqlite_stage(std::uint64_t seed, std::size_t implicit_bytes) {
  sqlite::DatabaseOptions options;
  options.implicit_bytes = implicit_bytes;
  // So small that paths have to be read again.
  if (seed % 2 == 0) options.cache_bytes = 20'000;
  options.writer.batch_works = 1 + seed % 7;
  return std::make_unique<SqliteStage>(seed, std::move(options));
}

using Make = std::unique_ptr<StoreStage> (*)(std::uint64_t seed, std::size_t implicit_bytes);

// What all stores promise.
class StoreContract : public ::testing::TestWithParam<Make> {};

struct Asked {
  std::string session;
  std::vector<std::uint64_t> ids;
  std::vector<StoreModel::Kept> kept;
  std::uint64_t parent = 0;
  SessionUse use = SessionUse::kExisting;
  std::optional<base::Result<std::vector<TurnPtr>>> result;
};

// Random changes, several at once, and looks at everything, beside a model.
class Play {
 public:
  Play(Make make, std::uint64_t seed) : random_(seed * 13 + 5), stage_(make(seed, kUnbounded)) {}

  std::string run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      if (auto differs = change(); !differs.empty()) return at(round, differs);
      if (random_.chance(30)) (void)stage_->restart();
      if (!random_.chance(250)) continue;
      if (auto differs = model_.compare(*stage_, random_); !differs.empty())
        return at(round, differs);
    }
    return at(rounds, model_.compare(*stage_, random_));
  }

 private:
  static std::string at(int round, const std::string& differs) {
    return differs.empty() ? "" : "in round " + std::to_string(round) + ": " + differs;
  }
  std::string some_session() { return "s" + std::to_string(random_.below(8)); }

  std::string change() {
    if (random_.chance(150)) return create();
    if (random_.chance(100)) return erase();
    return commit();
  }

  std::string create() {
    SessionSpec spec(some_session(), static_cast<std::int64_t>(random_.below(1000)));
    spec.owner = "o" + std::to_string(random_.below(2));
    spec.options = "{\"seed\":" + std::to_string(random_.below(100)) + "}";
    if (random_.chance(300)) spec.secret_hash = "secret" + std::to_string(random_.below(4));
    const auto status = stage_->run(stage_->store().create_session(spec));
    const auto expected = model_.create(spec);
    return told(status.ok(), status.ok() ? base::ErrorKind::kInternal : status.error().kind,
                expected, "create");
  }

  std::string erase() {
    const auto id = some_session();
    const auto status = stage_->run(stage_->store().delete_session(id));
    return told(status.ok(), status.ok() ? base::ErrorKind::kInternal : status.error().kind,
                model_.erase(id), "delete");
  }

  static std::string told(bool ok, base::ErrorKind kind, Outcome expected, const char* what) {
    const bool right = expected == Outcome::kDone       ? ok
                       : expected == Outcome::kConflict ? !ok && kind == base::ErrorKind::kConflict
                                                        : !ok && kind == base::ErrorKind::kNotFound;
    return right ? "" : std::string("what came of a ") + what;
  }

  // A turn that was recorded once, perhaps long gone.
  TurnPtr some_parent() {
    if (known_.empty() || random_.chance(200)) return nullptr;
    const auto back = random_.below(random_.chance(700) ? std::min<std::size_t>(8, known_.size())
                                                        : known_.size());
    return known_[known_.size() - 1 - back];
  }

  // Up to three commits under way at once; the store takes them in the order in which they came.
  std::string commit() {
    std::vector<Asked> asked(1 + random_.below(3));
    for (auto& one : asked) ask(one);
    stage_->executor.run_until_idle();
    for (auto& one : asked) {
      const auto expected = model_.outcome(one.session, one.ids, one.parent, one.use);
      const auto& result = *one.result;
      const auto kind = result.ok() ? base::ErrorKind::kInternal : result.error().kind;
      if (auto differs = told(result.ok(), kind, expected, "commit"); !differs.empty())
        return differs;
      if (!result.ok()) continue;
      model_.commit(one.session, *result, one.kept, one.use == SessionUse::kImplicit);
      known_.insert(known_.end(), result->begin(), result->end());
    }
    return "";
  }

  [[nodiscard]] bool there(std::uint64_t id) const {
    return model_.outcome("", {id}, 0, SessionUse::kExisting) == Outcome::kConflict;
  }

  void ask(Asked& asked) {
    const TurnPtr parent = some_parent();
    asked.session = parent ? parent->session_id : some_session();
    asked.use = random_.chance(300) ? SessionUse::kImplicit : SessionUse::kExisting;
    asked.parent = parent ? parent->id : 0;
    NewTurns added;
    added.use = asked.use;
    const auto root = full_root(random_);
    for (auto left = random_.chance(100) ? 3 : 1; left > 0; --left) {
      auto turn = full_turn(random_, asked.session, parent);
      if (!parent) turn->root = root;
      // Ids are random: one that is taken is that of a turn that is there.
      if (!known_.empty() && added.turns.empty() && random_.chance(20) && there(known_.back()->id))
        turn->id = known_.back()->id;
      // A history has one root.
      if (!known_.empty() && random_.chance(100)) {
        turn->digest = known_.back()->digest;
        turn->root_digest = known_.back()->root_digest;
      }
      asked.ids.push_back(turn->id);
      asked.kept.push_back({nullptr, asked.parent, turn->digest});
      added.turns.push_back(std::move(turn));
    }
    StoreStage::start(stage_->store().commit(std::move(added)), asked.result);
  }

  base::SeededRandom random_;
  std::unique_ptr<StoreStage> stage_;
  StoreModel model_;
  std::vector<TurnPtr> known_;
};

TEST_P(StoreContract, does_what_a_model_does) {
  const char* chosen = std::getenv("VERBATIM_TEST_SEED");
  const std::uint64_t first = chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
  for (std::uint64_t seed = first; seed < first + (chosen == nullptr ? 40 : 1); ++seed) {
    ASSERT_EQ(Play(GetParam(), seed).run(150), "")
        << "seed " << seed << "; again alone with VERBATIM_TEST_SEED=" << seed;
  }
}

base::Result<std::vector<TurnPtr>> commit(StoreStage& stage, std::unique_ptr<Turn> turn,
                                          SessionUse use) {
  NewTurns added(std::move(turn), use);
  return stage.run(stage.store().commit(std::move(added)));
}

TEST_P(StoreContract, reading_changes_nothing) {
  const auto stage = GetParam()(3, kUnbounded);
  base::SeededRandom random(3);
  ASSERT_TRUE(stage->run(stage->store().create_session(SessionSpec("s", 1))).ok());
  const auto turn = commit(*stage, full_turn(random, "s", nullptr), SessionUse::kExisting);
  const std::string before = stage->store().dump();
  const std::vector<trajectory::Digest> digests{turn->front()->digest};
  (void)stage->run(stage->store().session("s"));
  (void)stage->run(stage->store().turns("s"));
  (void)stage->run(stage->store().find(digests));
  (void)stage->run(stage->store().newest(turn->front()->root_digest));
  EXPECT_EQ(stage->store().dump(), before);
}

// However many are alike, a look-up brings a bounded number, and those that are wanted.
TEST_P(StoreContract, of_turns_that_are_alike_the_newest_are_found) {
  const auto stage = GetParam()(6, kUnbounded);
  base::SeededRandom random(6);
  for (const std::string id : {"s", "t"})
    ASSERT_TRUE(stage->run(stage->store().create_session(SessionSpec(id, 1))).ok());
  const auto digest = full_turn(random, "s", nullptr)->digest;
  std::vector<TurnPtr> recorded;
  for (std::size_t i = 0; i < 3 * trajectory::kMostAlike; ++i) {
    auto turn = full_turn(random, i % 3 == 0 ? "t" : "s", nullptr);
    turn->digest = digest;
    const auto added = commit(*stage, std::move(turn), SessionUse::kExisting);
    ASSERT_TRUE(added.ok());
    recorded.push_back(added->front());
  }
  std::set<std::uint64_t> expected;
  for (const auto& turn : recorded) {
    if (turn->session_id == "t") expected.insert(turn->id);
  }
  const auto found = [&](std::vector<trajectory::Digest> digests) {
    std::set<std::uint64_t> ids;
    const auto turns = stage->run(stage->store().find(digests)).value();
    for (const auto& turn : turns) ids.insert(turn->id);
    return ids;
  };
  EXPECT_EQ(found({digest}), expected) << "those of the session made last";
  ASSERT_TRUE(stage->run(stage->store().delete_session("t")).ok());
  expected.clear();
  for (auto it = recorded.rbegin(); expected.size() < trajectory::kMostAlike; ++it) {
    if ((*it)->session_id == "s") expected.insert((*it)->id);
  }
  EXPECT_EQ(found({digest}), expected) << "those committed last";
  const std::vector<trajectory::Digest> many(100, digest);
  EXPECT_LE(stage->run(stage->store().find(many)).value().size(),
            trajectory::kMostFound + trajectory::kMostAlike);
}

TEST_P(StoreContract, drops_the_implicit_session_that_committed_longest_ago) {
  const auto stage = GetParam()(4, 150'000);
  base::SeededRandom random(4);
  ASSERT_TRUE(stage->run(stage->store().create_session(SessionSpec("kept", 1))).ok());
  ASSERT_TRUE(commit(*stage, full_turn(random, "kept", nullptr), SessionUse::kExisting).ok());
  const auto first = commit(*stage, full_turn(random, "chat0", nullptr), SessionUse::kImplicit);
  std::uint64_t oldest = 0;
  TurnPtr leaf = first->front();
  for (int i = 1; i <= 200; ++i) {
    auto turn = full_turn(random, "chat" + std::to_string(i), nullptr);
    ASSERT_TRUE(commit(*stage, std::move(turn), SessionUse::kImplicit).ok());
    // A conversation that goes on stays, however old it is.
    if (i % 5 == 0 && i <= 100) {
      const auto next = commit(*stage, full_turn(random, "chat0", leaf), SessionUse::kImplicit);
      ASSERT_TRUE(next.ok()) << i << ": " << next.error().message;
      leaf = next->front();
    }
  }
  std::uint64_t there = 0;
  for (std::uint64_t i = 0; i <= 200; ++i) {
    const auto info = stage->run(stage->store().session("chat" + std::to_string(i)));
    there += info->has_value() ? 1 : 0;
    if (info->has_value() && oldest == 0) oldest = i;
  }
  EXPECT_GT(oldest, 100U);
  EXPECT_EQ(there, 201 - oldest) << "no session is dropped before an older one";
  EXPECT_TRUE(stage->run(stage->store().session("kept"))->has_value()) << "created sessions stay";
}

base::Status commit_for(StoreStage& stage, base::Random& random, const std::string& owner,
                        const std::string& session) {
  NewTurns added(full_turn(random, session, nullptr), SessionUse::kImplicit);
  auto spec = std::make_shared<SessionSpec>(session, 1);
  spec->owner = owner;
  added.spec = std::move(spec);
  const auto recorded = stage.run(stage.store().commit(std::move(added)));
  return recorded.ok() ? base::Status() : base::Status(recorded.error());
}

// Whoever floods the store with stateless chat pushes out their own conversations alone.
TEST_P(StoreContract, an_owner_who_has_more_gives_way_to_one_who_has_less) {
  const auto stage = GetParam()(7, 300'000);
  base::SeededRandom random(7);
  const auto there = [&](const std::string& id) {
    return stage->run(stage->store().session(id))->has_value();
  };
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(commit_for(*stage, random, "few", "few" + std::to_string(i)).ok());
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(commit_for(*stage, random, "many", "many" + std::to_string(i)).ok());
    if (i % 100 == 50) (void)stage->restart();
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(there("few" + std::to_string(i))) << i;
  EXPECT_FALSE(there("many0"));
  EXPECT_TRUE(there("many399"));
  // Also where it is the small one whose commit is too much.
  std::uint64_t oldest = 0;
  while (!there("many" + std::to_string(oldest))) ++oldest;
  for (int i = 3; i < 6; ++i)
    ASSERT_TRUE(commit_for(*stage, random, "few", "few" + std::to_string(i)).ok());
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(there("few" + std::to_string(i))) << i;
  EXPECT_FALSE(there("many" + std::to_string(oldest)));
}

TEST_P(StoreContract, lists_are_of_created_sessions_in_order_however_many_others_there_are) {
  const auto stage = GetParam()(8, kUnbounded);
  base::SeededRandom random(8);
  for (int i = 0; i < 60; ++i) {
    if (i % 20 == 7) {
      SessionSpec spec("made" + std::to_string(i), 1);
      spec.owner = "o";
      ASSERT_TRUE(stage->run(stage->store().create_session(std::move(spec))).ok());
    }
    ASSERT_TRUE(commit_for(*stage, random, "o", "chat" + std::to_string(i)).ok());
  }
  const auto list = [&](bool implicit, std::uint64_t after) {
    std::string ids;
    SessionQuery query{"o", after, 2, implicit};
    const auto page = stage->run(stage->store().sessions(std::move(query))).value();
    for (const auto& info : page) ids += info.spec->id + " ";
    return ids;
  };
  EXPECT_EQ(list(false, 0), "made7 made27 ");
  const auto second = stage->run(stage->store().session("made27")).value()->number;
  EXPECT_EQ(list(false, second), "made47 ");
  EXPECT_EQ(list(true, second), "chat27 chat28 ");
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, ::testing::Values(memory_stage, sqlite_stage),
                         [](const auto& kind) { return kind.index == 0 ? "memory" : "sqlite"; });

// The same changes leave the same text: dumps can be compared between kinds of stores.
TEST_P(StoreContract, expires_what_was_not_used_since_and_tells_what_that_is) {
  const auto stage = GetParam()(7, kUnbounded);
  auto& store = stage->store();
  base::SeededRandom random(3);
  for (int i = 0; i < 25; ++i)
    ASSERT_TRUE(stage->run(store.create_session(SessionSpec("s" + std::to_string(i), i))).ok());
  auto turn = full_turn(random, "s3", nullptr);
  turn->times.committed_ms = 50;
  ASSERT_TRUE(stage->run(store.commit({std::move(turn), SessionUse::kExisting})).ok());
  std::vector<std::string> idle;
  IdleQuery query;
  query.before_ms = 10;
  query.limit = 4;
  for (int pages = 1;; ++pages) {
    auto page = stage->run(store.idle_sessions(query));
    ASSERT_TRUE(page.ok());
    idle.insert(idle.end(), page->ids.begin(), page->ids.end());
    query.after = page->last;
    if (query.after.empty()) break;
    ASSERT_LT(pages, 10);
  }
  EXPECT_EQ(idle, (std::vector<std::string>{"s0", "s1", "s2", "s4", "s5", "s6", "s7", "s8", "s9"}));
  const auto expire = [&](const std::string& id, std::int64_t before) {
    return stage->run(store.expire_session(id, before)).value();
  };
  const auto dump = store.dump();
  EXPECT_FALSE(expire("s3", 50)) << "used in that moment";
  EXPECT_FALSE(expire("s9", 9));
  EXPECT_FALSE(expire("nobody", 1000));
  EXPECT_EQ(store.dump(), dump);
  EXPECT_TRUE(expire("s9", 10));
  EXPECT_TRUE(expire("s3", 51));
  EXPECT_FALSE(stage->run(store.session("s3")).value().has_value());
  EXPECT_FALSE(stage->run(store.session("s9")).value().has_value());
}

base::Status create_for(StoreStage& stage, const std::string& id, const std::string& owner) {
  SessionSpec spec(id, 1);
  spec.owner = owner;
  return stage.run(stage.store().create_session(std::move(spec)));
}

// `failing` is called in between: what failed, or was begun anew, is not counted.
void fill_quota(StoreStage& stage, const std::function<void()>& failing) {
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(create_for(stage, "a" + std::to_string(i), "a").ok()) << i;
  for (int i = 3; i < 20; ++i) {
    const auto refused = create_for(stage, "a" + std::to_string(i), "a");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, base::ErrorKind::kInvalidRequest);
    EXPECT_EQ(refused.error().code, "session_quota");
    if (i == 10) failing();
  }
  EXPECT_TRUE(create_for(stage, "b", "b").ok()) << "another owner has its own";
  ASSERT_TRUE(stage.run(stage.store().delete_session("a1")).ok());
  failing();
  EXPECT_TRUE(create_for(stage, "a3", "a").ok());
  EXPECT_FALSE(create_for(stage, "a4", "a").ok());
  // Those that a first commit makes are bounded otherwise.
  base::SeededRandom random(1);
  NewTurns added(full_turn(random, "implicit", nullptr), SessionUse::kImplicit);
  auto spec = std::make_shared<SessionSpec>("implicit", 1);
  spec->owner = "a";
  added.spec = std::move(spec);
  EXPECT_TRUE(stage.run(stage.store().commit(std::move(added))).ok());
  EXPECT_TRUE(stage.run(stage.store().expire_session("a3", 100)).value());
  EXPECT_TRUE(create_for(stage, "a5", "a").ok());
  EXPECT_FALSE(create_for(stage, "a6", "a").ok());
}

TEST(Stores, keep_as_many_sessions_of_an_owner_as_it_may_have) {
  fill_quota(*memory_stage_within(1, {.owner_sessions = 3}), [] {});
  sqlite::DatabaseOptions options;
  options.owner_sessions = 3;
  SqliteStage stage(1, options);
  fill_quota(stage, [&stage] {
    stage.vfs.options().fail_sync = 1000;
    EXPECT_FALSE(create_for(stage, "lost", "a").ok());
    EXPECT_FALSE(create_for(stage, "lost too", "b").ok());
    stage.vfs.options().fail_sync = 0;
    EXPECT_TRUE(create_for(stage, "c", "c").ok()) << "the disk works again";
    ASSERT_TRUE(stage.run(stage.store().delete_session("c")).ok());
  });
  ASSERT_TRUE(stage.restart());
  EXPECT_FALSE(create_for(stage, "a7", "a").ok()) << "counted from disk";
}

TEST(Stores, have_the_same_dump) {
  const auto memory = memory_stage(5, kUnbounded);
  const auto disk = sqlite_stage(5, kUnbounded);
  for (auto* stage : {memory.get(), disk.get()}) {
    base::SeededRandom random(5);
    ASSERT_TRUE(stage->run(stage->store().create_session(SessionSpec("s", 1))).ok());
    const auto root = commit(*stage, full_turn(random, "s", nullptr), SessionUse::kExisting);
    for (int i = 0; i < 5; ++i) {
      (void)commit(*stage, full_turn(random, "s", root->front()), SessionUse::kExisting);
    }
    (void)commit(*stage, full_turn(random, "i", nullptr), SessionUse::kImplicit);
  }
  EXPECT_EQ(memory->store().dump(), disk->store().dump());
}

}  // namespace
}  // namespace verbatim::store::testing
