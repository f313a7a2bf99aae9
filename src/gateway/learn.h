#pragma once

#include "engine/engine.h"
#include "gateway/model.h"

namespace verbatim::gateway {

// Asks the engine what only it knows (the context length) and keeps it in the model. Fails when it
// does not answer. A context length that an operator gave is left as it is.
base::Task<base::Result<engine::Probe>> learn(const Model& model, engine::Engine& engine,
                                              base::MonoTime deadline);

// Keeps what an engine has said already.
void keep(const Model& model, const engine::Probe& probe);

}  // namespace verbatim::gateway
