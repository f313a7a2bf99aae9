#include <cstdio>

#include <CLI/CLI.hpp>

#include "simulate/profile.h"
#include "simulate/report.h"
#include "simulate/settings.h"
#include "simulate/world.h"

int main(int argc, char** argv) {
  using namespace verbatim::simulate;
  CLI::App program{
      "simulate: gateway, engine, store, disk and agents in one process on simulated time, by "
      "seeds, with faults everywhere; checks what docs/design.md 1 promises"};
  Settings settings;
  program.add_option("--seeds", settings.seeds, "worlds")->capture_default_str();
  program.add_option("--first-seed", settings.first_seed, "seed of the first")
      ->capture_default_str();
  program.add_option("--turns", settings.turns, "requests for a turn, over all worlds")
      ->capture_default_str();
  std::optional<std::uint64_t> trace;
  program.add_option("--trace-seed", trace, "this world only, each step printed");
  program.add_option("--break", settings.broken_name,
                     "a deliberate bug that must be found: commit-after-answer, lost-version, "
                     "wrong-logprob, stale-parent, no-abort, shared-choice, every-repeat, "
                     "forgotten-key; with --store sqlite: "
                     "commit-after-answer, dropped-sync, no-abort");
  std::string store = "memory";
  program
      .add_option("--store", store,
                  "memory, or sqlite: on a disk that fails, tears and loses power")
      ->check(CLI::IsMember({"memory", "sqlite"}))
      ->capture_default_str();
  program.add_option("--kind", settings.kind,
                     "kind and mode of the engine in all worlds: " + driven_names());
  program.add_option("--toy", settings.toy_dir, "folder of the toy model")->capture_default_str();
  program.add_flag("--quiet", settings.quiet, "the summary only");
  program.footer("Example: simulate --seeds 200 --turns 175000");
  CLI11_PARSE(program, argc, argv);
  settings.on_disk = store == "sqlite";
  if (!settings.broken_name.empty()) {
    const auto broken = break_named(settings.broken_name);
    if (!broken) {
      std::fprintf(stderr, "simulate: --break: no such bug: %s\n", settings.broken_name.c_str());
      return 2;
    }
    settings.broken = *broken;
  }
  if (!settings.kind.empty() && !driven_named(settings.kind)) {
    std::fprintf(stderr, "simulate: --kind: found %s, expected one of %s\n", settings.kind.c_str(),
                 driven_names().c_str());
    return 2;
  }
  if (trace) {
    settings.seeds = 1;
    settings.first_seed = *trace;
    settings.trace = true;
  }
  const auto model = load_shared_model(settings.toy_dir);
  if (!model) {
    std::fprintf(stderr, "simulate: %s\n", model.error().message.c_str());
    return 2;
  }
  return run_seeds(*model, settings);
}
