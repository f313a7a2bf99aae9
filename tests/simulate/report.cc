#include "simulate/report.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include <unistd.h>

#include "simulate/world.h"

namespace verbatim::simulate {

std::optional<Break> break_named(const std::string& name) {
  static const std::map<std::string, Break> kNames{
      {"commit-after-answer", Break::kCommitAfterAnswer},
      {"lost-version", Break::kLostVersion},
      {"wrong-logprob", Break::kWrongLogprob},
      {"stale-parent", Break::kStaleParent},
      {"no-abort", Break::kNoAbort},
      {"dropped-sync", Break::kDroppedSync},
      {"shared-choice", Break::kSharedChoice},
      {"every-repeat", Break::kEveryRepeat},
      {"forgotten-key", Break::kForgottenKey}};
  const auto found = kNames.find(name);
  if (found != kNames.end()) return found->second;
  return std::nullopt;
}

namespace {

using Clock = std::chrono::steady_clock;

// Prints a finding with the command that shows it again, and ends the program.
class Printer final : public Findings {
 public:
  explicit Printer(const Settings& settings) : settings_(settings) {}

  void begin(std::uint64_t seed, std::uint64_t turns) {
    seed_ = seed;
    steps_ = 0;
    again_ = "build/release/tests/simulate --trace-seed " + std::to_string(seed) + " --turns " +
             std::to_string(turns);
    if (!settings_.kind.empty()) again_ += " --kind " + settings_.kind;
    if (settings_.on_disk) again_ += " --store sqlite";
    if (!settings_.broken_name.empty()) again_ += " --break " + settings_.broken_name;
    std::snprintf(running().data(), running().size(),
                  "simulate: seed %llu crashed\n  again:    %s\n", ull(seed), again_.c_str());
  }
  // What to print should the process die; static, because signal handlers reach nothing else.
  static std::array<char, 256>& running() {
    static std::array<char, 256> text{};
    return text;
  }
  [[noreturn]] void fail(std::string_view invariant, const std::string& expected,
                         const std::string& found) override {
    std::printf(
        "simulate: seed %llu, step %llu: %.*s does not hold\n  expected: %s\n  found:    %s\n",
        ull(seed_), ull(steps_), static_cast<int>(invariant.size()), invariant.data(),
        expected.c_str(), found.c_str());
    std::printf("  again:    %s\n", again_.c_str());
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
  std::string again_;  // the command that shows the seed of now
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

// How many random operations of which kind there were.
void print_operations(const Counts& counts) {
  std::printf("operations: %llu", Printer::ull(sum_of(counts, "op: ")));
  for (auto it = counts.lower_bound("op: "); it != counts.end(); ++it) {
    if (!it->first.starts_with("op: ")) break;
    std::printf("%s %llu %s", it == counts.lower_bound("op: ") ? ":" : ",",
                Printer::ull(it->second), it->first.c_str() + 4);
  }
  std::printf("\n");
}

// What came of the seeds with one kind of engine.
struct OfKind {
  std::uint64_t seeds = 0, turns = 0, answered = 0, recorded = 0, hit = 0;

  void add(const Counts& counts) {
    const auto of = [&](const char* name) {
      const auto at = counts.find(name);
      return at == counts.end() ? 0 : at->second;
    };
    ++seeds;
    turns += sum_of(counts, "turn: ");
    answered += of("turn: answered");
    recorded += of("recorded turns");
    hit += of("turns hit by a fault");
  }
};

void print(const std::map<std::string, OfKind>& kinds) {
  std::printf("engines\n      seeds     turns  answered  recorded  hit by a fault\n");
  for (const auto& [name, of] : kinds) {
    std::printf("  %9llu %9llu %9llu %9llu %9llu  %s\n", Printer::ull(of.seeds),
                Printer::ull(of.turns), Printer::ull(of.answered), Printer::ull(of.recorded),
                Printer::ull(of.hit), name.c_str());
  }
}

void say_what_crashed(int signal) {
  (void)!write(STDERR_FILENO, Printer::running().data(), std::strlen(Printer::running().data()));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

int run_seeds(const SharedModel& model, const Settings& settings) {
  Printer printer(settings);
  Counts counts, faults;
  std::map<std::string, OfKind> by_kind;
  std::uint64_t jobs = 0;
  const auto began = Clock::now();
  std::signal(SIGSEGV, say_what_crashed);
  std::signal(SIGABRT, say_what_crashed);
  std::uint64_t turns = 0;
  for (std::uint64_t i = 0; i < settings.seeds; ++i) {
    const std::uint64_t seed = settings.first_seed + i;
    // Worlds that close early leave turns to the later ones.
    const std::uint64_t left = settings.turns - std::min(turns, settings.turns);
    const std::uint64_t here = std::max<std::uint64_t>(1, left / (settings.seeds - i));
    printer.begin(seed, here);
    const Run run = run_world(model, seed, here, settings, printer);
    turns += sum_of(run.counts, "turn: ");
    if (!settings.trace && i % settings.twice == 0) {
      const Run again = run_world(model, seed, here, settings, printer);
      printer.check(run.trace == again.trace && run.store_hash == again.store_hash, "I12",
                    "the same run twice", "another trace or another store");
      ++counts["check: seeds run twice"];
    }
    add(counts, run.counts);
    add(faults, run.faults);
    by_kind[run.kind].add(run.counts);
    jobs += run.jobs;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  if (!settings.quiet) {
    print("counts", counts);
    print(by_kind);
    print("faults, how often each fired", faults);
  }
  print_operations(counts);
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
