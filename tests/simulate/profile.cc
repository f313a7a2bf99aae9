#include "simulate/profile.h"

#include "base/random.h"

namespace verbatim::simulate {
namespace {

// So that each kind of fault fires more than a thousand times in the turns of a default run.
constexpr unsigned kEngineFault = 14;
constexpr unsigned kStoreFault = 24;
constexpr unsigned kDiskFault = 36;
constexpr unsigned kStoreDiskFault = 3;
constexpr unsigned kAgentLinkFault = 70;
constexpr unsigned kEngineLinkFault = 60;

base::sim::SimNetworkOptions link(base::Random& random) {
  base::sim::SimNetworkOptions link;
  link.max_latency = std::chrono::milliseconds(random.below(20));
  link.fragment = static_cast<unsigned>(random.below(300));
  link.fault_window = std::uint64_t{1} << (9 + random.below(6));
  return link;
}

void break_link(base::sim::SimNetworkOptions& link, unsigned chance, bool stalls) {
  link.refuse = chance;
  link.blackhole = chance;
  link.cut = 3 * chance / 2;  // one way or the other
  if (stalls) link.stall = chance;
}

// Every other world loses power.
void lose_power(Profile& profile, std::uint64_t seed) {
  profile.disk = {.fail_write = kStoreDiskFault, .fail_sync = 2 * kStoreDiskFault};
  profile.crashes = seed % 2 == 1;
  if (profile.crashes) profile.closes_early = false;
}

// Those that only some engines have, or only answers of some form, come the more often there.
unsigned weight(sim::Fault fault) {
  switch (fault) {
    case sim::Fault::kNoEngineData:
      return 10;
    case sim::Fault::kHttp529:
      return 4;
    case sim::Fault::kEmptyAnswer:
      return 4;
    case sim::Fault::kStandInLogprob:
      return 3;
    case sim::Fault::kNoDone:
    case sim::Fault::kBareErrorEvent:
    case sim::Fault::kExtraEvent:
    case sim::Fault::kComments:
    case sim::Fault::kWrongIndex:
      return 2;
    default:
      return 1;
  }
}

// Drawn apart: which kind it is changes nothing else of a seed's world. A quarter by messages,
// which are more kinds with fewer ways to go wrong.
Driven drawn(std::uint64_t seed) {
  base::SeededRandom random(seed * 7919 + 11);
  const auto path = random.chance(250) ? engine::Path::kMessages : engine::Path::kTokens;
  const auto all = engine::testing::all_driven(path);
  return all[random.below(all.size())];
}

}  // namespace

std::optional<Driven> driven_named(const std::string& text) {
  const auto slash = text.find('/');
  const engine::Kind* kind = engine::find_kind(text.substr(0, slash));
  if (kind == nullptr) return std::nullopt;
  const engine::Mode* mode =
      engine::find_mode(*kind, slash == std::string::npos ? "" : text.substr(slash + 1));
  if (mode == nullptr || mode->path == engine::Path::kRelay) return std::nullopt;
  return Driven{kind, mode};
}

std::string driven_names() {
  std::string names;
  for (const Driven& driven : engine::testing::all_driven())
    names += (names.empty() ? "" : ", ") + driven.name();
  return names;
}

Profile profile_of(std::uint64_t seed, const Settings& settings) {
  base::SeededRandom random(seed * 977 + 5);
  Profile profile;
  profile.driven = settings.kind.empty() ? drawn(seed) : driven_named(settings.kind).value();
  profile.agent_link = link(random);
  profile.engine_link = link(random);
  profile.streaming = static_cast<sim::Streaming>(random.below(3));
  profile.ids_per_event = 1 + random.below(6);
  profile.agents = 3 + static_cast<unsigned>(random.below(6));
  profile.records = random.chance(900);
  profile.calm = seed % 8 == 0;
  // One way or the other on a quarter of the seeds.
  if (seed % 16 == 8 || seed % 16 == 5 || seed % 8 == 2) profile.replicas = 2;
  if (profile.calm) return profile;
  profile.replicas_die = profile.replicas > 1;
  if (seed % 8 == 4) profile.implicit_bytes = std::size_t{40} << 10;
  profile.closes_early = random.chance(250);
  profile.store_fails = kStoreFault;
  if (settings.on_disk) lose_power(profile, seed);
  profile.restarts = !profile.closes_early && !profile.crashes && seed % 5 < 2;
  profile.files.fail_append = kDiskFault;
  profile.files.fail_open = kDiskFault;
  for (std::size_t i = 0; i < sim::kFaults; ++i) {
    const auto fault = static_cast<sim::Fault>(i);
    const bool applies = sim::applies(fault, profile.driven.face());
    profile.engine.set(fault, applies ? weight(fault) * kEngineFault : 0);
  }
  // These need an answer that ends with a stop id.
  for (const auto fault : {sim::Fault::kIdsPastStop, sim::Fault::kTrimmedStop})
    profile.engine.set(fault, 3 * kEngineFault / 2);
  // Byte by byte: only where events are few.
  const unsigned by_bytes = profile.ids_per_event < 3 ? 0 : 3 * kEngineFault / 2;
  profile.engine.set(sim::Fault::kSplitBytes, by_bytes).set(sim::Fault::kSlowBody, by_bytes);
  // On every third seed each client that leaves must be noticed at the engine.
  const bool strict = seed % 3 == 0;
  break_link(profile.agent_link, kAgentLinkFault, !strict);
  if (!strict) break_link(profile.engine_link, kEngineLinkFault, true);
  return profile;
}

}  // namespace verbatim::simulate
