#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "base/sim/sim_executor.h"
#include "base/stream.h"

namespace verbatim::base::sim {

// How the simulated network behaves. Chances in thousandths.
struct SimNetworkOptions {
  Duration min_latency{0};  // of one chunk, one way; whole milliseconds count, as timers do
  Duration max_latency{0};
  std::size_t buffer = 64 * 1024;  // bytes on the way and unread, one way; a writer waits beyond it
  unsigned fragment = 0;           // of chunks and reads: cut in random pieces
  unsigned refuse = 0;             // of connects: refused though somebody listens
  unsigned blackhole = 0;          // of connects: nothing comes back until the deadline
  unsigned cut = 0;  // of connections: broken off at a random byte, half of them by an orderly end
  unsigned stall = 0;  // of connections: from a random byte on nothing arrives any more
  std::uint64_t fault_window = 4096;  // the random byte is below this
};

// How often each fault fired.
struct SimNetworkFaults {
  std::uint64_t connects = 0, fragments = 0, refused = 0, blackholed = 0, cut_by_end = 0,
                cut_by_reset = 0, stalled = 0;
};

class SimListener;

// A network in memory, for any number of hosts on one simulated executor, which must outlive it.
// Any host name reaches the listener of that port. Bytes keep their order; latency, fragmentation
// and faults are drawn from the seed. A closed stream behaves as TCP does: the peer reads the end,
// or a reset when unread bytes were thrown away (then bytes still on the way to the peer are lost
// too); writing to a closed peer works once and then fails.
class SimNetwork final : public Network {
 public:
  SimNetwork(SimExecutor& executor, std::uint64_t seed, SimNetworkOptions options = {});
  ~SimNetwork() override;

  Result<std::unique_ptr<Listener>> listen(const std::string& host, std::uint16_t port,
                                           PortUse use) override;
  Task<Result<std::unique_ptr<ByteStream>>> connect(const Endpoint& to, MonoTime deadline) override;

  // May be changed while the simulation runs; holds for what begins afterwards.
  SimNetworkOptions& options() { return options_; }
  [[nodiscard]] const SimNetworkFaults& faults() const { return faults_; }

 private:
  friend class SimListener;
  friend class SimPipe;
  Duration draw_latency();
  std::unique_ptr<ByteStream> join(SimListener& listener);

  SimExecutor& executor_;
  SeededRandom random_;
  SimNetworkOptions options_;
  SimNetworkFaults faults_;
  std::multimap<std::uint16_t, SimListener*> listeners_;
  std::uint16_t next_port_ = 20000;
  std::uint16_t next_client_ = 50000;
};

}  // namespace verbatim::base::sim
