#pragma once

#include <memory>

#include "sim/face.h"

namespace verbatim::sim::openai {

// A server of the public protocols, of no engine in particular.
std::unique_ptr<Face> make_face(SimEngine::Impl& engine);

}  // namespace verbatim::sim::openai
