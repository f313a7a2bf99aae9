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
  command.add_option("--session", session, "id of a session: only its record");
}

Exit for_each_record(
    const RecordOptions& options,
    const std::function<Exit(const std::string& name,
                             const std::vector<exporting::RecordedTurn>& turns)>& visit) {
  const auto files = base::system_files();
  std::vector<std::string> names{options.session + ".jsonl"};
  if (options.session.empty()) {
    auto listed = files->list(options.record_dir);
    if (!listed) return fail(std::move(listed).error().within("--record-dir"));
    names = std::move(*listed);
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".jsonl"); });
    if (names.empty())
      return fail(base::error(base::ErrorKind::kNotFound,
                              "no record files (*.jsonl) in " + options.record_dir +
                                  "; expected the folder that verbatim serve --record-dir writes"));
  }
  std::size_t inexact = 0;
  for (const auto& name : names) {
    const std::string path = options.record_dir + "/" + name;
    const auto text = files->read(path, kMaxRecordFile);
    if (!text)
      return fail(
          base::Error(text.error()).within(options.session.empty() ? "--record-dir" : "--session"));
    auto turns = exporting::read_records(*text);
    if (!turns) {
      base::Error failure = turns.error();
      failure.field = failure.field.empty() ? path : path + ", " + failure.field;
      return fail(failure);
    }
    inexact += exporting::drop_inexact(*turns);
    if (const Exit exit = visit(name, *turns); exit != Exit::kOk) return exit;
  }
  if (inexact != 0)
    say(std::to_string(inexact) + " turns are not token-exact (messages went up) and are left out");
  return Exit::kOk;
}

}  // namespace verbatim::cli
