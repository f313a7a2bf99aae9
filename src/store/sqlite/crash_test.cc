// I9: what was acknowledged is on disk, whole, whatever happens to the disk at whatever point.
#include <cstdlib>
#include <deque>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "store/sqlite/check.h"
#include "store/testing/full_turn.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::sqlite {
namespace {

using testing::difference;
using testing::FaultVfs;
using testing::full_turn;
using testing::SqliteStage;

using Commits = base::Result<std::vector<TurnPtr>>;

// Asks a store for changes and keeps what it said of each.
class Script {
 public:
  Script(SqliteStage& stage, std::uint64_t seed) : stage_(stage), random_(seed) {}

  // Changes, several at once, until the disk stands still.
  void run(int rounds) {
    for (int i = 0; i < rounds && !stage_.vfs.off(); ++i) {
      for (auto left = 1 + random_.below(4); left > 0; --left) begin();
      stage_.executor.run_until_idle();
      settle();
    }
  }

  // What was acknowledged is there; what was refused for good is not, and what is there is whole.
  // `crashed`: what had no answer, or a failed one, may be there too.
  std::string compare(bool crashed) {
    std::set<std::uint64_t> expected;
    for (const auto& [id, turn] : turns_) {
      if (!sessions_.contains(turn->session_id)) continue;
      const auto found = by_id(id);
      if (!found)
        return "turn " + std::to_string(turn->seq) + " of " + turn->session_id + " is lost";
      if (auto differs = difference(*found, *turn); !differs.empty()) return "a turn's " + differs;
      expected.insert(id);
    }
    for (const auto& id : sessions_) {
      const auto turns = stage_.run(stage_.store().turns(id));
      if (!turns.ok()) return "session " + id + " is lost: " + turns.error().message;
      for (const auto& turn : *turns) {
        if (expected.contains(turn->id)) continue;
        if (!crashed || !failed_.contains(turn->id)) return "a turn that was never acknowledged";
        ++unsure;
      }
    }
    for (const auto& id : deleted_) {
      const auto info = stage_.run(stage_.store().session(id));
      if (!info.ok() || info->has_value()) return "session " + id + " was deleted and is there";
    }
    return "";
  }

  std::uint64_t acknowledged = 0, refused = 0, unsure = 0;

 private:
  struct Asked {
    std::uint64_t id = 0;
    std::string session;
    std::optional<Commits> commit;
    std::optional<base::Status> create, erase;
  };

  TurnPtr by_id(std::uint64_t id) {
    const std::vector<std::uint64_t> ids{id};
    const auto found = stage_.run(stage_.store().by_ids(ids));
    return found.ok() && found->size() == 1 ? found->front() : nullptr;
  }

  void begin() {
    Asked& asked = asked_.emplace_back();
    const auto kind = random_.below(10);
    if (kind == 0 || sessions_.empty()) {
      asked.session = "s" + std::to_string(++made_);
      SqliteStage::start(stage_.store().create_session(SessionSpec(asked.session, 1)),
                         asked.create);
      return;
    }
    asked.session =
        *std::next(sessions_.begin(), static_cast<std::ptrdiff_t>(random_.below(sessions_.size())));
    if (kind == 1 && made_ > 3) {
      SqliteStage::start(stage_.store().delete_session(asked.session), asked.erase);
      return;
    }
    TurnPtr parent = random_.chance(800) ? newest_[asked.session] : nullptr;
    auto turn = full_turn(random_, asked.session, std::move(parent));
    asked.id = turn->id;
    NewTurns added(std::move(turn), SessionUse::kExisting);
    SqliteStage::start(stage_.store().commit(std::move(added)), asked.commit);
  }

  void settle() {
    for (const auto& asked : asked_) {
      if (asked.create) note(asked.create->ok());
      if (asked.erase) note(asked.erase->ok());
      if (asked.commit) note(asked.commit->ok());
      if (asked.create && asked.create->ok()) sessions_.insert(asked.session);
      if (asked.erase) erased(asked);
      if (!asked.commit) continue;
      if (!asked.commit->ok()) {
        failed_.insert(asked.id);
        continue;
      }
      const auto& turn = (**asked.commit).front();
      turns_[turn->id] = turn;
      newest_[turn->session_id] = turn;
    }
    asked_.clear();
  }

  void erased(const Asked& asked) {
    // One that failed may be done behind a crash all the same.
    if (asked.erase->ok()) deleted_.insert(asked.session);
    sessions_.erase(asked.session);
  }

  void note(bool ok) { ++(ok ? acknowledged : refused); }

  SqliteStage& stage_;
  base::SeededRandom random_;
  std::deque<Asked> asked_;
  int made_ = 0;
  std::set<std::string> sessions_, deleted_;
  std::map<std::string, TurnPtr> newest_;
  std::map<std::uint64_t, TurnPtr> turns_;  // acknowledged
  std::set<std::uint64_t> failed_;
};

std::string problems(SqliteStage& stage) {
  auto connection = Connection::to(SqliteStage::kPath, Connection::Mode::kRead, stage.vfs.name());
  if (!connection) return connection.error().message;
  const auto report = check(*connection, nullptr);
  if (!report) return report.error().message;
  return report->problems.empty() ? "" : report->problems.front();
}

// Small, so that checkpoints, holds and resets of the log happen all the time.
DatabaseOptions small(bool synchronous = true) {
  DatabaseOptions options;
  options.cache_bytes = 30'000;
  options.writer.batch_works = 3;
  options.writer.checkpoint_pages = 20;
  options.writer.hold_pages = 60;
  options.synchronous = synchronous;
  return options;
}

constexpr int kRounds = 12;

std::uint64_t points_of(std::uint64_t seed) {
  SqliteStage stage(seed, small());
  Script(stage, seed).run(kRounds);
  return stage.vfs.points();
}

std::uint64_t first_seed() {
  const char* chosen = std::getenv("VERBATIM_TEST_SEED");
  return chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
}

// The power goes at a point; the store is opened again and works.
std::string crash_at(std::uint64_t seed, std::uint64_t point, bool synchronous, bool drops_syncs,
                     std::uint64_t& acknowledged) {
  SqliteStage stage(seed, small(synchronous));
  stage.vfs.set_drops_syncs(drops_syncs);
  stage.vfs.set_fault(point, FaultVfs::At::kCrash);
  Script script(stage, seed);
  script.run(kRounds);
  acknowledged += script.acknowledged;
  if (auto status = stage.crash(); !status.ok())
    return "it does not open: " + status.error().message;
  if (auto differs = script.compare(true); !differs.empty()) return differs;
  if (auto found = problems(stage); !found.empty()) return found;
  script.run(3);
  return script.compare(true);
}

TEST(SqliteCrash, at_every_point_nothing_acknowledged_is_lost_and_nothing_is_there_in_part) {
  const std::uint64_t first = first_seed();
  std::uint64_t acknowledged = 0, crashes = 0;
  for (std::uint64_t seed = first; seed < first + 3; ++seed) {
    const std::uint64_t points = points_of(seed);
    ASSERT_GT(points, 100U);
    for (std::uint64_t point = 1; point <= points; ++point, ++crashes) {
      ASSERT_EQ(crash_at(seed, point, true, false, acknowledged), "")
          << "crash at point " << point << ", VERBATIM_TEST_SEED=" << seed;
    }
  }
  std::printf("%llu crashes, %llu changes acknowledged before them\n",
              static_cast<unsigned long long>(crashes),
              static_cast<unsigned long long>(acknowledged));
}

// The disk refuses one write, or one sync, and goes on: what was refused changed nothing.
TEST(SqliteCrash, a_failure_at_every_point_is_told_and_changes_nothing) {
  const std::uint64_t first = first_seed();
  std::uint64_t refused = 0, runs = 0;
  for (const auto what : {FaultVfs::At::kEio, FaultVfs::At::kFull}) {
    const std::uint64_t points = points_of(first);
    for (std::uint64_t point = 1; point <= points; ++point, ++runs) {
      SqliteStage stage(first, small());
      stage.vfs.set_fault(point, what);
      Script script(stage, first);
      script.run(kRounds);
      refused += script.refused;
      // So that all is read from disk.
      ASSERT_TRUE(stage.restart()) << "point " << point;
      ASSERT_EQ(script.compare(false), "") << "point " << point << ", VERBATIM_TEST_SEED=" << first;
      ASSERT_EQ(problems(stage), "") << "point " << point << ", VERBATIM_TEST_SEED=" << first;
    }
  }
  EXPECT_GT(refused, runs / 4) << "faults hardly met a change";
}

// Failures all the time, crashes now and then.
TEST(SqliteCrash, a_disk_that_fails_all_the_time_loses_nothing) {
  const std::uint64_t first = first_seed();
  std::uint64_t acknowledged = 0, refused = 0;
  for (std::uint64_t seed = first; seed < first + 40; ++seed) {
    SqliteStage stage(seed, small());
    Script script(stage, seed);
    for (int lives = 0; lives < 4; ++lives) {
      stage.vfs.options() = {.fail_write = 20, .fail_sync = 40};
      script.run(kRounds);
      stage.vfs.options() = {};
      ASSERT_TRUE(stage.crash().ok()) << "VERBATIM_TEST_SEED=" << seed;
      ASSERT_EQ(script.compare(true), "") << "life " << lives << ", VERBATIM_TEST_SEED=" << seed;
      ASSERT_EQ(problems(stage), "") << "life " << lives << ", VERBATIM_TEST_SEED=" << seed;
    }
    acknowledged += script.acknowledged;
    refused += script.refused;
  }
  EXPECT_GT(refused, acknowledged / 20) << "faults hardly met a change";
}

// Would the tests above notice? Deliberate bugs are found by the same comparison.
TEST(SqliteCrash, syncs_that_are_left_out_are_noticed) {
  for (const bool drops_syncs : {false, true}) {
    std::uint64_t acknowledged = 0;
    std::string found;
    for (std::uint64_t point = 30; found.empty() && acknowledged < 1000; point += 7)
      found = crash_at(point, point, drops_syncs, drops_syncs, acknowledged);
    EXPECT_NE(found, "") << (drops_syncs ? "a disk that does not sync" : "PRAGMA synchronous = OFF")
                         << " was not noticed within " << acknowledged << " changes";
  }
}

}  // namespace
}  // namespace verbatim::store::sqlite
