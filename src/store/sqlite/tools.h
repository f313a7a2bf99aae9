#pragma once

#include <functional>
#include <string>

#include "store/sqlite/check.h"
#include "store/sqlite/held.h"

namespace verbatim::store::sqlite {

// What `verbatim store` does to a store that nobody serves.
using Progress = std::function<void(std::uint64_t sessions)>;

base::Result<CheckReport> check_file(const ToolTarget& target, const Progress& progress);

struct Compacted {
  std::uint64_t before = 0;  // bytes
  std::uint64_t after = 0;
};
// Writes the file anew without the room that deleted sessions left. Needs as much free disk again.
base::Result<Compacted> compact_file(const ToolTarget& target);

}  // namespace verbatim::store::sqlite
