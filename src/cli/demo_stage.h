#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/instance.h"
#include "net/asio_network.h"
#include "sim/sim_engine.h"
#include "store/memory_store.h"

namespace verbatim::cli {

// Simulated engine and gateway on one loop of this process, on free ports of the loopback.
// Life: created, start()ed, stop()ped to the end, destroyed; on the loop's thread.
class DemoStage {
 public:
  // `script` is for the simulator (sim/script.h).
  DemoStage(net::AsioLoop& loop, base::Files& files, std::shared_ptr<gateway::Model> model,
            const std::string& record_dir, std::string_view script);

  // Listens, and waits until the engine answers the gateway.
  base::Task<base::Status> start();
  base::Task<void> stop();

  [[nodiscard]] base::Runtime& runtime() { return runtime_; }
  [[nodiscard]] base::Endpoint gateway() const { return {"127.0.0.1", port_, false}; }
  // The ids and logprobs of each turn, as the engine sampled them.
  [[nodiscard]] const std::vector<sim::Completion>& sampled() const { return sampled_; }

 private:
  [[nodiscard]] sim::SimOptions sim_options(std::string_view script);
  std::unique_ptr<engine::Engine> make_engine(std::uint16_t port);

  std::shared_ptr<gateway::Model> model_;
  std::unique_ptr<base::Network> network_;
  std::unique_ptr<base::Random> random_ = base::system_random();
  std::unique_ptr<base::Worker> worker_ = base::thread_worker("files");
  base::Runtime runtime_;
  store::MemoryStore store_;
  gateway::Recorder recorder_;
  std::vector<sim::Completion> sampled_;
  sim::SimEngine sim_;
  std::unique_ptr<api::Instance> instance_;
  std::uint16_t port_ = 0;
};

}  // namespace verbatim::cli
