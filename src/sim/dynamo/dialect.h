#pragma once

#include "sim/openai/wire.h"

namespace verbatim::sim::dynamo {

// How the frontend speaks the public protocols where it is not driven by ids. As recorded:
// tests/captures/dynamo/conversations.json.
const openai::Dialect& dialect();

}  // namespace verbatim::sim::dynamo
