#include "net/asio_threads.h"

#include <algorithm>
#include <string>
#include <thread>

namespace verbatim::net {

LoopThreads::LoopThreads(unsigned count) {
  for (unsigned i = 0; i < std::max(1U, count); ++i) loops_.push_back(std::make_unique<AsioLoop>());
}

void LoopThreads::run() {
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < loops_.size(); ++i)
    threads.emplace_back([this, i] { loops_[i]->run(); });
  loops_[0]->run();
  for (auto& thread : threads) thread.join();
}

unsigned usable_cores() {
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace verbatim::net
