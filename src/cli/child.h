#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace verbatim::cli {

// How a command of this binary ended that ran as a process of its own.
struct ChildExit {
  int pid = 0;
  int code = 0;  // 128 + signal where one ended it
};

// Runs this binary again with `arguments` and waits. It writes to our standard output and error.
base::Result<ChildExit> run_self(const std::vector<std::string>& arguments);

}  // namespace verbatim::cli
