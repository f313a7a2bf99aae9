#include <cstdio>
#include <map>

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

void print_proof(const exporting::TurnProof& proof, std::size_t number, std::size_t parent) {
  if (!proof.failure.empty()) {
    std::printf("  turn %zu (%s) FAILED: %s\n", number, proof.turn.c_str(), proof.failure.c_str());
  } else if (proof.parent.empty()) {
    std::printf("  turn %zu: root, %zu prompt ids; %zu sampled\n", number, proof.added,
                proof.sampled);
  } else {
    std::printf(
        "  turn %zu: its prompt begins with all %zu ids of turn %zu%s and adds %zu; %zu sampled\n",
        number, proof.inherited, parent, proof.trimmed == 0 ? "" : " but its stop token",
        proof.added, proof.sampled);
  }
}

Exit run(const AuditOptions& options) {
  std::size_t proved = 0;
  std::size_t failed = 0;
  const auto audit = [&](const std::string& name,
                         const std::vector<exporting::RecordedTurn>& turns) {
    std::printf("%s\n", name.c_str());
    std::map<std::string, std::size_t> numbers;  // turns are told by their place in the file
    for (const auto& proof : exporting::prove_turns(turns, options.max_trim)) {
      const std::size_t number = numbers.size() + 1;
      numbers.emplace(proof.turn, number);
      print_proof(proof, number, proof.parent.empty() ? 0 : numbers[proof.parent]);
      ++(proof.failure.empty() ? proved : failed);
    }
    return Exit::kOk;
  };
  if (const Exit exit = for_each_record(options.records, audit); exit != Exit::kOk) return exit;
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
