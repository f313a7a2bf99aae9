#include "base/serial.h"

#include <string>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/task.h"
#include "base/timer.h"

namespace verbatim::base {
namespace {

using std::chrono::milliseconds;

// Writes its letter when it is let in and again when it leaves.
Task<void> visit(Executor& executor, Serial& serial, char letter, std::string& log) {
  auto pass = co_await serial.enter();
  log += letter;
  co_await sleep_for(executor, milliseconds(5));
  log += letter;
}

TEST(Serial, lets_one_in_at_a_time_in_order_of_coming) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    sim::SimWorld world(seed);
    Serial serial(world.executor);
    std::string log;
    for (const char letter : {'a', 'b', 'c', 'd'})
      spawn(visit(world.executor, serial, letter, log));
    world.executor.run_until_idle();
    EXPECT_EQ(log, "aabbccdd");
    EXPECT_FALSE(serial.taken());
  }
}

TEST(Serial, gives_the_section_to_the_one_in_line_before_a_newcomer) {
  sim::SimWorld world(3);
  Serial serial(world.executor);
  std::string log;
  spawn([](Executor& e, Serial& s, std::string& l) -> Task<void> {
    {
      auto pass = co_await s.enter();
      spawn(visit(e, s, 'b', l));
      l += 'a';
    }
    // The section was left, its next owner not resumed yet.
    EXPECT_TRUE(s.taken());
    spawn(visit(e, s, 'c', l));
  }(world.executor, serial, log));
  world.executor.run_until_idle();
  EXPECT_EQ(log, "abbcc");
}

TEST(Serial, never_resumes_a_waiter_from_inside_leave) {
  sim::SimWorld world(4);
  Serial serial(world.executor);
  std::string log;
  spawn([](Executor& e, Serial& s, std::string& l) -> Task<void> {
    {
      auto pass = co_await s.enter();
      spawn(visit(e, s, 'b', l));
    }
    l += 'a';
    co_return;
  }(world.executor, serial, log));
  EXPECT_EQ(log, "a");
  world.executor.run_until_idle();
  EXPECT_EQ(log, "abb");
}

TEST(Serial, is_free_at_once_when_nobody_is_in) {
  sim::SimWorld world(5);
  Serial serial(world.executor);
  bool in = false;
  spawn([](Serial& s, bool& entered) -> Task<void> {
    auto pass = co_await s.enter();
    entered = s.taken();
  }(serial, in));
  EXPECT_TRUE(in);
  EXPECT_FALSE(serial.taken());
}

}  // namespace
}  // namespace verbatim::base
