#include "engine/pool/health.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace verbatim::engine::pool {
namespace {

using base::ErrorKind;
using base::MonoTime;
using std::chrono::milliseconds;
using std::chrono::seconds;

base::Error plain(ErrorKind kind, std::string code = "") {
  auto error = base::error(kind, "it failed");
  error.code = std::move(code);
  return error;
}

base::Error answered(int status, std::string retry_after = "") {
  auto error = plain(ErrorKind::kEngine, "engine_error");
  base::UpstreamAnswer answer;
  answer.status = status;
  if (!retry_after.empty()) answer.headers.emplace_back("Retry-After", std::move(retry_after));
  error.upstream = std::make_shared<const base::UpstreamAnswer>(std::move(answer));
  return error;
}

TEST(Health, what_a_failure_says_of_a_replica) {
  const std::pair<base::Error, Sign> table[] = {
      {plain(ErrorKind::kUnavailable), Sign::kUnreachable},
      {plain(ErrorKind::kUnavailable, "connection_limit"), Sign::kNothing},
      {plain(ErrorKind::kUnavailable, "stopped"), Sign::kNothing},
      {plain(ErrorKind::kTimeout), Sign::kStrike},
      {plain(ErrorKind::kEngine), Sign::kStrike},
      {plain(ErrorKind::kEngine, "cut_answer"), Sign::kStrike},
      {plain(ErrorKind::kEngine, "malformed_answer"), Sign::kStrike},
      {plain(ErrorKind::kEngine, "engine_abort"), Sign::kNothing},
      {plain(ErrorKind::kEngine, "engine_error"), Sign::kNothing},
      {plain(ErrorKind::kCancelled), Sign::kNothing},
      {plain(ErrorKind::kInvalidRequest), Sign::kNothing},
      {answered(500), Sign::kStrike},
      {answered(502), Sign::kStrike},
      {answered(504), Sign::kStrike},
      {answered(503), Sign::kBusy},
      {answered(529), Sign::kBusy},
      {answered(429), Sign::kBusy},
  };
  for (const auto& [error, sign] : table) {
    EXPECT_EQ(sign_of(error), sign) << static_cast<int>(error.kind) << " " << error.code << " "
                                    << (error.upstream ? error.upstream->status : 0);
  }
  for (int status = 400; status < 500; ++status) {
    if (status != 429) {
      EXPECT_EQ(sign_of(answered(status)), Sign::kNothing) << status;
    }
  }
}

TEST(Health, retry_after_is_honoured_within_bounds) {
  const HealthOptions options;
  EXPECT_EQ(busy_time(answered(503, "3"), options), seconds(3));
  EXPECT_EQ(busy_time(answered(503, "0"), options), seconds(0));
  EXPECT_EQ(busy_time(answered(503, "86400"), options), options.max_busy);
  EXPECT_EQ(busy_time(answered(503, "99999999999999999999"), options), options.max_busy);
  for (const char* unreadable : {"", "-1", "1.5", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"})
    EXPECT_EQ(busy_time(answered(429, unreadable), options), options.busy) << unreadable;
}

struct Case {
  base::SeededRandom random{1};
  Health health{{}, random};
};

TEST(Health, strikes_in_a_row_open_a_cool_down_and_a_good_end_forgets_them) {
  Case c;
  c.health.admit();
  c.health.strike("a", {});
  c.health.strike("b", {});
  c.health.succeeded();
  c.health.strike("c", {});
  c.health.strike("d", {});
  EXPECT_TRUE(c.health.serving());
  c.health.strike("e", {});
  EXPECT_EQ(c.health.state(), Health::State::kCooling);
  EXPECT_EQ(c.health.why(), "e");
}

TEST(Health, one_that_cannot_be_reached_is_out_at_once) {
  Case c;
  c.health.admit();
  c.health.unreachable("refused", {});
  EXPECT_EQ(c.health.state(), Health::State::kCooling);
}

TEST(Health, failures_of_older_requests_do_not_lengthen_a_cool_down) {
  Case c;
  c.health.admit();
  c.health.unreachable("refused", {});
  const auto until = c.health.cooled_at();
  for (int i = 0; i < 20; ++i) {
    c.health.strike("cut", {1000});
    c.health.unreachable("refused", {1000});
  }
  EXPECT_EQ(c.health.cooled_at(), until);
}

TEST(Health, cool_downs_double_up_to_the_longest_and_half_of_each_is_drawn) {
  const HealthOptions options;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    base::SeededRandom random(seed);
    Health health(options, random);
    health.admit();
    auto full = options.first_cooldown;
    for (int i = 0; i < 40; ++i) {
      const MonoTime now{i * 1000};
      i == 0 ? health.unreachable("refused", now) : health.check_failed("refused", now);
      const auto time = health.cooled_at() - now;
      EXPECT_GE(time, full / 2) << "seed " << seed << ", failure " << i;
      EXPECT_LE(time, full) << "seed " << seed << ", failure " << i;
      full = std::min<base::Duration>(full * 2, options.max_cooldown);
    }
  }
}

TEST(Health, a_check_alone_does_not_shorten_the_next_cool_down_but_a_good_turn_does) {
  Case c;
  c.health.admit();
  for (int i = 0; i < 10; ++i) {
    c.health.unreachable("refused", {});
    c.health.admit();
  }
  c.health.unreachable("refused", {});
  EXPECT_GE(c.health.cooled_at() - MonoTime{}, seconds(15));
  c.health.succeeded();
  EXPECT_TRUE(c.health.serving()) << "a turn that was running ended well";
  c.health.unreachable("refused", {});
  EXPECT_LE(c.health.cooled_at() - MonoTime{}, seconds(1));
}

TEST(Health, one_that_is_kept_out_does_not_come_back_by_a_turn) {
  Case c;
  c.health.admit();
  c.health.keep_out("another model");
  c.health.succeeded();
  EXPECT_EQ(c.health.state(), Health::State::kKeptOut);
  EXPECT_EQ(c.health.why(), "another model");
}

TEST(Health, busy_passes) {
  Case c;
  c.health.admit();
  c.health.mark_busy(MonoTime{} + milliseconds(500));
  EXPECT_TRUE(c.health.busy(MonoTime{} + milliseconds(499)));
  EXPECT_FALSE(c.health.busy(MonoTime{} + milliseconds(500)));
  EXPECT_TRUE(c.health.serving());
}

TEST(Health, a_time_out_before_the_first_event_weighs_more_than_one_behind_it) {
  const auto timeout = plain(ErrorKind::kTimeout);
  EXPECT_EQ(sign_of(timeout), Sign::kStrike);
  EXPECT_EQ(sign_before_first_event(timeout), Sign::kSilent);
  // Everything else says the same, and an engine that answers 504 is not silent.
  for (const auto& other : {plain(ErrorKind::kUnavailable), plain(ErrorKind::kCancelled),
                            plain(ErrorKind::kEngine), answered(429), answered(504)})
    EXPECT_EQ(sign_before_first_event(other), sign_of(other)) << other.message;
}

TEST(Health, one_that_failed_at_sampling_needs_a_token_until_it_made_one) {
  base::SeededRandom random(1);
  Health health({}, random);
  health.admit();
  EXPECT_EQ(health.needs(), Health::Needs::kGets);
  health.unreachable("gone", MonoTime{});
  EXPECT_EQ(health.needs(), Health::Needs::kGets) << "nothing was sent to it";
  health.admit();
  health.silent("no answer in time", MonoTime{});
  EXPECT_EQ(health.state(), Health::State::kCooling);
  EXPECT_EQ(health.needs(), Health::Needs::kToken);
  health.check_failed("still none", MonoTime{});
  EXPECT_EQ(health.needs(), Health::Needs::kToken);
  health.succeeded();
  EXPECT_EQ(health.needs(), Health::Needs::kGets) << "a turn that ends well is made of tokens";
  for (int i = 0; i < 3; ++i) health.strike("cut", MonoTime{});
  EXPECT_EQ(health.needs(), Health::Needs::kToken);
  health.admit();
  EXPECT_EQ(health.needs(), Health::Needs::kGets);
}

}  // namespace
}  // namespace verbatim::engine::pool
