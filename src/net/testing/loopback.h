#pragma once

#include <memory>

#include "base/runtime.h"
#include "net/asio_loop.h"
#include "net/asio_network.h"

namespace verbatim::net::testing {

// The real seams on one loop, for tests on loopback. run() runs a task to its end on the calling
// thread.
class Loopback {
 public:
  Loopback();

  void run(base::Task<void> task);

 private:
  std::unique_ptr<base::Random> random_ = base::system_random();
  std::unique_ptr<base::Files> files_ = base::system_files();
  std::unique_ptr<base::Worker> worker_ = base::thread_worker("test");

 public:
  AsioLoop loop;
  std::unique_ptr<base::Network> network;
  base::Runtime runtime;
};

}  // namespace verbatim::net::testing
