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
  const auto text = [](std::size_t n) { return std::to_string(n); };
  const std::string turn = "  turn " + text(number);
  const std::string sampled = "; " + text(proof.sampled) + " sampled";
  if (!proof.failure.empty()) {
    print_line(turn + " (" + proof.turn + ") FAILED: " + proof.failure);
  } else if (proof.parent.empty()) {
    print_line(turn + ": root, " + text(proof.added) + " prompt ids" + sampled);
  } else {
    print_line(turn + ": its prompt begins with all " + text(proof.inherited) + " ids of turn " +
               text(parent) + (proof.trimmed == 0 ? "" : " but its stop token") + " and adds " +
               text(proof.added) + sampled);
  }
}

Exit run(const AuditOptions& options) {
  std::size_t proved = 0;
  std::size_t failed = 0;
  const auto audit = [&](const std::string& name,
                         const std::vector<exporting::RecordedTurn>& turns) {
    print_line(name);
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
  print_line(std::to_string(proved) + " turns proved, " + std::to_string(failed) + " failed");
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
