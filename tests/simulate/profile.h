#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/sim/sim_files.h"
#include "base/sim/sim_network.h"
#include "engine/testing/proofs.h"
#include "sim/faults.h"
#include "sim/streaming.h"
#include "simulate/settings.h"
#include "store/testing/fault_vfs.h"

namespace verbatim::simulate {

using engine::testing::Driven;

// "vllm/completions", or a kind alone in its default mode.
std::optional<Driven> driven_named(const std::string& text);
std::string driven_names();  // "sglang/generate, ..."

// What one seed's world is like: which faults, how often, how slow. Chances in thousandths.
struct Profile {
  Driven driven;
  base::sim::SimNetworkOptions agent_link;   // agents and gateway
  base::sim::SimNetworkOptions engine_link;  // gateway and engine
  base::sim::SimFilesOptions files;
  sim::FaultRates engine;
  unsigned store_fails = 0;
  sim::Streaming streaming = sim::Streaming::kCumulative;
  std::size_t ids_per_event = 1;
  unsigned agents = 6;
  std::size_t replicas = 1;
  bool replicas_die = false;  // and come back
  bool records = true;
  store::testing::VfsFaultOptions disk;  // of the store
  bool crashes = false;                  // the machine loses power now and then
  bool restarts = false;                 // the gateway ends in order now and then, and starts anew
  bool closes_early = false;             // the gateway is shut down while agents are at work
  // Of stateless chat; over it the store forgets old conversations.
  std::size_t implicit_bytes = std::size_t{256} << 20;
  bool calm = false;  // no faults at all: what is legal must succeed

  [[nodiscard]] bool forgets() const { return implicit_bytes < std::size_t{1} << 20; }
  // A client that left is always noticed: nothing swallows the end of its connection or ours.
  [[nodiscard]] bool aborts_arrive() const {
    return agent_link.stall == 0 && engine_link.stall == 0 && engine_link.cut == 0 &&
           engine_link.blackhole == 0 && engine_link.refuse == 0;
  }
};

// `kind` as in driven_named(); empty: the seed's own.
Profile profile_of(std::uint64_t seed, const Settings& settings);

}  // namespace verbatim::simulate
