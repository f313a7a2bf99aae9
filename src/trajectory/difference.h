#pragma once

#include <optional>
#include <span>

#include "message/message.h"
#include "trajectory/spelling.h"
#include "trajectory/turn.h"

namespace verbatim::trajectory {

// The first place where a request is not what is recorded up to and with the answer of `leaf`, by
// the equality of docs/design.md 5 and the agent's spelling: why it does not go on behind it.
// Nothing where it does as far as messages tell (tools or template arguments may differ). Fields
// are named as in a chat request; "missing": the request ends there. Pure; costs a comparison of
// the whole history.
std::optional<Difference> first_difference(const TurnPtr& leaf,
                                           std::span<const message::Message> sent,
                                           const Spelling* spelling = nullptr);

}  // namespace verbatim::trajectory
