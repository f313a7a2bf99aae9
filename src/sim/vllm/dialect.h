#pragma once

#include "sim/openai/wire.h"

namespace verbatim::sim::vllm {

// How vLLM speaks the public protocols where it is not driven by ids. As recorded:
// tests/captures/vllm/conversations.json.
const openai::Dialect& dialect();

}  // namespace verbatim::sim::vllm
