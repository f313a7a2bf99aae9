#pragma once

#include <string>

#include "base/files.h"
#include "base/random.h"
#include "store/sqlite/database.h"

namespace verbatim::store::sqlite {

// A store that nobody serves. `vfs` as in DatabaseOptions.
struct ToolTarget {
  base::Files& files;
  std::string path;
  std::string vfs;
};

// A connection to a store of this version, and the lock that keeps others away meanwhile.
struct Held {
  StoreLock lock;
  Connection connection;
};

// Errors are those of Database::open(); an older schema is refused.
base::Result<Held> hold(const ToolTarget& target);
// The same, made with a key of its own where it is missing.
base::Result<Held> hold_or_make(const ToolTarget& target, base::Random& random);

}  // namespace verbatim::store::sqlite
