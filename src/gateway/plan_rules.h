#pragma once

#include <span>
#include <vector>

#include "gateway/plan.h"

namespace verbatim::gateway {

// What a session's options forbid or change of a plan. Pure.

// A linear session goes back one turn at most, and not to put another answer in place of the one
// that was sampled; a strict one goes back none. `line` leads to its last turn, `plan` says behind
// which of them the request goes on. Errors: kInvalidRequest of a linear,
// kConflict of a strict session, with the number of turns and the first difference.
base::Status check_rollback(const TurnRequest& request, std::span<const trajectory::TurnPtr> line,
                            const Plan& plan);

// The whole conversation as it is recorded, with what the request adds behind `plan.parent`.
std::vector<message::Message> recorded_history(const TurnRequest& request, const Plan& plan);

// Would the template still show all reasoning that stands in the row of `plan.parent`? Renders the
// whole conversation.
base::Result<bool> keeps_reasoning(const chat::Renderer& renderer, const TurnRequest& request,
                                   const chat::TemplateInputs& inputs, const Plan& plan);

}  // namespace verbatim::gateway
