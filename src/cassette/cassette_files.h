#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "cassette/cassette.h"

namespace verbatim::cassette {

// Blocking, as base::Files is.

// What is wrong in a file: "path:12: what".
std::string told(const std::string& path, const Problem& problem);

// Every cassette at `path`: itself, or below it, sorted. A file that is named is meant; of a
// directory those that end in .yaml or .yml and have `turns`. Error: nothing is there, or can't be
// read.
base::Result<std::vector<std::string>> find_cassettes(base::Files& files, const std::string& path);

// A cassette that breaks no rule. Error: the file and line of the first rule that it breaks, and
// how many more there are.
base::Result<Cassette> load_cassette(base::Files& files, const std::string& path);

struct Validation {
  std::size_t cassettes = 0;
  std::size_t turns = 0;
  std::vector<std::string> problems;  // see told()
};
// All cassettes at these paths. Error: see find_cassettes().
base::Result<Validation> validate(base::Files& files, const std::vector<std::string>& paths);

}  // namespace verbatim::cassette
