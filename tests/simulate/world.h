#pragma once

#include "base/sim/sim_executor.h"
#include "simulate/ledger.h"
#include "simulate/settings.h"
#include "simulate/shared_model.h"

namespace verbatim::simulate {

// What one seed's run came to.
struct Run {
  std::uint64_t trace = 0;     // equal exactly when the same jobs ran in the same order
  std::size_t store_hash = 0;  // of the store's dump
  std::uint64_t jobs = 0;
  std::string kind;  // of the engine, and its mode
  Counts counts;
  Counts faults;  // by kind
};

// Gateway, engine, store, disk and agents of one seed in virtual time, from start to end.
Run run_world(const SharedModel& model, std::uint64_t seed, std::uint64_t turns,
              const Settings& settings, Findings& findings);

}  // namespace verbatim::simulate
