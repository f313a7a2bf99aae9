#pragma once

#include <string>

#include "base/random.h"
#include "base/result.h"
#include "store/sqlite/connection.h"

namespace verbatim::store::sqlite {

// The tables of a store; schema.cc holds them. The file names its version (PRAGMA user_version),
// and that it is a store of ours (application_id).
inline constexpr int kSchemaVersion = 6;
inline constexpr std::int64_t kApplicationId = 0x76626d31;  // "vbm1"

// What a file is: 0 where it is new. kUnsupported when it is another program's, or written by a
// newer version of this one; `path` is for the message.
base::Result<int> schema_version(Connection& connection, const std::string& path);

// Brings the file to kSchemaVersion, step by step, each a transaction of its own. A new file gets
// its key from `random`.
base::Status migrate(Connection& connection, int from, base::Random& random);

// The secret of the store: 32 hex digits, made once.
base::Result<std::string> read_key(Connection& connection);

}  // namespace verbatim::store::sqlite
