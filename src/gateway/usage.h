#pragma once

#include <span>

#include "message/usage.h"
#include "trajectory/turn.h"

namespace verbatim::gateway {

// Counts of ids; of a turn by messages, what the engine counted.
message::Usage usage_of(const trajectory::Turn& turn);
// Of the siblings of one answer: their prompt counts once.
message::Usage usage_of(std::span<const trajectory::TurnPtr> turns);

}  // namespace verbatim::gateway
