#include "base/cancel.h"

#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace verbatim::base {
namespace {

TEST(Cancel, hooks_run_newest_first_and_once) {
  CancelSignal signal;
  std::vector<int> order;
  CancelHook a(signal, [&] { order.push_back(1); });
  CancelHook b(signal, [&] { order.push_back(2); });
  signal.fire("gone");
  signal.fire("again");
  EXPECT_EQ(order, (std::vector<int>{2, 1}));
  EXPECT_STREQ(signal.reason(), "gone");
}

TEST(Cancel, a_hook_on_a_fired_signal_runs_at_once) {
  CancelSignal signal;
  signal.fire("gone");
  int ran = 0;
  CancelHook hook(signal, [&] { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST(Cancel, a_destroyed_hook_does_not_run) {
  CancelSignal signal;
  int ran = 0;
  {
    CancelHook hook(signal, [&] { ++ran; });
  }
  CancelHook kept(signal, [&] { ran += 10; });
  signal.fire("gone");
  EXPECT_EQ(ran, 10);
}

TEST(Cancel, a_hook_may_destroy_itself_and_others) {
  CancelSignal signal;
  int ran = 0;
  std::optional<CancelHook> first;
  std::optional<CancelHook> second;
  std::optional<CancelHook> third;
  first.emplace(signal, [&] { ++ran; });
  second.emplace(signal, [&] { ran += 100; });
  third.emplace(signal, [&] {
    second.reset();
    third.reset();
  });
  signal.fire("gone");
  EXPECT_EQ(ran, 1);
}

TEST(Cancel, a_hook_may_destroy_the_signal) {
  auto signal = std::make_unique<CancelSignal>();
  int ran = 0;
  CancelHook first(*signal, [&] { ++ran; });
  CancelHook second(*signal, [&] { signal.reset(); });
  signal->fire("gone");
  EXPECT_EQ(ran, 0);
}

TEST(Cancel, a_hook_may_outlive_its_signal) {
  std::optional<CancelHook> hook;
  {
    CancelSignal signal;
    hook.emplace(signal, [] { FAIL(); });
  }
  hook.reset();
}

}  // namespace
}  // namespace verbatim::base
