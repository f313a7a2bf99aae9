#include "gateway/plan.h"

namespace verbatim::gateway {

using base::Result;
using base::Task;
using trajectory::Attach;

// The message path: where the request attaches, and nothing else. A root is known by the model's
// name and the tools alone, since no prompt is made here.
Task<Result<Plan>> Planner::plan_messages(const TurnRequest& request) {
  Plan plan;
  trajectory::RootInfo root;
  root.model = model_of(request);
  begin(request, std::move(root), plan);
  if (auto status = co_await attach(request, plan); !status.ok())
    co_return std::move(status).error();
  if (plan.parent) plan.root = plan.parent->root;
  plan.attach.kind = plan.parent ? Attach::Kind::kChild : Attach::Kind::kRoot;
  if (plan.attach.reason.empty()) plan.attach.reason = plan.parent ? "history" : "first";
  plan.max_new_tokens = request.sampling.max_tokens.value_or(0);
  settle_place(request, plan);
  co_return plan;
}

}  // namespace verbatim::gateway
