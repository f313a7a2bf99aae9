#pragma once

#include <functional>
#include <string>

#include "base/files.h"
#include "store/sqlite/check.h"
#include "store/sqlite/database.h"

namespace verbatim::store::sqlite {

// What `verbatim store` does to a store that nobody serves: each takes its lock meanwhile. Errors
// are those of Database::open(). `vfs` as in DatabaseOptions.
struct ToolTarget {
  base::Files& files;
  std::string path;
  std::string vfs;
};
using Progress = std::function<void(std::uint64_t sessions)>;

base::Result<CheckReport> check_file(const ToolTarget& target, const Progress& progress);

struct Compacted {
  std::uint64_t before = 0;  // bytes
  std::uint64_t after = 0;
};
// Writes the file anew without the room that deleted sessions left. Needs as much free disk again.
base::Result<Compacted> compact_file(const ToolTarget& target);

}  // namespace verbatim::store::sqlite
