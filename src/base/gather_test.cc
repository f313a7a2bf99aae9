#include "base/gather.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"
#include "base/timer.h"

namespace verbatim::base {
namespace {

Task<void> say(Executor& executor, std::string& log, char name, int ms) {
  log += name;
  if (ms != 0) co_await sleep_for(executor, std::chrono::milliseconds(ms));
  log += static_cast<char>(name - 'a' + 'A');
}

std::string run(const std::vector<std::pair<char, int>>& tasks) {
  sim::SimWorld world(1);
  std::string log;
  const bool ended = world.run([](Executor& executor, std::string& said,
                                  const std::vector<std::pair<char, int>>& asked) -> Task<void> {
    std::vector<Task<void>> all;
    for (const auto& [name, ms] : asked) all.push_back(say(executor, said, name, ms));
    co_await gather(std::move(all));
    said += '.';
  }(world.executor, log, tasks));
  EXPECT_TRUE(ended);
  return log;
}

TEST(Gather, goes_on_when_the_last_task_has_ended) {
  EXPECT_EQ(run({{'a', 30}, {'b', 10}, {'c', 20}}), "abcBCA.");
}

TEST(Gather, tasks_that_never_wait_are_over_at_once) {
  EXPECT_EQ(run({{'a', 0}, {'b', 0}}), "aAbB.");
  EXPECT_EQ(run({{'a', 0}, {'b', 5}}), "aAbB.");
}

TEST(Gather, nothing_takes_no_time) {
  EXPECT_EQ(run({}), ".");
}

Task<void> throw_after(Executor& executor, int ms) {
  co_await sleep_for(executor, std::chrono::milliseconds(ms));
  throw std::runtime_error("after " + std::to_string(ms));
}

TEST(Gather, what_is_thrown_comes_out_when_all_have_ended) {
  sim::SimWorld world(1);
  std::string log;
  const bool ended = world.run([](Executor& executor, std::string& said) -> Task<void> {
    std::vector<Task<void>> all;
    all.push_back(throw_after(executor, 10));
    all.push_back(say(executor, said, 'a', 30));
    all.push_back(throw_after(executor, 20));
    try {
      co_await gather(std::move(all));
    } catch (const std::runtime_error& error) {
      said += error.what();
    }
  }(world.executor, log));
  EXPECT_TRUE(ended);
  EXPECT_EQ(log, "aAafter 10");
}

}  // namespace
}  // namespace verbatim::base
