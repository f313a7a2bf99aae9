#pragma once

#include "base/random.h"
#include "sim/script.h"

namespace verbatim::simulate {

// What the simulated model does for one request: text, reasoning, calls, good and broken ones, at a
// random pace.
sim::Reply some_reply(base::Random& random);

}  // namespace verbatim::simulate
