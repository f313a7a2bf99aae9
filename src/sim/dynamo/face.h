#pragma once

#include <memory>

#include "sim/face.h"

namespace verbatim::sim::dynamo {

// The Dynamo frontend with one worker without parsers, in the release that the options name.
std::unique_ptr<Face> make_face(SimEngine::Impl& engine);

}  // namespace verbatim::sim::dynamo
