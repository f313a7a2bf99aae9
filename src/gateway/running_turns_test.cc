#include "gateway/running_turns.h"

#include <optional>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/timer.h"

namespace verbatim::gateway {
namespace {

using base::Task;

TEST(RunningTurns, the_turns_of_an_ended_session_and_no_others_are_stopped) {
  base::sim::SimWorld world(1);
  RunningTurns turns;
  base::CancelSignal first, second, other;
  const RunningTurns::Entry one(turns, world.executor, "a", first);
  const RunningTurns::Entry two(turns, world.executor, "a", second);
  const RunningTurns::Entry three(turns, world.executor, "b", other);
  turns.cancel("a");
  EXPECT_FALSE(first.fired()) << "it fires on the turn's executor, not here";
  EXPECT_TRUE(world.run([](base::Executor& executor) -> Task<void> {
    co_await base::sleep_for(executor, std::chrono::milliseconds(1));
  }(world.executor)));
  EXPECT_STREQ(first.reason(), RunningTurns::kDeleted);
  EXPECT_TRUE(second.fired());
  EXPECT_FALSE(other.fired());
}

TEST(RunningTurns, a_turn_that_has_ended_is_left_alone) {
  base::sim::SimWorld world(1);
  RunningTurns turns;
  base::CancelSignal signal;
  std::optional<RunningTurns::Entry> entry;
  entry.emplace(turns, world.executor, "a", signal);
  turns.cancel("a");
  entry.reset();
  turns.cancel("a");
  EXPECT_TRUE(world.run([](base::Executor& executor) -> Task<void> {
    co_await base::sleep_for(executor, std::chrono::milliseconds(1));
  }(world.executor)));
  EXPECT_FALSE(signal.fired());
}

TEST(RunningTurns, a_session_is_reserved_by_one_turn_until_that_is_over) {
  base::sim::SimWorld world(1);
  RunningTurns turns;
  base::CancelSignal signal;
  std::optional<RunningTurns::Entry> first;
  first.emplace(turns, world.executor, "a", signal);
  RunningTurns::Entry second(turns, world.executor, "a", signal);
  RunningTurns::Entry other(turns, world.executor, "b", signal);
  EXPECT_TRUE(first->reserve());
  EXPECT_FALSE(second.reserve());
  EXPECT_TRUE(other.reserve());
  first.reset();
  EXPECT_TRUE(second.reserve());
  second.release();
  RunningTurns::Entry third(turns, world.executor, "a", signal);
  EXPECT_TRUE(third.reserve());
}

}  // namespace
}  // namespace verbatim::gateway
