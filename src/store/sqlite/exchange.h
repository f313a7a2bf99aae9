#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/random.h"
#include "store/sqlite/tools.h"

namespace verbatim::store::sqlite {

// A whole store as lines (exchange_lines.h), and back: to move one to another machine, to keep a
// copy that can be read without SQLite, to put sessions of one store together again.

struct Exchanged {
  std::uint64_t sessions = 0;
  std::uint64_t turns = 0;
  std::uint64_t equal = 0;  // of the sessions: were in the store already, the same
};

// Takes a line, with its end.
using LineSink = std::function<base::Status(std::string_view line)>;
// All of a store, as of one moment. What can't be read back is an error that names it (kInternal).
// Memory: a session's rows, and the longest turn.
base::Result<Exchanged> export_file(const ToolTarget& target, const LineSink& sink,
                                    const Progress& progress);

// The next line without its end; none: that was the last.
using LineSource = std::function<base::Result<std::optional<std::string_view>>()>;
// All lines or nothing: one transaction. A store without sessions becomes what was exported, its
// key and all numbers included (made where it is missing), and exports the same bytes again. One
// with sessions takes those it has not, where its key is the same; numbers then go on behind its
// own. kInvalidRequest names the line that is damaged, unknown or breaks what a commit keeps;
// kConflict the session that the store has otherwise. Memory: a session, and the longest line.
base::Result<Exchanged> import_file(const ToolTarget& target, base::Random& random,
                                    const LineSource& lines, const Progress& progress);

}  // namespace verbatim::store::sqlite
