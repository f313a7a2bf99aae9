#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace verbatim::cli {

// Gives every command of `program`, and those of a command, its option --config.
void add_config_options(CLI::App& program);

// The arguments of a command line (without the program's name), with those options of its
// configuration file behind them that neither the command line nor the environment says. The file
// is TOML 1.0: a table per command, whose keys are the command's long options:
//
//   [serve]
//   engine = ["http://127.0.0.1:8000", "http://127.0.0.1:8001"]
//   engine-kind = "vllm"
//   port = 8080
//
// `doctor` and `store` also take from [serve] what both know. Without --config and VERBATIM_CONFIG,
// the arguments are returned as they are. Errors (kInvalidRequest) name file, line and key.
base::Result<std::vector<std::string>> with_config(CLI::App& program, base::Files& files,
                                                   std::vector<std::string> arguments);

}  // namespace verbatim::cli
