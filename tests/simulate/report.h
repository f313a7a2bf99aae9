#pragma once

#include "simulate/settings.h"
#include "simulate/shared_model.h"

namespace verbatim::simulate {

// Runs the worlds of all seeds and prints what was seen. The exit code: 0, or 1 with the first
// finding.
int run_seeds(const SharedModel& model, const Settings& settings);

}  // namespace verbatim::simulate
