#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace verbatim::base {

// What is counted of one thing. A cell has one writer at a time (a thread, or whoever holds a lock)
// and any number of readers: counting is a load and a store, without a lock and without a line of
// memory that other threads write.
class Counter {
 public:
  void add(std::uint64_t more = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  // What somebody else counts.
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

class Gauge {
 public:
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void add(std::int64_t more) { set(value() + more); }
  [[nodiscard]] std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

class Histogram {
 public:
  static constexpr std::size_t kMaxBounds = 23;

  // Bounds are inclusive and rise, at most kMaxBounds of them; they must live as long as this.
  explicit Histogram(std::span<const std::uint64_t> bounds) : bounds_(bounds) {}

  void observe(std::uint64_t value) {
    std::size_t i = 0;
    while (i < bounds_.size() && value > bounds_[i]) ++i;
    counts_[i].add();
    sum_.add(value);
  }
  [[nodiscard]] std::uint64_t count(std::size_t bucket) const { return counts_[bucket].value(); }
  [[nodiscard]] std::uint64_t sum() const { return sum_.value(); }

 private:
  const std::span<const std::uint64_t> bounds_;
  std::array<Counter, kMaxBounds + 1> counts_;  // the last is of what is over all bounds
  Counter sum_;
};

// What a metric is: a row of a table, with static storage.
struct Metric {
  enum class Type { kCounter, kGauge, kHistogram };
  // How the gauges of several writers make one.
  enum class Merge { kSum, kMax };

  std::string_view name;  // by the conventions of Prometheus: unit last, _total for counters
  std::string_view help;
  Type type = Type::kCounter;
  // So many digits of what is counted are shown behind the point: 6 shows microseconds as seconds.
  unsigned decimals = 0;
  std::span<const std::uint64_t> bounds = {};  // of a histogram, in what is counted
  Merge merge = Merge::kSum;
};

// All that a program counts, and its text for Prometheus. Whoever counts asks for cells of its own
// at its start, and keeps them; the text adds up the cells of equal names and labels. Labels have
// few values that are known at the start: nothing that clients choose. Cells live as long as this.
// Asking for cells and text is thread-safe, and slow.
class Metrics {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  Counter& counter(const Metric& metric, Labels labels = {});
  Gauge& gauge(const Metric& metric, Labels labels = {});
  Histogram& histogram(const Metric& metric, Labels labels = {});

  // Text format 0.0.4 of Prometheus ("Exposition formats" of its documentation), and OpenMetrics
  // 1.0.0.
  enum class Format { kText, kOpenMetrics };
  [[nodiscard]] std::string text(Format format = Format::kText) const;
  [[nodiscard]] static std::string_view content_type(Format format);
  // What a scraper asks for with its Accept field.
  [[nodiscard]] static Format format_of(std::string_view accept);

  // The value of a counter or a gauge, as text() would add it up; 0 where there is none.
  [[nodiscard]] std::int64_t value(const Metric& metric, Labels labels = {}) const;
  // The sum of all that have these labels, whatever others.
  [[nodiscard]] std::int64_t total(const Metric& metric, Labels labels = {}) const;

 private:
  struct Series {
    std::string labels;  // "a=\"b\",c=\"d\""
    std::vector<const Counter*> counters;
    std::vector<const Gauge*> gauges;
    std::vector<const Histogram*> histograms;
  };
  struct Family {
    Metric metric;
    std::vector<Series> series;
  };
  Series& series_of(const Metric& metric, Labels labels);
  static std::int64_t sum_of(const Metric& metric, const Series& series);
  static void write(const Family& family, Format format, std::string& out);
  static void write_histogram(const Metric& metric, const Series& series, std::string& out);

  mutable std::mutex mutex_;
  std::deque<Family> families_;  // in the order in which they were first asked for
  std::map<std::string_view, Family*> by_name_;
  std::deque<Counter> counters_;
  std::deque<Gauge> gauges_;
  std::deque<Histogram> histograms_;
};

}  // namespace verbatim::base
