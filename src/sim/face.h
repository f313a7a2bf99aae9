#pragma once

#include <memory>

#include "sim/sim_impl.h"

namespace verbatim::sim {

// One engine's wire: its routes, how its requests are read, how its answers are printed and what
// aborts them. What is said, and what goes wrong with it, is decided behind it (plan, generation).
// Life: one per engine, on its executor; `engine` outlives it.
class Face {
 public:
  explicit Face(SimEngine::Impl& engine) : engine_(engine) {}
  Face(const Face&) = delete;
  virtual ~Face() = default;

  // Answers one request. The arguments live until the task ends.
  virtual base::Task<void> handle(const net::Request& request, net::Responder& answer,
                                  base::CancelSignal& gone) = 0;

 protected:
  SimEngine::Impl& engine_;
};

}  // namespace verbatim::sim
