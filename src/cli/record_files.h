#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "cli/command.h"
#include "export/record.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace verbatim::cli {

// The options of commands that read what `verbatim serve --record-dir` wrote.
struct RecordOptions {
  std::string record_dir;
  std::string session;  // empty: all

  void add(CLI::App& command);
};

// Calls `visit(file name, turns)` for each record file, in order of their names. Says what can't be
// read on stderr and stops there. Turns that are not token-exact are left out; how many there were
// is said on stderr.
Exit for_each_record(
    const RecordOptions& options,
    const std::function<Exit(const std::string& name,
                             const std::vector<exporting::RecordedTurn>& turns)>& visit);

}  // namespace verbatim::cli
