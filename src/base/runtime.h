#pragma once

#include "base/executor.h"
#include "base/files.h"
#include "base/random.h"
#include "base/stream.h"
#include "base/worker.h"

namespace verbatim::base {

// The seams as one bundle, passed down by reference: everything that touches time, chance, network,
// disk or threads is in here. One per executor; `files` and `worker` may be shared
// between executors.
struct Runtime {
  Executor& executor;
  Network& network;
  Random& random;
  Files& files;
  Worker& worker;
  [[nodiscard]] Clock& clock() const { return executor.clock(); }
};

}  // namespace verbatim::base
