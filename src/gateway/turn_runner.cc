#include "gateway/turn_runner.h"

#include <algorithm>
#include <deque>

#include "base/gather.h"
#include "gateway/conversation.h"
#include "gateway/learn.h"
#include "json/value.h"
#include "json/writer.h"
#include "message/fold.h"
#include "trajectory/equality.h"

namespace verbatim::gateway {

using base::error;
using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;
using engine::EngineFinish;
using trajectory::Turn;

namespace {

message::FinishReason engine_reason(EngineFinish::Kind kind) {
  return kind == EngineFinish::Kind::kLength ? message::FinishReason::kLength
                                             : message::FinishReason::kStop;
}

bool contains(const trajectory::TokenIds& ids, trajectory::TokenId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// The request as it came, with another seed: some engines read it there.
std::string with_seed(std::string_view chat, std::int64_t seed) {
  const auto document = json::Document::parse(std::string(chat), {.max_bytes = SIZE_MAX});
  if (!document || !document->root().is_object()) return std::string(chat);
  json::Writer w;
  w.begin_object();
  for (const auto& member : document->root()) {
    const std::string name = member.name();
    w.key(name);
    name == "seed" ? w.integer(seed) : w.raw(member.value.raw());
  }
  w.end_object();
  return w.take();
}

}  // namespace

// A turn between plan and commit.
struct TurnRunner::Running {
  Running(TurnRequest& asked, const Plan& planned, std::uint32_t index, const Model& model)
      : request(asked), plan(planned), choice(index) {
    if (model.by_messages()) return;
    stop_ids = model.renderer->stop_ids();
    reasoning_open = model.markers->reasoning_open(plan.rendered.ids);
    parser.emplace(*model.markers, chat::parsers::TurnStart{reasoning_open, request.wants_tools},
                   request.sampling.stop);
    for (const auto id : request.sampling.stop_token_ids) {
      if (!contains(stop_ids, id)) stop_ids.push_back(id);
    }
  }

  TurnRequest& request;
  const Plan& plan;  // of all choices
  std::uint32_t choice;
  std::string chat;                     // with the choice's seed; empty: as it came
  std::uint64_t number = 0;             // of the turn
  std::vector<std::string> native_ids;  // of its calls, as the model wrote them
  trajectory::TokenIds stop_ids;
  bool reasoning_open = false;                       // where the answer begins
  std::optional<chat::parsers::TokenParser> parser;  // none by messages
  bool finds_stops = false;                          // stop strings are this side's to find
  bool cut = false;                                  // at one of them
  message::Folded folded;
  trajectory::TokenIds completion;
  std::vector<double> logprobs;
  trajectory::TokenIds discarded;
  std::vector<double> discarded_logprobs;
  bool stopped = false;
  bool stopped_by_id = false;
  std::int64_t received_ms = 0;
  base::MonoTime received;
  base::MonoTime first_token;
  StopWatch watch;  // of the choice
};

// A turn cut at a stop string stopped, whatever the engine went on to say.
message::FinishReason TurnRunner::reason(const Running& turn, const engine::TokenEnd& end) {
  return turn.cut ? message::FinishReason::kStop : engine_reason(end.finish.kind);
}

// A stop string within which a tag of the model's grammar stands as a token of its own is never
// found in text: the engines that look for themselves find it, so it is not passed over here.
Status TurnRunner::check_stops(const Running& turn) const {
  if (!turn.finds_stops) return {};
  const auto& stops = turn.request.sampling.stop;
  for (std::size_t i = 0; i < stops.size(); ++i) {
    if (!model_.markers->holds_marker(stops[i])) continue;
    auto refused = error(ErrorKind::kUnsupported,
                         "with this engine a stop string can't hold a tag of the model, such as "
                         "the one in \"" +
                             stops[i] + "\"; use stop_token_ids");
    refused.field = "stop[" + std::to_string(i) + "]";
    return refused;
  }
  return {};
}

TurnRunner::TurnRunner(base::Runtime& runtime, const Model& model, engine::Engine& engine,
                       store::Store& store, CommitListener* listener, std::string_view key,
                       RunnerOptions options)
    : runtime_(runtime),
      model_(model),
      engine_(engine),
      store_(store),
      listener_(listener),
      options_(options),
      planner_(model, store, key),
      handles_(key) {}

// One of several choices under way.
struct TurnRunner::Choice {
  base::CancelSignal& stop;  // of all of them
  Result<std::unique_ptr<Turn>>& first_failure;
  std::unique_ptr<Turn> turn;
};

Task<Result<Turns>> TurnRunner::run(TurnRequest& request, TurnObserver& observer,
                                    base::CancelSignal& cancel) {
  const auto received = runtime_.clock().now();
  const auto received_ms = runtime_.clock().wall_ms();
  // From here on, so that the session does not expire while its turns are looked up.
  SessionsInUse::Hold named(request.session_id.empty() ? nullptr : options_.in_use,
                            runtime_.executor, request.session_id);
  co_await named.entered();
  std::optional<SessionsInUse::Hold> found;
  const auto plan = co_await plan_held(request, received, found);
  if (!plan) co_return plan.error();
  request.watch.skip();
  observer.on_planned();

  base::CancelSignal stop;
  base::CancelHook on_cancel(cancel, [&] { stop.fire(cancel.reason()); });
  Result<std::unique_ptr<Turn>> first_failure = std::unique_ptr<Turn>();
  std::deque<Running> running;
  std::deque<Choice> choices;
  std::vector<Task<void>> tasks;
  for (std::uint32_t i = 0; i < request.choices; ++i) {
    auto& turn = running.emplace_back(request, *plan, i, model_);
    turn.number = runtime_.random.next();
    turn.received = received;
    turn.received_ms = received_ms;
    turn.watch = request.watch;
    const auto seed = seed_of(request.sampling, i);
    if (seed && i > 0 && engine_.reads_chat()) turn.chat = with_seed(request.chat, *seed);
    auto& choice = choices.emplace_back(Choice{stop, first_failure, nullptr});
    tasks.push_back(run_choice(turn, observer.of_choice(i), choice));
  }
  co_await base::gather(std::move(tasks));
  for (const auto& turn : running) request.watch.join(turn.watch);
  if (!first_failure) co_return std::move(first_failure).error();
  if (cancel.fired()) co_return error(ErrorKind::kCancelled, cancel.reason());
  store::NewTurns added;
  added.use = plan->session_use;
  added.spec = request.session_spec;
  for (auto& choice : choices) added.turns.push_back(std::move(choice.turn));
  added.response = observer.record(*added.turns.front());
  added.conversation = observer.advance(*added.turns.front());
  observer.on_committing();
  auto recorded = co_await commit(std::move(added), *plan, request);
  if (recorded) {
    named.leaves_no_time();
    if (found) found->leaves_no_time();
  }
  co_return recorded;
}

Task<void> TurnRunner::run_choice(Running& turn, TurnObserver& observer, Choice& choice) {
  std::optional<engine::EngineMetrics::Request> counted;
  if (options_.engine != nullptr) counted.emplace(*options_.engine);
  auto answered = co_await answer(turn, observer, choice.stop);
  if (counted) counted->ended(answered ? nullptr : &answered.error());
  if (answered) {
    choice.turn = std::move(*answered);
    co_return;
  }
  // What fails behind it fails because of it.
  if (!choice.first_failure) co_return;
  choice.first_failure = std::move(answered).error();
  choice.stop.fire("another choice of the request failed");
}

// A request that names no session finds one by its history, and may find one that expires.
Task<Result<Plan>> TurnRunner::plan_held(TurnRequest& request, base::MonoTime received,
                                         std::optional<SessionsInUse::Hold>& found) {
  for (;;) {
    const std::uint64_t expiries = options_.in_use == nullptr ? 0 : options_.in_use->expiries();
    auto plan = co_await this->plan(request, received);
    const bool finds = plan && options_.in_use != nullptr && request.session_id.empty();
    if (!finds || (found && found->session_id() == plan->session_id)) co_return std::move(plan);
    found.emplace(options_.in_use, runtime_.executor, plan->session_id);
    co_await found->entered();
    if (!plan->parent || options_.in_use->expiries() == expiries) co_return std::move(plan);
  }
}

Task<Result<Plan>> TurnRunner::plan(TurnRequest& request, base::MonoTime received) {
  auto status = check(request);
  if (!status.ok()) co_return std::move(status).error();
  // An engine that came up after the gateway may not have been asked yet. Where it doesn't answer
  // now either, the turn fails soon enough; it is asked again where its context must be known.
  if (!learned_ && (!asked_ || model_.max_model_len.load() == 0)) {
    asked_ = true;
    const auto probe = co_await learn(received + options_.learn_timeout);
    (void)probe;
  }
  auto plan = co_await planner_.plan(request);
  if (!plan) co_return plan;
  status = co_await store_.takes_turns(plan->session_id, plan->session_use);
  if (!status.ok()) co_return std::move(status).error();
  if (!plan->session_id.empty()) co_return plan;
  plan->session_id = base::new_hex_id(runtime_.random);
  auto spec = std::make_shared<store::SessionSpec>(plan->session_id, runtime_.clock().wall_ms());
  spec->owner = request.owner;
  request.session_spec = std::move(spec);
  co_return plan;
}

engine::TokenRequest TurnRunner::token_request(const Running& turn,
                                               base::CancelSignal& cancel) const {
  engine::TokenRequest asked;
  asked.request_id = base::new_hex_id(runtime_.random);
  asked.model = model_.name;
  asked.prompt = turn.plan.prompt;
  asked.chat = turn.chat.empty() ? turn.request.chat : std::string_view(turn.chat);
  asked.sampling = turn.request.sampling;
  asked.sampling.seed = seed_of(turn.request.sampling, turn.choice);
  asked.max_new_tokens = turn.plan.max_new_tokens;
  asked.stop_token_ids = turn.stop_ids;
  asked.routing_key = turn.plan.session_id;
  if (turn.plan.parent) asked.last_engine_url = turn.plan.parent->engine_url;
  asked.headers = turn.request.headers;
  asked.deadline = turn.received + options_.turn_timeout;
  asked.cancel = &cancel;
  return asked;
}

Task<Result<std::unique_ptr<Turn>>> TurnRunner::answer(Running& turn, TurnObserver& observer,
                                                       base::CancelSignal& cancel) {
  auto stream = co_await begin(turn, cancel);
  turn.watch.lap(Stage::kFirstToken);
  if (!stream) co_return std::move(stream).error();
  // Only now it is certain which engine samples.
  turn.finds_stops = !turn.request.sampling.stop.empty() && !engine_.matches_stop_strings();
  if (auto status = check_stops(turn); !status.ok()) co_return status.error();
  if (auto status = co_await sample(turn, **stream, observer); !status.ok())
    co_return std::move(status).error();
  co_return conclude(turn, (*stream)->end());
}

// The point of no return: from here on the turns stand, whatever becomes of the client.
Task<Result<Turns>> TurnRunner::commit(store::NewTurns added, const Plan& plan,
                                       TurnRequest& request) {
  const std::size_t count = added.turns.size();
  for (std::size_t i = 0; listener_ != nullptr && i < count; ++i)
    listener_->committing(plan.session_id);
  request.watch.skip();
  auto recorded = co_await store_.commit(std::move(added));
  request.watch.lap(Stage::kCommit);
  if (recorded && options_.metrics != nullptr)
    options_.metrics->committed(request.rules.mode, *recorded);
  for (std::size_t i = 0; listener_ != nullptr && i < count; ++i) {
    if (recorded) {
      co_await listener_->committed(runtime_.executor, (*recorded)[i], plan.session_use);
    } else {
      co_await listener_->not_committed(runtime_.executor, plan.session_id);
    }
  }
  if (listener_ != nullptr) request.watch.lap(Stage::kRecord);
  co_return recorded;
}

Task<Result<engine::Probe>> TurnRunner::learn(base::MonoTime deadline) {
  auto probe = co_await gateway::learn(model_, engine_, deadline);
  if (options_.engine != nullptr) options_.engine->asked(probe ? nullptr : &probe.error());
  learned_ = learned_ || probe.ok();
  co_return std::move(probe);
}

void TurnRunner::adopt(const engine::Probe& probe) {
  engine_.adopt(probe);
  keep(model_, probe);
  if (options_.engine != nullptr) options_.engine->asked(nullptr);
  learned_ = true;
}

Status TurnRunner::check(TurnRequest& request) const {
  if (!model_.by_messages()) return engine_.check(request.sampling);
  // A history can be long: it is lent, not copied.
  protocol::Conversation asked;
  asked.messages = std::move(request.messages);
  asked.parameters = std::move(request.parameters);
  asked.sampling = request.sampling;
  auto status = engine_.check_messages(asked);
  request.messages = std::move(asked.messages);
  request.parameters = std::move(asked.parameters);
  return status;
}

Task<TurnRunner::Sampling> TurnRunner::begin(Running& turn, base::CancelSignal& cancel) {
  if (model_.by_messages()) {
    auto by_messages = co_await begin_messages(turn, cancel);
    co_return std::move(by_messages);
  }
  auto asked = token_request(turn, cancel);
  auto stream = co_await engine_.generate(std::move(asked));
  co_return std::move(stream);
}

Task<TurnRunner::Sampling> TurnRunner::begin_messages(Running& turn, base::CancelSignal& cancel) {
  engine::MessageRequest asked;
  asked.request_id = base::new_hex_id(runtime_.random);
  const auto conversation = conversation_of(turn.request, turn.plan, turn.choice);
  asked.conversation = &conversation;
  asked.routing_key = turn.plan.session_id;
  if (turn.plan.parent) asked.last_engine_url = turn.plan.parent->engine_url;
  asked.headers = turn.request.headers;
  asked.deadline = turn.received + options_.turn_timeout;
  asked.cancel = &cancel;
  auto stream = co_await engine_.complete(std::move(asked));
  co_return std::move(stream);
}

Task<Status> TurnRunner::sample(Running& turn, engine::TokenStream& stream,
                                TurnObserver& observer) {
  message::Events events;
  for (;;) {
    auto chunk = co_await stream.next();
    const bool first = turn.first_token == base::MonoTime{};
    turn.watch.lap(first ? Stage::kFirstToken : Stage::kSampling);
    if (!chunk) co_return std::move(chunk).error();
    bool last = !chunk->has_value();
    events.clear();
    engine::TokenChunk shown;
    if (!last) {
      if (first) turn.first_token = runtime_.clock().now();
      take(turn, **chunk, shown, events);
      for (auto& event : (*chunk)->events) events.push_back(std::move(event));
      // What comes behind a stop string that the engine does not know of is nobody's.
      turn.cut = turn.finds_stops && turn.parser->ended() && !turn.stopped_by_id;
      last = turn.cut;
      if (last) {
        if (auto status = stream.cut(); !status.ok()) co_return status;
      }
    }
    if (last) {
      if (!turn.cut && stream.end().finish.kind == EngineFinish::Kind::kAbort) {
        co_return error(ErrorKind::kEngine, "the engine aborted the generation (finish reason \"" +
                                                stream.end().finish.raw + "\")");
      }
      if (turn.parser) turn.parser->finish(reason(turn, stream.end()), events);
    }
    give_handles(turn, events);
    for (const auto& event : events) turn.folded.add(event);
    turn.watch.lap(Stage::kParse);
    if (!events.empty() || !shown.ids.empty()) {
      if (auto status = co_await observer.on_chunk(events, shown); !status.ok()) {
        stream.abort();
        co_return status;
      }
      turn.watch.lap(Stage::kWrite);
    }
    if (last) co_return Status();
  }
}

// Keeps ids up to and with the first stop id, or the one that completes a stop string; what comes
// behind it (speculative decoding) is kept apart.
void TurnRunner::take(Running& turn, engine::TokenChunk& chunk, engine::TokenChunk& shown,
                      message::Events& events) {
  std::size_t fed = 0;
  const auto feed_new = [&] {
    feed(turn, std::span(shown.ids).subspan(fed), events);
    fed = shown.ids.size();
  };
  for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
    const auto id = chunk.ids[i];
    if (turn.stopped) {
      turn.discarded.push_back(id);
      turn.discarded_logprobs.push_back(chunk.logprobs[i]);
      continue;
    }
    turn.completion.push_back(id);
    turn.logprobs.push_back(chunk.logprobs[i]);
    shown.ids.push_back(id);
    shown.logprobs.push_back(chunk.logprobs[i]);
    if (!chunk.top_logprobs.empty()) shown.top_logprobs.push_back(std::move(chunk.top_logprobs[i]));
    turn.stopped_by_id = contains(turn.stop_ids, id);
    turn.stopped = turn.stopped_by_id;
    if (!turn.finds_stops || chunk.parsed) continue;
    feed_new();
    turn.stopped = turn.stopped || turn.parser->ended();
  }
  if (chunk.parsed) {
    for (auto& event : message::unfold(*chunk.parsed)) events.push_back(std::move(event));
  } else if (!turn.finds_stops && turn.parser) {
    feed_new();
  }
}

// The client's own stop ids are in no field, as the family's are not.
void TurnRunner::feed(Running& turn, std::span<const trajectory::TokenId> ids,
                      message::Events& events) {
  const bool stops = turn.stopped && !ids.empty() && contains(turn.stop_ids, ids.back());
  turn.parser->feed(
      stops && !model_.renderer->is_stop(ids.back()) ? ids.first(ids.size() - 1) : ids, events);
}

// Calls get the id the client sees. What the model wrote itself is kept for the template. By
// messages an engine's own ids pass.
void TurnRunner::give_handles(Running& turn, message::Events& events) {
  for (auto& event : events) {
    auto* start = std::get_if<message::ToolCallStart>(&event);
    if (start == nullptr || (!turn.parser && !start->native_id.empty())) continue;
    turn.native_ids.push_back(std::move(start->native_id));
    const bool fits = start->index <= UINT8_MAX;
    start->native_id = fits ? handles_.make("call_", turn.plan.scope,
                                            {turn.number, static_cast<std::uint8_t>(start->index)})
                            : "call_" + base::new_base62_id(runtime_.random, 24);
  }
}

void TurnRunner::name_calls(const Running& turn, message::Message& answer) const {
  const auto& form = model_.renderer->family().native_id;
  if (form.empty()) return;
  const std::size_t before = count_calls(turn.request.messages);
  for (std::size_t i = 0; i < answer.tool_calls.size(); ++i) {
    auto& call = answer.tool_calls[i];
    call.native_id = turn.native_ids[i].empty() ? derived_native_id(form, call.name, before + i)
                                                : turn.native_ids[i];
  }
}

Status TurnRunner::take_exact(Running& turn, std::span<const double> logprobs) {
  const auto kept = turn.completion.size();
  if (logprobs.size() != kept + turn.discarded.size()) {
    return error(ErrorKind::kEngine, "the engine's answer can't be trusted: found " +
                                         std::to_string(logprobs.size()) +
                                         " logprobs at its end, expected one for each of " +
                                         std::to_string(kept + turn.discarded.size()) + " ids");
  }
  turn.logprobs.assign(logprobs.begin(), logprobs.begin() + static_cast<std::ptrdiff_t>(kept));
  turn.discarded_logprobs.assign(logprobs.begin() + static_cast<std::ptrdiff_t>(kept),
                                 logprobs.end());
  return {};
}

void TurnRunner::conclude_ids(Running& turn, Turn& node) {
  name_calls(turn, node.answer);
  node.closed = !turn.completion.empty() && model_.renderer->closes(turn.completion.back());
  node.reasoning_open = model_.markers->reasoning_open_after(turn.reasoning_open, turn.completion);
}

void TurnRunner::conclude_messages(const engine::TokenEnd& end, Turn& node) {
  node.token_exact = false;
  node.usage = end.usage;
  node.answer.unknown = end.unknown;
}

Result<std::unique_ptr<Turn>> TurnRunner::conclude(Running& turn, const engine::TokenEnd& end) {
  if (end.exact_logprobs) {
    if (auto status = take_exact(turn, *end.exact_logprobs); !status.ok()) return status.error();
  }
  auto node = std::make_unique<Turn>();
  const auto& plan = turn.plan;
  node->id = turn.number;
  node->choice = turn.choice;
  node->session_id = plan.session_id;
  node->parent = plan.parent;
  node->root = plan.root;
  node->messages.assign(turn.request.messages.begin() + static_cast<std::ptrdiff_t>(plan.suffix),
                        turn.request.messages.end());
  node->answer = turn.folded.to_message();
  node->message_count = static_cast<std::uint32_t>(turn.request.messages.size() + 1);
  node->parent_trim = plan.trim;
  node->row_size = plan.prompt_size + turn.completion.size();
  node->prompt = plan.rendered.ids;
  node->spans = plan.rendered.spans;
  node->finish = message::client_finish(reason(turn, end), turn.folded.complete_calls());
  node->engine_finish = end.finish.raw;
  model_.by_messages() ? conclude_messages(end, *node) : conclude_ids(turn, *node);
  node->completion = std::move(turn.completion);
  node->logprobs = std::move(turn.logprobs);
  node->discarded = std::move(turn.discarded);
  node->discarded_logprobs = std::move(turn.discarded_logprobs);
  node->root_digest = plan.root_digest;
  node->digest = planner_.digest_of_answer(plan, node->answer);
  node->attach = plan.attach;
  node->engine_kind = engine_.kind();
  node->engine_mode = engine_.mode();
  node->engine_url = end.engine_url;
  if (end.engine_request_id != turn.request.request_id)
    node->engine_request_id = end.engine_request_id;
  for (const auto& span : end.weight_versions)
    node->weight_versions.push_back({span.version, span.begin});
  node->cached_tokens = end.cached_tokens;
  if (end.skew)
    node->render_skew =
        trajectory::RenderSkew{end.skew->rendered, end.skew->sent, end.skew->common};
  node->sampling = turn.request.sampling;
  node->max_new_tokens = plan.max_new_tokens;
  node->template_kwargs = turn.request.template_kwargs;
  node->request_id = turn.request.request_id;
  node->completion_id = turn.request.completion_id;
  node->thread_id = turn.request.thread_id;
  node->times.received_ms = turn.received_ms;
  node->times.committed_ms = runtime_.clock().wall_ms();
  node->times.first_token_us =
      turn.first_token == base::MonoTime{} ? 0 : (turn.first_token - turn.received).count();
  node->times.total_us = (runtime_.clock().now() - turn.received).count();
  return node;
}

}  // namespace verbatim::gateway
