#pragma once

#include <optional>
#include <string>

#include "engine/engine.h"

namespace verbatim::engine::pool {

// What replicas say of themselves, compared. They agree when some model is listed by both and its
// context lengths are equal; what one does not say (no models, length 0) contradicts nothing.

// How `found` differs from `expected`, such as "found model \"b\", expected \"a\""; nullopt where
// they agree.
std::optional<std::string> difference(const Probe& found, const Probe& expected);

// The same for kind and mode, which an engine may know only once it was reached.
std::optional<std::string> difference(const Engine& found, const Engine& expected);

// What holds for both: what only one says is taken from it, the smaller limit counts, a weight
// version stays only where both have it.
Probe merged(Probe a, const Probe& b);

}  // namespace verbatim::engine::pool
