#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/sqlite/connection.h"

namespace verbatim::store::sqlite {

struct CheckReport {
  std::uint64_t sessions = 0;
  std::uint64_t turns = 0;
  std::uint64_t tokens = 0;
  // What is wrong, at most kMaxProblems of it; empty: nothing.
  std::vector<std::string> problems;
  static constexpr std::size_t kMaxProblems = 100;
};

// Reads all of a store: SQLite's own structures, every turn with its path, and that the tables
// agree with each other. `progress` is called with the sessions seen so far, now and then. An error
// says that the reading itself failed.
base::Result<CheckReport> check(Connection& connection,
                                const std::function<void(std::uint64_t sessions)>& progress);

}  // namespace verbatim::store::sqlite
