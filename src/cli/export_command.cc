#include <cstdio>

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "cli/command.h"
#include "export/samples.h"

namespace verbatim::cli {
namespace {

constexpr std::uint64_t kMaxRecordFile = std::uint64_t{4} << 30;

struct ExportOptions {
  std::string record_dir;
  std::string session;
};

Exit export_file(base::Files& files, const std::string& path) {
  const auto text = files.read(path, kMaxRecordFile);
  if (!text) return fail(text.error());
  const auto turns = exporting::read_records(*text);
  if (!turns) return fail(base::Error(turns.error()).within(path));
  const auto samples = exporting::leaf_samples(*turns);
  if (!samples) return fail(base::Error(samples.error()).within(path));
  for (const auto& sample : *samples) std::puts(exporting::sample_line(sample).c_str());
  return Exit::kOk;
}

Exit run(const ExportOptions& options) {
  const auto files = base::system_files();
  if (!options.session.empty())
    return export_file(*files, options.record_dir + "/" + options.session + ".jsonl");
  const auto names = files->list(options.record_dir);
  if (!names) return fail(names.error());
  for (const auto& name : *names) {
    if (!name.ends_with(".jsonl")) continue;
    if (const Exit exit = export_file(*files, options.record_dir + "/" + name); exit != Exit::kOk)
      return exit;
  }
  return Exit::kOk;
}

}  // namespace

Run add_export(CLI::App& program) {
  auto* command = program.add_subcommand(
      "export", "training samples out of record files: one JSON line per leaf");
  auto options = std::make_shared<ExportOptions>();
  command
      ->add_option("--record-dir", options->record_dir,
                   "folder that `verbatim serve --record-dir` wrote")
      ->required()
      ->envname("VERBATIM_RECORD_DIR");
  command->add_option("--session", options->session, "only this session");
  command->footer(
      "Each line has: session_id, turns, ids, mask (1: sampled by the model), loss_mask (1: "
      "sampled, and in no earlier line), logprobs,\n"
      "trimmed, finish_reason.\nExample: verbatim export --record-dir records > samples.jsonl");
  return [options] { return run(*options); };
}

}  // namespace verbatim::cli
