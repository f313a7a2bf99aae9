#pragma once

#include <cstdint>
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

// What came out of asking an engine before the first turn.
struct Inspected {
  engine::Choice choice;
  engine::Identity identity;
  bool reached = false;  // it answered
  base::Status ids;      // whether it reads them; success where nobody needed to ask
};

// Asks the engine what it is, and whether it reads ids where that is not plain from what it is, on
// an event loop of its own. An engine that does not answer is left for later (`reached` is false).
// Errors are kUnsupported: another engine, an old one, or one of no known kind.
base::Result<Inspected> inspect_engine(const engine::Choice& choice);

}  // namespace verbatim::cli
