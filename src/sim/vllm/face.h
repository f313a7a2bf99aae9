#pragma once

#include <memory>

#include "sim/face.h"

namespace verbatim::sim::vllm {

// vLLM's Python front end, in the release that the options name: token routes, completions, render
// and derender, and what a client asks of the server itself.
std::unique_ptr<Face> make_face(SimEngine::Impl& engine);

}  // namespace verbatim::sim::vllm
