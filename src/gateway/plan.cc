#include "gateway/plan.h"

#include <algorithm>

#include "json/dumps.h"
#include "trajectory/equality.h"

namespace verbatim::gateway {

using base::ErrorKind;
using base::invalid;
using base::Result;
using base::Status;
using base::Task;
using trajectory::Attach;

namespace {

// What an engine makes at most where neither the client nor the context says.
constexpr std::uint64_t kDefaultNewTokens = 32768;

std::string_view policy_name(tokenizer::EncodingPolicy policy) {
  return policy == tokenizer::EncodingPolicy::kHfExact ? "hf_exact" : "injection_safe";
}

// Template arguments that make another history: all but those that only change the generation
// prompt. Sorted by name.
std::string head_arguments(const json::Value& arguments, const chat::Family& family) {
  std::vector<std::string> parts;
  for (const auto member : arguments) {
    const std::string name = member.name();
    if (family.opener_only(name)) continue;
    std::string part;
    json::append_dumped_string(part, name, false);
    part += ':';
    json::append_dumps(part, member.value);
    parts.push_back(std::move(part));
  }
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const auto& part : parts) text += part + ',';
  return text;
}

bool any_query(const chat::Renderer& renderer, std::span<const message::Message> messages) {
  return std::any_of(messages.begin(), messages.end(),
                     [&](const auto& message) { return renderer.is_query(message); });
}

}  // namespace

Planner::Planner(const Model& model, store::Store& store, std::string_view key)
    : model_(model), store_(store), digests_(key) {}

Status Planner::check(const TurnRequest& request) const {
  if (request.messages.back().role == message::Role::kAssistant) {
    return invalid("messages",
                   "the last message is the assistant's, there is nothing to answer: append a user "
                   "or tool message, or leave the "
                   "assistant message out to sample it again");
  }
  return {};
}

Task<Result<Plan>> Planner::plan(TurnRequest& request) {
  if (auto status = check(request); !status.ok()) co_return std::move(status).error();
  if (auto status = chat::normalise(request.messages, model_.renderer->family()); !status.ok())
    co_return std::move(status).error();

  Plan plan;
  auto root = std::make_shared<trajectory::RootInfo>();
  root->model = model_.name;
  root->tokenizer = model_.renderer->tokenizer().fingerprint();
  root->chat_template = model_.renderer->template_fingerprint();
  root->encoding_policy = policy_name(model_.renderer->policy());
  root->family = model_.renderer->family().name;
  root->tools = request.tools;

  std::optional<json::Document> arguments;
  if (!request.template_kwargs.empty()) {
    auto parsed = json::Document::parse(request.template_kwargs);
    if (!parsed) co_return std::move(parsed).error().within("chat_template_kwargs");
    arguments = std::move(*parsed);
  }
  const std::string head =
      arguments ? head_arguments(arguments->root(), model_.renderer->family()) : "";
  plan.root_digest = root_digest(request, *root, head);
  if (auto status = co_await attach(request, head, plan); !status.ok())
    co_return std::move(status).error();
  plan.root = plan.parent ? plan.parent->root : std::move(root);
  if (auto status = render(request, arguments, plan); !status.ok())
    co_return std::move(status).error();
  assemble(plan);
  if (auto status = budget(request, plan); !status.ok()) co_return std::move(status).error();
  plan.session_use =
      request.session_id.empty() ? store::SessionUse::kImplicit : store::SessionUse::kExisting;
  plan.session_id = plan.parent ? plan.parent->session_id : request.session_id;
  co_return plan;
}

// At most two queries: for the turn committed last, which most requests go on behind, and for any
// other by the digests of the history.
Task<Status> Planner::attach(const TurnRequest& request, const std::string& head, Plan& plan) {
  const std::span<const message::Message> messages = request.messages;
  const auto is_answer = [](const auto& message) {
    return message.role == message::Role::kAssistant;
  };
  if (std::none_of(messages.begin(), messages.end(), is_answer)) {
    plan.history = trajectory::chain(digests_, plan.root_digest, messages).back();
    co_return Status();
  }
  auto latest = co_await store_.newest(plan.root_digest);
  if (!latest) co_return std::move(latest).error();
  if (latest->size() == 1 && trajectory::continues(latest->front(), messages)) {
    plan.parent = latest->front();
    plan.suffix = plan.parent->message_count;
    plan.history = plan.parent->digest;
    for (const auto& message : messages.subspan(plan.suffix)) {
      plan.history = trajectory::extend(digests_, plan.history, message);
    }
    co_return Status();
  }
  const auto chain = trajectory::chain(digests_, plan.root_digest, messages);
  plan.history = chain.back();
  auto found = co_await store_.find(trajectory::attach_digests(messages, chain));
  if (!found) co_return std::move(found).error();
  auto placed = trajectory::place(messages, chain, *found);
  plan.parent = std::move(placed.parent);
  plan.suffix = placed.suffix;
  plan.attach.ambiguous = placed.ambiguous;
  if (plan.parent) co_return Status();
  auto reason = co_await reason_for_root(request, head);
  if (!reason) co_return std::move(reason).error();
  plan.attach.reason = std::move(*reason);
  co_return Status();
}

// Within a session it can be told whether the tools alone keep the request from the turn committed
// last, or one above it.
Task<Result<std::string>> Planner::reason_for_root(const TurnRequest& request,
                                                   const std::string& head) {
  if (request.session_id.empty()) co_return std::string("history");
  auto turns = co_await store_.turns(request.session_id);
  if (!turns) co_return std::move(turns).error();
  if (turns->empty() || turns->back()->root->tools == request.tools)
    co_return std::string("history");
  const auto chain = trajectory::chain(digests_, root_digest(request, *turns->back()->root, head),
                                       request.messages);
  const auto other = trajectory::place(request.messages, chain, *turns);
  co_return std::string(other.parent ? "tools" : "history");
}

trajectory::Digest Planner::root_digest(const TurnRequest& request,
                                        const trajectory::RootInfo& root, const std::string& head) {
  const std::string scope =
      request.session_id.empty() ? "chat:" + request.owner : "session:" + request.session_id;
  return trajectory::root_digest(digests_, {scope, &root, head});
}

trajectory::Digest Planner::digest_of_answer(const trajectory::Digest& history,
                                             const message::Message& answer) {
  return trajectory::extend(digests_, history, answer);
}

Status Planner::render(const TurnRequest& request, const std::optional<json::Document>& arguments,
                       Plan& plan) const {
  chat::TemplateInputs inputs;
  inputs.tools = request.tools;
  if (arguments) inputs.arguments = arguments->root();
  if (plan.parent) {
    auto status = render_child(request, inputs, plan);
    if (status.ok() || status.error().kind != ErrorKind::kUnsupported) return status;
    // These roles can't be appended: a fresh render of everything is exact, but a new root.
    plan.parent = nullptr;
    plan.suffix = 0;
    plan.trim = 0;
    plan.attach = {Attach::Kind::kRoot, "suffix", false};
  } else {
    plan.attach.kind = Attach::Kind::kRoot;
    if (plan.attach.reason.empty()) plan.attach.reason = "first";
  }
  auto rendered = model_.renderer->full(request.messages, inputs);
  if (!rendered) return std::move(rendered).error();
  plan.rendered = std::move(*rendered);
  return {};
}

Status Planner::render_child(const TurnRequest& request, const chat::TemplateInputs& inputs,
                             Plan& plan) const {
  const auto& parent = *plan.parent;
  const auto all = std::span<const message::Message>(request.messages);
  const auto suffix = all.subspan(plan.suffix);
  chat::TurnEnd end;
  if (!parent.completion.empty()) end.last_id = parent.completion.back();
  end.reasoning_open = parent.reasoning_open;
  end.calls = parent.answer.tool_calls;
  end.history_has_query = any_query(*model_.renderer, all.first(plan.suffix));
  auto delta = model_.renderer->delta(end, suffix, plan.suffix, inputs);
  if (!delta) return std::move(delta).error();
  plan.trim = delta->trim;
  plan.rendered = std::move(delta->rendered);
  plan.attach.kind = Attach::Kind::kChild;
  plan.attach.reason = "history";
  return {};
}

// The prompt as views of what the parent shares: the history is not copied.
void Planner::assemble(Plan& plan) {
  if (plan.parent) {
    const auto& completion = plan.parent->completion;
    plan.prompt = plan.parent->path_prompt.pieces();
    plan.prompt.push_back(std::span(completion).first(completion.size() - plan.trim));
  }
  plan.prompt.emplace_back(plan.rendered.ids);
  for (const auto& piece : plan.prompt) plan.prompt_size += piece.size();
}

Status Planner::budget(const TurnRequest& request, Plan& plan) const {
  const auto asked = request.sampling.max_tokens;
  const std::uint64_t context = model_.max_model_len.load(std::memory_order_relaxed);
  if (context == 0) {
    plan.max_new_tokens = asked.value_or(kDefaultNewTokens);
    return {};
  }
  if (plan.prompt_size >= context) {
    auto failure =
        invalid("messages", "the prompt has " + std::to_string(plan.prompt_size) +
                                " tokens, which leaves no room in the model's context of " +
                                std::to_string(context) + " tokens: shorten the conversation");
    failure.code = "context_length_exceeded";
    return failure;
  }
  const std::uint64_t room = context - plan.prompt_size;
  plan.max_new_tokens = std::min(asked.value_or(room), room);
  return {};
}

}  // namespace verbatim::gateway
