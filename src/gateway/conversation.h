#pragma once

#include <cstdint>
#include <optional>

#include "gateway/plan.h"
#include "protocol/conversation.h"

namespace verbatim::gateway {

// The seed of one of several choices, where the client gives one: equal ones would make equal
// choices. Wraps round at the end.
std::optional<std::int64_t> seed_of(const message::Sampling& sampling, std::uint32_t choice);

// The conversation that goes up for a planned request by messages. Its history is the recorded one,
// so that the engine gets back what the client left out (reasoning, its own items); behind it comes
// what is new, its tool results under the ids that the recorded calls have. Choices have seeds of
// their own, where the client gives one.
protocol::Conversation conversation_of(const TurnRequest& request, const Plan& plan,
                                       std::uint32_t choice = 0);

}  // namespace verbatim::gateway
