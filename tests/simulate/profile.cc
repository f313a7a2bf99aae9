#include "simulate/profile.h"

#include "base/random.h"

namespace verbatim::simulate {
namespace {

constexpr unsigned kEngineFault = 16;
constexpr unsigned kStoreFault = 16;
constexpr unsigned kDiskFault = 18;
constexpr unsigned kConnectFault = 22;
constexpr unsigned kConnectionFault = 28;

base::sim::SimNetworkOptions link(base::Random& random) {
  base::sim::SimNetworkOptions link;
  link.max_latency = std::chrono::milliseconds(random.below(20));
  link.fragment = static_cast<unsigned>(random.below(300));
  link.fault_window = std::uint64_t{1} << (9 + random.below(6));
  return link;
}

void break_link(base::sim::SimNetworkOptions& link, bool stalls) {
  link.refuse = kConnectFault;
  link.blackhole = kConnectFault;
  link.cut = 2 * kConnectionFault;
  if (stalls) link.stall = kConnectionFault;
}

}  // namespace

Profile profile_of(std::uint64_t seed) {
  base::SeededRandom random(seed * 977 + 5);
  Profile profile;
  profile.agent_link = link(random);
  profile.engine_link = link(random);
  profile.streaming = static_cast<sim::Streaming>(random.below(3));
  profile.ids_per_event = 1 + random.below(6);
  profile.agents = 3 + static_cast<unsigned>(random.below(6));
  profile.records = random.chance(900);
  profile.calm = seed % 8 == 0;
  if (profile.calm) return profile;
  profile.closes_early = random.chance(250);
  profile.store_fails = kStoreFault;
  profile.files.fail_append = kDiskFault;
  profile.files.fail_open = kDiskFault;
  for (std::size_t i = 0; i < sim::kFaults; ++i)
    profile.engine.set(static_cast<sim::Fault>(i), kEngineFault);
  // Byte by byte: only where events are few.
  const unsigned by_bytes = profile.ids_per_event < 3 ? 0 : 3 * kEngineFault / 2;
  profile.engine.set(sim::Fault::kSplitBytes, by_bytes).set(sim::Fault::kSlowBody, by_bytes);
  // On every third seed each client that leaves must be noticed at the engine.
  const bool strict = seed % 3 == 0;
  break_link(profile.agent_link, !strict);
  if (!strict) break_link(profile.engine_link, true);
  return profile;
}

}  // namespace verbatim::simulate
