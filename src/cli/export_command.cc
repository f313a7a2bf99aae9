
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/record_files.h"
#include "export/samples.h"

namespace verbatim::cli {
namespace {

Exit run(const RecordOptions& options) {
  return for_each_record(
      options, [](const std::string& name, const std::vector<exporting::RecordedTurn>& turns) {
        const auto samples = exporting::leaf_samples(turns);
        if (!samples) return fail(base::Error(samples.error()).within(name));
        for (const auto& sample : *samples) print_data(exporting::sample_line(sample) + "\n");
        return Exit::kOk;
      });
}

}  // namespace

Run add_export(CLI::App& program) {
  auto* command = program.add_subcommand(
      "export", "training samples out of record files: one JSON line per leaf");
  auto options = std::make_shared<RecordOptions>();
  options->add(*command);
  command->footer(
      "Each line has: session_id, turns, ids, mask (1: sampled by the model), loss_mask (1: "
      "sampled,\n"
      "and in no earlier line), logprobs, trimmed, finish_reason.\n"
      "Example: verbatim export --record-dir records > samples.jsonl");
  return [options] { return run(*options); };
}

}  // namespace verbatim::cli
