#pragma once

#include <string>

#include "json/value.h"

namespace verbatim::sim {

// A rendering of chat messages that stands in for a model's template where a face takes messages:
// ChatML, text parts joined by "\n", tools as JSON lines in front. No engine renders like this.
// `opens`: the assistant's turn is opened at the end.
std::string chatml(const json::Value& messages, const json::Value* tools, bool opens);

}  // namespace verbatim::sim
