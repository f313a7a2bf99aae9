#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.h"

namespace verbatim::cli {

// `verbatim cassette record` and `replay`: servers until SIGINT or SIGTERM.

struct RecordCassetteOptions {
  std::string file;
  std::string engine;
  std::string host = "127.0.0.1";
  std::uint16_t port = 7070;
  std::vector<std::string> provider;  // NAME=VALUE
  bool all_methods = false;
  bool once = false;
};
Exit record_cassette(const RecordCassetteOptions& options);

struct ReplayCassetteOptions {
  std::vector<std::string> cassettes;
  std::vector<std::string> standing;
  std::vector<std::string> ignored;
  std::string log;
  std::string host = "127.0.0.1";
  std::uint16_t port = 7071;
};
Exit replay_cassettes(const ReplayCassetteOptions& options);

}  // namespace verbatim::cli
