#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "engine/inspect.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace verbatim::cli {

// The options that say which engine is driven, and how; shared by the commands that reach one.
struct EngineOptions {
  std::vector<std::string> urls;  // several: of the replicas of one engine
  std::string kind = "auto";
  std::string mode = "auto";
  std::string api_key;
  std::string api_key_file;

  void add(CLI::App& command);
  // Reads the key's file, and the <KIND>_BASE_URL variables where no URL was given; `listen` is
  // "host:port" of a gateway that must not find itself there. Errors (kInvalidRequest) say the
  // option.
  // Any id counts as one of the vocabulary, until `vocab_size` is set. One choice for each URL, at
  // least one; they differ in nothing else.
  base::Result<std::vector<engine::Choice>> choices(const std::string& listen) const;
};

// The environment, as far as choices() reads it.
std::string environment(std::string_view variable);
// The options of a command that was read which have their value from the environment (one that is
// given the same value beside it counts as if it were not).
std::set<std::string, std::less<>> said_by_environment(const CLI::App& command);

// Asks engines what they are, and whether they read ids, all at the same time on an event loop that
// ends with it: the engines in the answers are gone.
std::vector<base::Result<engine::Inspected>> inspect_engines(
    const std::vector<engine::Choice>& choices);

// "host:port/path", for messages.
std::string address_of(const engine::Choice& choice);

// Whether those that were reached can be the replicas of one engine.
base::Status of_one_kind(const std::vector<const engine::Inspected*>& replicas);

}  // namespace verbatim::cli
