#include "gateway/plan.h"

#include <algorithm>

#include "gateway/plan_rules.h"
#include "json/dumps.h"
#include "trajectory/difference.h"
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
    : model_(model), store_(store), digests_(key), handles_(key) {}

Status Planner::check(const TurnRequest& request) {
  if (request.messages.back().role == message::Role::kAssistant) {
    return invalid("messages",
                   "the last message is the assistant's, there is nothing to answer: append a user "
                   "or tool message, or leave the "
                   "assistant message out to sample it again");
  }
  return {};
}

std::string Planner::scope_of(const TurnRequest& request) {
  return request.session_id.empty() ? "chat:" + request.owner : "session:" + request.session_id;
}

Task<Result<Plan>> Planner::plan(TurnRequest& request) {
  if (auto status = check(request); !status.ok()) co_return std::move(status).error();
  if (model_.by_messages()) {
    auto by_messages = co_await plan_messages(request);
    request.watch.lap(Stage::kPlan);
    co_return std::move(by_messages);
  }
  if (auto status = chat::normalise(request.messages, model_.renderer->family()); !status.ok())
    co_return std::move(status).error();

  Plan plan;
  std::optional<json::Document> arguments;
  if (!request.template_kwargs.empty()) {
    auto parsed = json::Document::parse(request.template_kwargs);
    if (!parsed) co_return std::move(parsed).error().within("chat_template_kwargs");
    arguments = std::move(*parsed);
  }
  if (arguments) plan.head_arguments = head_arguments(arguments->root(), model_.renderer->family());
  trajectory::RootInfo root;
  root.model = model_.name;
  root.tokenizer = model_.renderer->tokenizer().fingerprint();
  root.chat_template = model_.renderer->template_fingerprint();
  root.encoding_policy = policy_name(model_.renderer->policy());
  root.family = model_.renderer->family().name;
  begin(request, std::move(root), plan);
  if (auto status = co_await attach(request, plan); !status.ok())
    co_return std::move(status).error();
  auto ids = co_await native_ids(request, plan);
  request.watch.lap(Stage::kPlan);
  if (!ids) co_return std::move(ids).error();
  if (auto status = render(request, arguments, *ids, plan); !status.ok())
    co_return std::move(status).error();
  if (plan.parent) plan.root = plan.parent->root;
  assemble(plan);
  if (auto status = budget(request, plan); !status.ok()) co_return std::move(status).error();
  settle_place(request, plan);
  request.watch.lap(Stage::kRender);
  co_return plan;
}

void Planner::begin(const TurnRequest& request, trajectory::RootInfo root, Plan& plan) {
  root.tools = request.tools;
  plan.root = std::make_shared<const trajectory::RootInfo>(std::move(root));
  plan.spelling = request.spelling;
  plan.scope = scope_of(request);
  plan.root_digest = trajectory::root_digest(
      digests_, {plan.scope, plan.root.get(), plan.head_arguments, plan.spelling});
}

void Planner::settle_place(const TurnRequest& request, Plan& plan) {
  plan.session_use =
      request.session_id.empty() ? store::SessionUse::kImplicit : request.session_use;
  plan.session_id = plan.parent ? plan.parent->session_id : request.session_id;
}

Task<Status> Planner::attach(const TurnRequest& request, Plan& plan) {
  const bool tree = request.rules.mode == SessionMode::kTree;
  if (tree && request.parent) return attach_to_named(request, plan);
  return tree ? attach_in_tree(request, plan) : attach_to_tip(request, plan);
}

// Most requests go on behind the turn committed last, to the letter: no digest of the history is
// needed then.
bool Planner::go_on_behind(const trajectory::TurnPtr& turn, const TurnRequest& request,
                           Plan& plan) {
  const std::span<const message::Message> messages = request.messages;
  if (!trajectory::continues(turn, messages)) return false;
  plan.parent = turn;
  plan.suffix = turn->message_count;
  plan.history = turn->digest;
  for (const auto& message : messages.subspan(plan.suffix))
    plan.history = trajectory::extend(digests_, plan.history, message, plan.spelling);
  return true;
}

// A request that names its turn goes on there and nowhere else; with another head it starts anew.
Task<Status> Planner::attach_to_named(const TurnRequest& request, Plan& plan) {
  if (request.parent->root_digest != plan.root_digest ||
      !go_on_behind(request.parent, request, plan)) {
    plan.history = chain_of(request, plan.root_digest).back();
    co_return co_await explain_root(request, request.parent, plan);
  }
  plan.attach.reason = "named";
  co_return Status();
}

// At most two queries: for the turn committed last, and for any other by the digests of the
// history. One more where too many are alike, or to say why there is none.
Task<Status> Planner::attach_in_tree(const TurnRequest& request, Plan& plan) {
  const std::span<const message::Message> messages = request.messages;
  const auto is_answer = [](const auto& message) {
    return message.role == message::Role::kAssistant;
  };
  if (std::none_of(messages.begin(), messages.end(), is_answer)) {
    plan.history = chain_of(request, plan.root_digest).back();
    co_return Status();
  }
  auto latest = co_await store_.newest(plan.root_digest);
  if (!latest) co_return std::move(latest).error();
  if (latest->size() == 1 && go_on_behind(latest->front(), request, plan)) co_return Status();
  const auto chain = chain_of(request, plan.root_digest);
  plan.history = chain.back();
  auto found = co_await store_.find(trajectory::attach_digests(messages, chain));
  if (!found) co_return std::move(found).error();
  if (auto status = co_await add_named(request, plan, chain, *found); !status.ok())
    co_return status;
  auto placed =
      trajectory::place(messages, chain, *found, request.rules.equality, request.spelling);
  plan.parent = std::move(placed.parent);
  plan.suffix = placed.suffix;
  plan.attach.ambiguous = placed.ambiguous;
  if (placed.spelled) plan.attach.reason = "profile";
  const trajectory::TurnPtr last = latest->empty() ? nullptr : latest->front();
  if (!plan.parent) co_return co_await explain_root(request, last, plan);
  if (!request.session_id.empty() && last && last->id != plan.parent->id)
    plan.attach.difference = trajectory::first_difference(last, messages, request.spelling);
  co_return Status();
}

// Where more turns are alike than a look-up brings, the one whose calls the client gives back may
// not be among them: their ids name it.
Task<Status> Planner::add_named(const TurnRequest& request, const Plan& plan,
                                std::span<const trajectory::Digest> chain,
                                std::vector<trajectory::TurnPtr>& found) {
  const auto cut = trajectory::cut_digests(found);
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; !cut.empty() && i < chain.size(); ++i) {
    if (std::find(cut.begin(), cut.end(), chain[i]) == cut.end()) continue;
    for (const auto& call : request.messages[i].tool_calls) {
      if (const auto handle = handles_.read(call.id, plan.scope)) numbers.push_back(handle->turn);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::erase_if(numbers, [&](const auto number) {
    return std::any_of(found.begin(), found.end(),
                       [&](const auto& turn) { return turn->id == number; });
  });
  if (numbers.empty()) co_return Status();
  auto named = co_await store_.by_ids(numbers);
  if (!named) co_return std::move(named).error();
  found.insert(found.end(), named->begin(), named->end());
  co_return Status();
}

// Of one line of turns only the last one, or the one in front of it, can be gone on behind.
Task<Status> Planner::attach_to_tip(const TurnRequest& request, Plan& plan) {
  const std::span<const message::Message> messages = request.messages;
  const auto last = co_await store_.last_turn(request.session_id);
  if (!last) co_return last.error();
  const auto& tip = *last;
  if (!tip) {
    plan.history = chain_of(request, plan.root_digest).back();
    co_return Status();
  }
  if (tip->root_digest == plan.root_digest && go_on_behind(tip, request, plan)) co_return Status();
  const auto chain = chain_of(request, plan.root_digest);
  plan.history = chain.back();
  const auto line = trajectory::path_to(tip);
  const auto placed =
      trajectory::place(messages, chain, line, request.rules.equality, request.spelling);
  plan.parent = placed.parent;
  plan.suffix = placed.suffix;
  if (placed.spelled) plan.attach.reason = "profile";
  if (plan.parent == tip) co_return Status();
  plan.attach.difference = trajectory::first_difference(tip, messages, request.spelling);
  if (auto status = check_rollback(request, line, plan); !status.ok()) co_return status;
  plan.attach.reason = "rollback";
  co_return Status();
}

std::vector<trajectory::Digest> Planner::chain_of(const TurnRequest& request,
                                                  const trajectory::Digest& root) {
  return trajectory::chain(digests_, root, request.messages, request.spelling);
}

// What keeps a request from the turn committed last below its root, or in its session: the model,
// the tools, the template arguments or the profile alone, or the history itself.
Task<Status> Planner::explain_root(const TurnRequest& request, trajectory::TurnPtr last,
                                   Plan& plan) {
  plan.attach.reason = "history";
  if (request.session_id.empty() && !request.parent) co_return Status();
  if (!last) {
    auto found = co_await store_.last_turn(request.session_id);
    if (!found) co_return std::move(found).error();
    last = std::move(*found);
  }
  if (!last) {
    plan.attach.reason = "first";
    co_return Status();
  }
  const auto chain = chain_of(request, last->root_digest);
  const auto line = trajectory::path_to(last);
  if (last->root_digest == plan.root_digest ||
      !trajectory::place(request.messages, chain, line, request.rules.equality, request.spelling)
           .parent) {
    plan.attach.difference = trajectory::first_difference(last, request.messages, request.spelling);
    const bool system = plan.attach.difference && plan.attach.difference->message == 0 &&
                        line.front()->messages.front().role == message::Role::kSystem;
    if (system) plan.attach.reason = "system";
    co_return Status();
  }
  plan.attach.reason = other_root(*last, plan);
  co_return Status();
}

std::string Planner::other_root(const trajectory::Turn& recorded, const Plan& plan) const {
  const auto& before = *recorded.root;
  const auto& now = *plan.root;
  if (before.model != now.model || before.tokenizer != now.tokenizer ||
      before.chat_template != now.chat_template || before.encoding_policy != now.encoding_policy)
    return "model";
  if (before.tools != now.tools) return "tools";
  if (model_.by_messages() || recorded.template_kwargs.empty())
    return plan.head_arguments.empty() ? "profile" : "arguments";
  const auto arguments = json::Document::parse(recorded.template_kwargs);
  const bool same = arguments && head_arguments(arguments->root(), model_.renderer->family()) ==
                                     plan.head_arguments;
  return same ? "profile" : "arguments";
}

trajectory::Digest Planner::digest_of_answer(const Plan& plan, const message::Message& answer) {
  return trajectory::extend(digests_, plan.history, answer, plan.spelling);
}

// Of what is recorded the turns tell, of all else the handles that agents gave back.
Task<Result<NativeIds>> Planner::native_ids(const TurnRequest& request, const Plan& plan) {
  NativeIds ids(model_.renderer->family().native_id);
  if (!prints_ids()) co_return ids;
  for (const auto& turn : trajectory::path_to(plan.parent)) {
    const std::size_t at = turn->message_count - 1;
    ids.know_answer(at, turn->answer.tool_calls, request.messages[at].tool_calls);
  }
  std::vector<std::uint64_t> numbers;
  for (const auto& message : std::span(request.messages).subspan(plan.suffix)) {
    for (const auto& call : message.tool_calls) {
      if (const auto handle = handles_.read(call.id, plan.scope)) numbers.push_back(handle->turn);
    }
  }
  if (numbers.empty()) co_return ids;
  const auto turns = co_await store_.by_ids(numbers);
  if (!turns) co_return turns.error();
  for (const auto& turn : *turns) {
    for (const auto& call : turn->answer.tool_calls) ids.know(call.id, call.native_id);
  }
  co_return ids;
}

Status Planner::render(TurnRequest& request, const std::optional<json::Document>& arguments,
                       NativeIds& ids, Plan& plan) const {
  chat::TemplateInputs inputs;
  inputs.tools = request.tools;
  if (arguments) inputs.arguments = arguments->root();
  if (!plan.parent) {
    if (plan.attach.reason.empty()) plan.attach.reason = "first";
    return render_root(request.messages, inputs, ids, plan);
  }
  if (request.rules.retention == Retention::kTemplate) {
    auto kept = keeps_reasoning(*model_.renderer, request, inputs, plan);
    if (!kept) return std::move(kept).error();
    if (!*kept) {
      // What was sampled is told to the template, whatever the client left out of it.
      request.messages = recorded_history(request, plan);
      plan.attach = {Attach::Kind::kRoot, "retention", false, {}};
      return render_root(request.messages, inputs, ids, plan);
    }
  }
  auto status = render_child(request, inputs, ids, plan);
  if (status.ok() || status.error().kind != ErrorKind::kUnsupported) return status;
  if (request.rules.mode != SessionMode::kTree) return status;
  // These roles can't be appended: a fresh render of everything is exact, but a new root.
  plan.attach = {Attach::Kind::kRoot, "suffix", false, {}};
  return render_root(request.messages, inputs, ids, plan);
}

Status Planner::render_root(std::span<const message::Message> messages,
                            const chat::TemplateInputs& inputs, NativeIds& ids, Plan& plan) const {
  plan.parent = nullptr;
  plan.suffix = 0;
  plan.trim = 0;
  plan.attach.kind = Attach::Kind::kRoot;
  std::vector<message::Message> shown;
  if (prints_ids()) {
    ids.start(0, 0);
    for (const auto& message : messages) shown.push_back(ids.shown(message));
    messages = shown;
  }
  auto rendered = model_.renderer->full(messages, inputs);
  if (!rendered) return std::move(rendered).error();
  plan.rendered = std::move(*rendered);
  return {};
}

Status Planner::render_child(const TurnRequest& request, const chat::TemplateInputs& inputs,
                             NativeIds& ids, Plan& plan) const {
  const auto& parent = *plan.parent;
  const auto all = std::span<const message::Message>(request.messages);
  auto suffix = all.subspan(plan.suffix);
  std::vector<message::ToolCall> calls;
  std::vector<message::Message> shown;
  if (prints_ids()) {
    calls = parent.answer.tool_calls;
    for (auto& call : calls) call.id = call.native_id;
    ids.start(plan.suffix, count_calls(all.first(plan.suffix)));
    ids.open(parent.answer.tool_calls, all[plan.suffix - 1].tool_calls);
    for (const auto& message : suffix) shown.push_back(ids.shown(message));
    suffix = shown;
  }
  chat::TurnEnd end;
  if (!parent.completion.empty()) end.last_id = parent.completion.back();
  end.reasoning_open = parent.reasoning_open;
  end.calls = prints_ids() ? std::span<const message::ToolCall>(calls) : parent.answer.tool_calls;
  end.history_has_query = any_query(*model_.renderer, all.first(plan.suffix));
  auto delta = model_.renderer->delta(end, suffix, plan.suffix, inputs);
  if (!delta) return std::move(delta).error();
  plan.trim = delta->trim;
  plan.rendered = std::move(delta->rendered);
  plan.attach.kind = Attach::Kind::kChild;
  if (plan.attach.reason.empty()) plan.attach.reason = "history";
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
  auto asked = request.sampling.max_tokens;
  if (request.tokens_left) {
    // Each choice is a turn, and adds the prompt.
    const std::uint64_t share = *request.tokens_left / request.choices;
    const std::uint64_t added = plan.rendered.ids.size();
    if (added >= share) {
      auto failure = invalid("messages", "the request adds " + std::to_string(added) +
                                             " tokens, and the session's limits.tokens leaves " +
                                             std::to_string(share) +
                                             " for each choice: go on in "
                                             "another session");
      failure.code = "session_limit";
      return failure;
    }
    asked = std::min(asked.value_or(kDefaultNewTokens), share - added);
  }
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
