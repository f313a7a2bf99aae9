// What counting costs where turns are made.
#include <array>

#include <benchmark/benchmark.h>

#include "base/metrics.h"

namespace verbatim::base {
namespace {

constexpr std::array<std::uint64_t, 21> kBounds = {
    100,       250,        500,        1'000,      2'500,       5'000,       10'000,
    25'000,    50'000,     100'000,    250'000,    500'000,     1'000'000,   2'500'000,
    5'000'000, 10'000'000, 30'000'000, 60'000'000, 120'000'000, 300'000'000, 600'000'000};
constexpr Metric kCount{"count_total", "Count"};
constexpr Metric kTime{"time_seconds", "Time", Metric::Type::kHistogram, 6, kBounds};

void count(benchmark::State& state) {
  static Metrics metrics;
  auto& counter = metrics.counter(kCount);
  for (auto _ : state) counter.add();
}
BENCHMARK(count)->Threads(1)->Threads(2);

void observe(benchmark::State& state) {
  static Metrics metrics;
  auto& histogram = metrics.histogram(kTime);
  for (auto _ : state) histogram.observe(static_cast<std::uint64_t>(state.range(0)));
}
BENCHMARK(observe)->Arg(300)->Arg(2'000'000);
BENCHMARK(observe)->Arg(300)->Threads(2);

}  // namespace
}  // namespace verbatim::base
