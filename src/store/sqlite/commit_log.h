#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "store/commit_log.h"
#include "store/sqlite/connection.h"

namespace verbatim::store::sqlite {

// The number of a commit is that of its body: tables.cc gives none twice.
inline constexpr const char* kLastCommit =
    "SELECT max((SELECT coalesce(max(number), 0) FROM body), "
    "coalesce((SELECT value FROM meta WHERE name = 'commits'), 0))";

// The highest number that a session ever had.
inline constexpr const char* kLastSession =
    "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'session'), 0)";

// Ended sessions up to this number are of use to nobody: said by those who read the log, heeded
// when the next ones end.
using EndedNoted = std::atomic<std::uint64_t>;

// Of an open store; `connection` is its own, `key` the store's. `noted` outlives it.
base::Result<std::unique_ptr<CommitLog>> commit_log(Connection connection, const std::string& key,
                                                    EndedNoted& noted);

}  // namespace verbatim::store::sqlite
