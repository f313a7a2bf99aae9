#include "base/sim/sim_executor.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace verbatim::base::sim {
namespace {

std::vector<int> order_of(std::uint64_t seed, JobOrder order) {
  SimExecutor executor(seed, order);
  std::vector<int> ran;
  for (int i = 0; i < 20; ++i) executor.post([&ran, i] { ran.push_back(i); });
  executor.run_until_idle();
  return ran;
}

TEST(SimExecutor, jobs_in_fifo_order_run_as_posted) {
  const auto ran = order_of(1, JobOrder::kFifo);
  EXPECT_TRUE(std::is_sorted(ran.begin(), ran.end()));
}

TEST(SimExecutor, shuffled_jobs_follow_the_seed) {
  EXPECT_EQ(order_of(1, JobOrder::kShuffled), order_of(1, JobOrder::kShuffled));
  EXPECT_NE(order_of(1, JobOrder::kShuffled), order_of(2, JobOrder::kShuffled));
  auto ran = order_of(3, JobOrder::kShuffled);
  std::sort(ran.begin(), ran.end());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ran[static_cast<std::size_t>(i)], i);
}

TEST(SimExecutor, time_jumps_to_the_next_timer_and_stands_still_otherwise) {
  SimExecutor executor(1);
  std::vector<std::int64_t> at;
  EXPECT_TRUE(executor.run([](SimExecutor& e, std::vector<std::int64_t>& times) -> Task<void> {
    co_await sleep_for(e, std::chrono::hours(2));
    times.push_back(e.clock().now().us);
    co_await sleep_for(e, std::chrono::milliseconds(5));
    times.push_back(e.clock().now().us);
  }(executor, at)));
  EXPECT_EQ(at, (std::vector<std::int64_t>{7'200'000'000, 7'200'005'000}));
}

TEST(SimExecutor, run_for_leaves_later_timers_armed) {
  SimExecutor executor(1);
  int fired = 0;
  Timer timer;
  timer.arm(executor.timers(), MonoTime{10'000'000}, [&] { ++fired; });
  executor.run_for(std::chrono::seconds(9));
  EXPECT_EQ(fired, 0);
  EXPECT_EQ(executor.clock().now().us, 9'000'000);
  executor.run_for(std::chrono::seconds(1));
  EXPECT_EQ(fired, 1);
}

struct Never {
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept { handle = h; }
  void await_resume() const noexcept {}
  std::coroutine_handle<>& handle;
};

void post_forever(SimExecutor& executor) {
  executor.post([&executor] { post_forever(executor); });
}

TEST(SimExecutor, an_endless_loop_ends_the_process_at_the_bound_that_was_set) {
  SimExecutor executor(1);
  executor.set_max_jobs(1000);
  for (int i = 0; i < 1000; ++i) executor.post([] {});
  executor.run_until_idle();
  EXPECT_EQ(executor.jobs_run(), 1000u);
  post_forever(executor);
  EXPECT_DEATH(executor.run_until_idle(), "1001 jobs ran, an endless loop");
}

TEST(SimExecutor, a_task_that_can_never_end_is_noticed) {
  SimExecutor executor(1);
  std::coroutine_handle<> stuck;
  EXPECT_FALSE(
      executor.run([](std::coroutine_handle<>& h) -> Task<void> { co_await Never{h}; }(stuck)));
  stuck.resume();  // ends it, so that its frame is freed
}

}  // namespace
}  // namespace verbatim::base::sim
