#include "base/worker.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/sim/sim_world.h"

namespace verbatim::base {
namespace {

TEST(Worker, jobs_run_in_order_and_all_before_the_end) {
  std::vector<int> order;
  {
    const auto worker = thread_worker("test");
    for (int i = 0; i < 1000; ++i) worker->run([&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Worker, a_job_may_queue_another) {
  int ran = 0;
  {
    const auto worker = thread_worker("test");
    worker->run([&] { worker->run([&] { ++ran; }); });
  }
  EXPECT_EQ(ran, 1);
}

TEST(SimWorker, jobs_run_in_order_and_take_virtual_time) {
  sim::SimWorld world(1);
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) world.worker.run([&order, i] { order.push_back(i); });
  EXPECT_TRUE(order.empty());
  world.executor.run_until_idle();
  ASSERT_EQ(order.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  EXPECT_GT(world.executor.clock().now().us, 100'000);
}

TEST(SimWorker, a_coroutine_gets_the_value_of_its_job) {
  sim::SimWorld world(1);
  int value = 0;
  EXPECT_TRUE(world.run([](Runtime& runtime, int& into) -> Task<void> {
    into = co_await run_on(runtime.worker, runtime.executor, [] { return 42; });
  }(world.runtime, value)));
  EXPECT_EQ(value, 42);
}

}  // namespace
}  // namespace verbatim::base
