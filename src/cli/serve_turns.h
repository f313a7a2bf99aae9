#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/engine_options.h"
#include "cli/log.h"
#include "cli/model_options.h"
#include "cli/profile_options.h"
#include "cli/store_options.h"
#include "gateway/access.h"

namespace verbatim::cli {

// What `verbatim serve` was asked for.
struct ServeOptions {
  ModelOptions model;
  EngineOptions engine;
  StoreOptions store;
  LogOptions log;
  std::string record_dir;
  std::uint64_t session_ttl = 0;  // seconds; 0: sessions stay
  std::string host = "127.0.0.1";
  std::string api_keys;
  bool no_auth = false;
  std::string session_header;
  ProfileOptions profiles;
  std::uint16_t port = 8080;
  unsigned threads = 0;
  std::uint64_t max_model_len = 0;
  std::string version;                                // of this program
  std::set<std::string, std::less<>> by_environment;  // options that it alone says
};

// How the engine is driven, and whether it answered already. An engine that may come up later is
// looked at when it does.
struct Chosen {
  engine::Choice choice;
  bool reached = false;
  std::optional<engine::Probe> probe;  // what it said then
  std::string model;                   // the first that it lists; empty: none
};

// Serves the model until it is told to stop, by token ids or by messages. `options` and `log`
// outlive it.
Exit serve_turns(const ServeOptions& options, std::shared_ptr<gateway::Model> model,
                 std::vector<Chosen> chosen, gateway::ApiKeys keys, Log& log);

}  // namespace verbatim::cli
