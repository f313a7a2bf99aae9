#include <cstdio>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/record_files.h"
#include "export/audit.h"

namespace verbatim::cli {
namespace {

struct AuditOptions {
  RecordOptions records;
  std::size_t max_trim = 1;
};

void print(const exporting::TurnProof& proof) {
  if (!proof.failure.empty()) {
    std::printf("  turn %s FAILED: %s\n", proof.turn.c_str(), proof.failure.c_str());
  } else if (proof.parent.empty()) {
    std::printf("  turn %s: root, %zu prompt ids, %zu sampled\n", proof.turn.c_str(), proof.added,
                proof.sampled);
  } else {
    std::printf(
        "  turn %s: the prompt begins with all %zu ids of turn %s%s, adds %zu, %zu sampled\n",
        proof.turn.c_str(), proof.inherited, proof.parent.c_str(),
        proof.trimmed == 0 ? "" : " but its stop token", proof.added, proof.sampled);
  }
}

Exit run(const AuditOptions& options) {
  std::size_t proved = 0;
  std::size_t failed = 0;
  const Exit exit = for_each_record(
      options.records,
      [&](const std::string& name, const std::vector<exporting::RecordedTurn>& turns) {
        std::printf("%s\n", name.c_str());
        for (const auto& proof : exporting::prove_turns(turns, options.max_trim)) {
          print(proof);
          ++(proof.failure.empty() ? proved : failed);
        }
        return Exit::kOk;
      });
  if (exit != Exit::kOk) return exit;
  std::printf("%zu turns proved, %zu failed\n", proved, failed);
  return failed == 0 ? Exit::kOk : Exit::kFailed;
}

}  // namespace

Run add_audit(CLI::App& program) {
  auto* command = program.add_subcommand(
      "audit", "proves from record files that each prompt extends the turn before, id by id");
  auto options = std::make_shared<AuditOptions>();
  options->records.add(*command);
  command
      ->add_option("--max-trim", options->max_trim,
                   "ids that a prompt may leave out where it joins the turn before")
      ->capture_default_str();
  command->footer(
      "Exit code 1 when a turn can't be proved.\nExample: verbatim audit --record-dir records");
  return [options] { return run(*options); };
}

}  // namespace verbatim::cli
