#include "base/timer.h"

#include <map>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace verbatim::base {
namespace {

MonoTime ms(std::int64_t n) {
  return MonoTime{n * 1000};
}

TEST(Timer, fires_once_at_its_deadline_and_never_before) {
  TimerWheel wheel(ms(0));
  int fired = 0;
  Timer timer;
  timer.arm(wheel, MonoTime{5500}, [&] { ++fired; });
  wheel.advance(MonoTime{5999});
  EXPECT_EQ(fired, 0);
  wheel.advance(MonoTime{6000});
  EXPECT_EQ(fired, 1);
  EXPECT_FALSE(timer.armed());
  wheel.advance(ms(5000));
  EXPECT_EQ(fired, 1);
}

TEST(Timer, a_past_deadline_fires_with_the_next_tick) {
  TimerWheel wheel(ms(100));
  int fired = 0;
  Timer timer;
  timer.arm(wheel, ms(3), [&] { ++fired; });
  EXPECT_EQ(wheel.next_deadline(), ms(101));
  wheel.advance(ms(101));
  EXPECT_EQ(fired, 1);
}

TEST(Timer, a_moved_timer_keeps_its_action) {
  TimerWheel wheel(ms(0));
  int fired = 0;
  Timer timer;
  timer.arm(wheel, ms(10), [&] { ++fired; });
  timer.move(ms(5000));
  wheel.advance(ms(4999));
  EXPECT_EQ(fired, 0);
  timer.move(ms(5001));
  wheel.advance(ms(5001));
  EXPECT_EQ(fired, 1);
  timer.move(ms(6000));  // not armed: nothing to move
  EXPECT_FALSE(timer.armed());
}

TEST(Timer, an_action_may_cancel_destroy_and_arm_others) {
  TimerWheel wheel(ms(0));
  std::vector<int> order;
  Timer first;
  auto second = std::make_unique<Timer>();
  Timer third;
  Timer fourth;
  first.arm(wheel, ms(7), [&] {
    order.push_back(1);
    second.reset();
    third.cancel();
    first.arm(wheel, ms(7), [&] { order.push_back(5); });
  });
  second->arm(wheel, ms(7), [&] { order.push_back(2); });
  third.arm(wheel, ms(7), [&] { order.push_back(3); });
  fourth.arm(wheel, ms(7), [&] { order.push_back(4); });
  wheel.advance(ms(7));
  EXPECT_EQ(order, (std::vector<int>{1, 4}));
  wheel.advance(ms(8));
  EXPECT_EQ(order, (std::vector<int>{1, 4, 5}));
}

TEST(Timer, an_action_may_destroy_its_own_timer) {
  TimerWheel wheel(ms(0));
  auto timer = std::make_unique<Timer>();
  timer->arm(wheel, ms(1), [&] { timer.reset(); });
  wheel.advance(ms(1));
  EXPECT_EQ(timer, nullptr);
}

TEST(Timer, timers_of_one_tick_fire_in_the_order_of_arming) {
  TimerWheel wheel(ms(0));
  std::vector<int> order;
  Timer timers[5];
  for (int i = 0; i < 5; ++i)
    timers[i].arm(wheel, ms(1024 * (i % 2) + 3), [&order, i] { order.push_back(i); });
  wheel.advance(ms(3000));
  EXPECT_EQ(order, (std::vector<int>{0, 2, 4, 1, 3}));
}

TEST(Timer, a_year_of_sleep_is_passed_in_one_step) {
  TimerWheel wheel(ms(0));
  int fired = 0;
  Timer timer;
  timer.arm(wheel, ms(366LL * 86'400'000), [&] { ++fired; });
  wheel.advance(ms(365LL * 86'400'000));
  EXPECT_EQ(fired, 0);
  wheel.advance(ms(366LL * 86'400'000));
  EXPECT_EQ(fired, 1);
}

TEST(Timer, arming_an_earlier_timer_than_promised_wakes_the_executor) {
  TimerWheel wheel(ms(0));
  int woken = 0;
  wheel.on_earlier([&] { ++woken; });
  Timer late;
  Timer early;
  late.arm(wheel, ms(500), [] {});
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(wheel.next_deadline(), ms(500));
  Timer later;
  later.arm(wheel, ms(600), [] {});
  EXPECT_EQ(woken, 1);
  early.arm(wheel, ms(20), [] {});
  EXPECT_EQ(woken, 2);
}

// Against a sorted map: what fires, and when, over random arming, moving, cancelling and uneven
// steps.
TEST(Timer, behaves_like_a_sorted_list_of_deadlines) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    SeededRandom random(seed);
    TimerWheel wheel(ms(0));
    constexpr int kTimers = 64;
    Timer timers[kTimers];
    std::map<int, MonoTime> armed;
    MonoTime now = ms(0);
    MonoTime before = now;
    for (int step = 0; step < 3000; ++step) {
      const int i = static_cast<int>(random.below(kTimers));
      const MonoTime at{now.us + static_cast<std::int64_t>(
                                     random.below(random.chance(500) ? 20'000 : 5'000'000))};
      switch (random.below(4)) {
        case 0:
          timers[i].cancel();
          armed.erase(i);
          break;
        case 1:
          if (armed.contains(i)) armed[i] = at;
          timers[i].move(at);
          break;
        default:
          timers[i].arm(wheel, at, [&, i] {
            const MonoTime due = armed.at(i);
            EXPECT_LE(due, now);
            // Not due at the step before, unless by rounding up to the tick.
            EXPECT_GE(due.us + 2 * TimerWheel::kTick, before.us);
            armed.erase(i);
          });
          armed[i] = at;
      }
      if (random.chance(300)) {
        EXPECT_LE(wheel.next_deadline().us, [&] {
          std::int64_t first = kNever.us - 2000;
          for (const auto& [n, due] : armed) first = std::min(first, due.us);
          return std::max(first, now.us) + 2 * TimerWheel::kTick;
        }());
        before = now;
        now.us += static_cast<std::int64_t>(random.below(random.chance(100) ? 3'000'000 : 3'000));
        wheel.advance(now);
        for (const auto& [n, due] : armed)
          EXPECT_GT(due.us + TimerWheel::kTick, now.us - TimerWheel::kTick);
      }
    }
  }
}

}  // namespace
}  // namespace verbatim::base
