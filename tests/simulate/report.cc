#include "simulate/report.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "simulate/world.h"

namespace verbatim::simulate {

std::optional<Break> break_named(const std::string& name) {
  if (name == "commit-after-answer") return Break::kCommitAfterAnswer;
  if (name == "lost-version") return Break::kLostVersion;
  if (name == "wrong-logprob") return Break::kWrongLogprob;
  if (name == "stale-parent") return Break::kStaleParent;
  if (name == "no-abort") return Break::kNoAbort;
  return std::nullopt;
}

namespace {

using Clock = std::chrono::steady_clock;

// Prints a finding with the command that shows it again, and ends the program.
class Printer final : public Findings {
 public:
  explicit Printer(const Settings& settings) : settings_(settings) {}

  void begin(std::uint64_t seed) {
    seed_ = seed;
    steps_ = 0;
  }
  [[noreturn]] void fail(std::string_view invariant, const std::string& expected,
                         const std::string& found) override {
    std::printf(
        "simulate: seed %llu, step %llu: %.*s does not hold\n  expected: %s\n  found:    %s\n",
        ull(seed_), ull(steps_), static_cast<int>(invariant.size()), invariant.data(),
        expected.c_str(), found.c_str());
    std::printf(
        "  again:    build/release/tests/simulate --trace-seed %llu --seeds 1 --turns %llu%s%s\n",
        ull(seed_), ull(settings_.turns_per_seed()),
        settings_.broken_name.empty() ? "" : " --break ", settings_.broken_name.c_str());
    std::fflush(stdout);
    std::_Exit(1);
  }
  void trace(const std::string& line) override {
    if (settings_.trace) std::printf("%s\n", line.c_str());
  }
  [[nodiscard]] bool tracing() const override { return settings_.trace; }
  void step() override { ++steps_; }

  static unsigned long long ull(std::uint64_t value) { return value; }

 private:
  const Settings& settings_;
  std::uint64_t seed_ = 0;
  std::uint64_t steps_ = 0;
};

void add(Counts& into, const Counts& more) {
  for (const auto& [name, count] : more) into[name] += count;
}

void print(const char* title, const Counts& counts) {
  std::printf("%s\n", title);
  for (const auto& [name, count] : counts)
    std::printf("  %9llu  %s\n", static_cast<unsigned long long>(count), name.c_str());
}

std::uint64_t sum_of(const Counts& counts, std::string_view prefix) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : counts) {
    if (name.starts_with(prefix)) sum += count;
  }
  return sum;
}

}  // namespace

int run_seeds(const SharedModel& model, const Settings& settings) {
  Printer printer(settings);
  Counts counts, faults;
  std::uint64_t jobs = 0;
  const auto began = Clock::now();
  for (std::uint64_t i = 0; i < settings.seeds; ++i) {
    const std::uint64_t seed = settings.first_seed + i;
    printer.begin(seed);
    const Run run = run_world(model, seed, settings, printer);
    if (settings.twice > 0 && i % settings.twice == 0) {
      const Run again = run_world(model, seed, settings, printer);
      printer.check(run.trace == again.trace && run.store_hash == again.store_hash, "I12",
                    "the same run twice", "another trace or another store");
      ++counts["check: seeds run twice"];
    }
    add(counts, run.counts);
    add(faults, run.faults);
    jobs += run.jobs;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  const std::uint64_t turns = sum_of(counts, "turn: ");
  if (!settings.quiet) {
    print("counts", counts);
    print("faults, how often each fired", faults);
  }
  std::printf(
      "simulate: %llu turns over %llu seeds, nothing found; %llu recorded; %llu hit by a fault "
      "(%.1f %%); %.1f s, %.0f turns/s, %llu jobs\n",
      Printer::ull(turns), Printer::ull(settings.seeds), Printer::ull(counts["recorded turns"]),
      Printer::ull(counts["turns hit by a fault"]),
      turns == 0 ? 0.0
                 : 100.0 * static_cast<double>(counts["turns hit by a fault"]) /
                       static_cast<double>(turns),
      seconds, static_cast<double>(turns) / seconds, Printer::ull(jobs));
  return 0;
}

}  // namespace verbatim::simulate
