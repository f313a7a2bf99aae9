#include "gateway/plan.h"

namespace verbatim::gateway {

using base::Result;
using base::Task;
using trajectory::Attach;

// The message path: where the request attaches, and nothing else. A root is known by the model's
// name and the tools alone, since no prompt is made here.
Task<Result<Plan>> Planner::plan_messages(const TurnRequest& request) {
  Plan plan;
  auto root = std::make_shared<trajectory::RootInfo>();
  root->model = model_of(request);
  root->tools = request.tools;
  plan.scope = scope_of(request);
  plan.root_digest = trajectory::root_digest(digests_, {plan.scope, root.get(), ""});
  if (auto status = co_await attach(request, plan); !status.ok())
    co_return std::move(status).error();
  plan.root = plan.parent ? plan.parent->root : std::move(root);
  plan.attach.kind = plan.parent ? Attach::Kind::kChild : Attach::Kind::kRoot;
  if (plan.attach.reason.empty()) plan.attach.reason = plan.parent ? "history" : "first";
  plan.max_new_tokens = request.sampling.max_tokens.value_or(0);
  settle_place(request, plan);
  co_return plan;
}

}  // namespace verbatim::gateway
