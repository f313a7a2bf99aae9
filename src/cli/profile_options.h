#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "gateway/client_profiles.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace verbatim::cli {

// Which profiles of agents a server knows, and which one sessions get.
struct ProfileOptions {
  std::string chosen = std::string(gateway::ClientProfiles::kAuto);
  std::vector<std::string> files;

  void add(CLI::App& command);
  // The option that was given, null where none was.
  [[nodiscard]] const char* given() const;
  // Errors name the option, and the key of the file.
  [[nodiscard]] base::Result<gateway::ClientProfiles> load(base::Files& from) const;
};

}  // namespace verbatim::cli
