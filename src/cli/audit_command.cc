#include <cstdio>

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "cli/command.h"
#include "export/audit.h"

namespace verbatim::cli {
namespace {

constexpr std::uint64_t kMaxRecordFile = std::uint64_t{4} << 30;

struct AuditOptions {
  std::string record_dir;
  std::string session;
  std::size_t max_trim = 1;
};

struct Totals {
  std::size_t proved = 0;
  std::size_t failed = 0;
};

Exit audit_file(base::Files& files, const AuditOptions& options, const std::string& name,
                Totals& totals) {
  const std::string path = options.record_dir + "/" + name;
  const auto text = files.read(path, kMaxRecordFile);
  if (!text) return fail(text.error());
  const auto turns = exporting::read_records(*text);
  if (!turns) return fail(base::Error(turns.error()).within(path));
  std::printf("%s\n", name.c_str());
  for (const auto& proof : exporting::prove_turns(*turns, options.max_trim)) {
    if (!proof.failure.empty()) {
      ++totals.failed;
      std::printf("  turn %s FAILED: %s\n", proof.turn.c_str(), proof.failure.c_str());
      continue;
    }
    ++totals.proved;
    if (proof.parent.empty()) {
      std::printf("  turn %s: root, %zu prompt ids, %zu sampled\n", proof.turn.c_str(), proof.added,
                  proof.sampled);
    } else {
      std::printf(
          "  turn %s: the prompt begins with all %zu ids of turn %s%s, adds %zu, %zu sampled\n",
          proof.turn.c_str(), proof.inherited, proof.parent.c_str(),
          proof.trimmed == 0 ? "" : " but its stop token", proof.added, proof.sampled);
    }
  }
  return Exit::kOk;
}

Exit run(const AuditOptions& options) {
  const auto files = base::system_files();
  std::vector<std::string> names{options.session + ".jsonl"};
  if (options.session.empty()) {
    auto listed = files->list(options.record_dir);
    if (!listed) return fail(listed.error());
    names = std::move(*listed);
  }
  Totals totals;
  for (const auto& name : names) {
    if (!name.ends_with(".jsonl")) continue;
    if (const Exit exit = audit_file(*files, options, name, totals); exit != Exit::kOk) return exit;
  }
  std::printf("%zu turns proved, %zu failed\n", totals.proved, totals.failed);
  return totals.failed == 0 ? Exit::kOk : Exit::kFailed;
}

}  // namespace

Run add_audit(CLI::App& program) {
  auto* command = program.add_subcommand(
      "audit", "proves from record files that each prompt extends the turn before, id by id");
  auto options = std::make_shared<AuditOptions>();
  command
      ->add_option("--record-dir", options->record_dir,
                   "folder that `verbatim serve --record-dir` wrote")
      ->required()
      ->envname("VERBATIM_RECORD_DIR");
  command->add_option("--session", options->session, "only this session");
  command
      ->add_option("--max-trim", options->max_trim,
                   "ids that a prompt may leave out where it joins the turn before")
      ->capture_default_str();
  command->footer(
      "Exit code 1 when a turn can't be proved.\nExample: verbatim audit --record-dir records");
  return [options] { return run(*options); };
}

}  // namespace verbatim::cli
