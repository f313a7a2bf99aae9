#include "base/metrics.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/process.h"
#include "base/sim/sim_files.h"

namespace verbatim::base {
namespace {

using Format = Metrics::Format;
using Type = Metric::Type;

constexpr std::array<std::uint64_t, 3> kBounds = {1'000, 10'000, 2'000'000};
constexpr Metric kTurns{"turns_total", "Turns", Type::kCounter};
constexpr Metric kRunning{"running", "Running", Type::kGauge};
constexpr Metric kMost{"most", "The most", Type::kGauge, 0, {}, Metric::Merge::kMax};
constexpr Metric kTime{"time_seconds", "Time", Type::kHistogram, 6, kBounds};

TEST(Metrics, a_metric_is_shown_with_its_help_and_type_in_the_order_of_first_use) {
  Metrics metrics;
  metrics.gauge(kRunning).set(-3);
  metrics.counter(kTurns, {{"door", "path"}}).add(2);
  metrics.counter(kTurns, {{"door", "none"}});
  EXPECT_EQ(metrics.text(),
            "# HELP running Running\n# TYPE running gauge\nrunning -3\n"
            "# HELP turns_total Turns\n# TYPE turns_total counter\n"
            "turns_total{door=\"path\"} 2\nturns_total{door=\"none\"} 0\n");
}

TEST(Metrics, cells_of_equal_names_and_labels_are_added_up) {
  Metrics metrics;
  metrics.counter(kTurns, {{"door", "path"}}).add(2);
  metrics.counter(kTurns, {{"door", "path"}}).add(5);
  metrics.counter(kTurns, {{"door", "none"}}).add(1);
  EXPECT_EQ(metrics.value(kTurns, {{"door", "path"}}), 7);
  EXPECT_EQ(metrics.value(kTurns, {{"door", "secret"}}), 0);
  EXPECT_EQ(metrics.total(kTurns), 8);
  EXPECT_EQ(metrics.total(kTurns, {{"door", "path"}}), 7);
}

TEST(Metrics, gauges_of_several_writers_make_their_sum_or_their_maximum) {
  Metrics metrics;
  for (const int value : {4, -1, 2}) {
    metrics.gauge(kRunning).add(value);
    metrics.gauge(kMost).set(value);
  }
  EXPECT_EQ(metrics.value(kRunning), 5);
  EXPECT_EQ(metrics.value(kMost), 4);
}

TEST(Metrics, buckets_of_a_histogram_include_their_bound_and_all_below) {
  Metrics metrics;
  auto& time = metrics.histogram(kTime, {{"stage", "plan"}});
  for (const std::uint64_t us : {0, 1'000, 1'001, 2'000'000, 2'000'001}) time.observe(us);
  EXPECT_EQ(metrics.text(),
            "# HELP time_seconds Time\n# TYPE time_seconds histogram\n"
            "time_seconds_bucket{stage=\"plan\",le=\"0.001\"} 2\n"
            "time_seconds_bucket{stage=\"plan\",le=\"0.01\"} 3\n"
            "time_seconds_bucket{stage=\"plan\",le=\"2.0\"} 4\n"
            "time_seconds_bucket{stage=\"plan\",le=\"+Inf\"} 5\n"
            "time_seconds_sum{stage=\"plan\"} 4.002002\n"
            "time_seconds_count{stage=\"plan\"} 5\n");
}

TEST(Metrics, a_label_can_not_break_out_of_its_quotes) {
  Metrics metrics;
  metrics.counter(kTurns, {{"door", "a\"} 1\n\\evil"}}).add();
  EXPECT_NE(metrics.text().find("turns_total{door=\"a\\\"} 1\\n\\\\evil\"} 1\n"), std::string::npos)
      << metrics.text();
}

TEST(Metrics, openmetrics_names_counters_without_their_suffix_and_ends) {
  Metrics metrics;
  metrics.counter(kTurns).add(4);
  EXPECT_EQ(metrics.text(Format::kOpenMetrics),
            "# HELP turns Turns\n# TYPE turns counter\nturns_total 4\n# EOF\n");
}

TEST(Metrics, the_format_is_what_a_scraper_asks_for) {
  EXPECT_EQ(Metrics::format_of("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            Format::kOpenMetrics);
  EXPECT_EQ(Metrics::format_of("text/plain;version=0.0.4;q=0.5,*/*;q=0.1"), Format::kText);
  EXPECT_EQ(Metrics::format_of(""), Format::kText);
}

TEST(Metrics, what_threads_count_in_cells_of_their_own_is_read_meanwhile_and_whole_at_the_end) {
  constexpr int kEach = 20'000;
  Metrics metrics;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      auto& turns = metrics.counter(kTurns);
      auto& time = metrics.histogram(kTime);
      for (int n = 0; n < kEach; ++n) {
        turns.add();
        time.observe(5'000);
      }
    });
  }
  std::int64_t last = 0;
  while (last < kEach) {
    const auto now = metrics.value(kTurns);
    ASSERT_GE(now, last);
    last = now;
    (void)metrics.text();
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(metrics.value(kTurns), 4 * kEach);
  EXPECT_NE(metrics.text().find("time_seconds_count 80000\n"), std::string::npos);
}

TEST(ProcessMetrics, say_what_the_system_knows_of_this_process) {
  Metrics metrics;
  const auto files = system_files();
  ProcessMetrics process(metrics, *files);
  process.refresh();
  const Metric resident{"process_resident_memory_bytes", "", Type::kGauge};
  const Metric descriptors{"process_open_fds", "", Type::kGauge};
  const Metric start{"process_start_time_seconds", "", Type::kGauge};
  EXPECT_GT(metrics.value(resident), 1 << 20);
  EXPECT_GE(metrics.value(descriptors), 3);
  EXPECT_GT(metrics.value(start), std::int64_t{1'700'000'000} * 100);
}

// Two scrapes at a time may end in either order.
TEST(ProcessMetrics, processor_time_never_goes_back) {
  sim::SimFiles files(1);
  ASSERT_TRUE(files.make_directories("/proc/self").ok());
  const auto spent = [&files](int ticks) {
    std::string text = "1 (a name) S";
    for (int field = 4; field <= 24; ++field) text += " " + std::to_string(field == 14 ? ticks : 0);
    ASSERT_TRUE(files.replace("/proc/self/stat", text).ok());
  };
  Metrics metrics;
  spent(0);
  ProcessMetrics process(metrics, files);
  const Metric cpu{"process_cpu_seconds_total", ""};
  spent(200);
  process.refresh();
  const auto later = metrics.value(cpu);
  EXPECT_GT(later, 0);
  spent(100);
  process.refresh();
  EXPECT_EQ(metrics.value(cpu), later);
  spent(300);
  process.refresh();
  EXPECT_GT(metrics.value(cpu), later);
}

TEST(ProcessMetrics, say_nothing_where_there_is_no_proc) {
  Metrics metrics;
  sim::SimFiles files(1);
  ProcessMetrics process(metrics, files);
  process.refresh();
  EXPECT_EQ(metrics.text(), "");
}

}  // namespace
}  // namespace verbatim::base
