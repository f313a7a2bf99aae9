#include "cli/record_files.h"

#include <CLI/CLI.hpp>

namespace verbatim::cli {
namespace {
constexpr std::uint64_t kMaxRecordFile = std::uint64_t{4} << 30;
}

void RecordOptions::add(CLI::App& command) {
  command.add_option("--record-dir", record_dir, "folder that `verbatim serve --record-dir` wrote")
      ->required()
      ->envname("VERBATIM_RECORD_DIR");
  command.add_option("--session", session, "only this session");
}

Exit for_each_record(
    const RecordOptions& options,
    const std::function<Exit(const std::string& name,
                             const std::vector<exporting::RecordedTurn>& turns)>& visit) {
  const auto files = base::system_files();
  std::vector<std::string> names{options.session + ".jsonl"};
  if (options.session.empty()) {
    auto listed = files->list(options.record_dir);
    if (!listed) return fail(listed.error());
    names = std::move(*listed);
  }
  for (const auto& name : names) {
    if (!name.ends_with(".jsonl")) continue;
    const std::string path = options.record_dir + "/" + name;
    const auto text = files->read(path, kMaxRecordFile);
    if (!text) return fail(text.error());
    const auto turns = exporting::read_records(*text);
    if (!turns) return fail(base::Error(turns.error()).within(path));
    if (const Exit exit = visit(name, *turns); exit != Exit::kOk) return exit;
  }
  return Exit::kOk;
}

}  // namespace verbatim::cli
