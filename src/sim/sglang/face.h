#pragma once

#include <memory>

#include "sim/face.h"

namespace verbatim::sim::sglang {

// SGLang 0.5.16: /generate, /abort_request, and what a client asks of the engine itself.
std::unique_ptr<Face> make_face(SimEngine::Impl& engine);

}  // namespace verbatim::sim::sglang
