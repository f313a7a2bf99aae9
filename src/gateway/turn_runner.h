#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/runtime.h"
#include "engine/engine.h"
#include "engine/engine_metrics.h"
#include "gateway/plan.h"
#include "gateway/sessions_in_use.h"
#include "gateway/turn_metrics.h"
#include "message/event.h"

namespace verbatim::gateway {

// Follows a turn while it is sampled: the protocol's stream writer.
class TurnObserver {
 public:
  virtual ~TurnObserver() = default;
  // The request is accepted; the engine is asked next.
  virtual void on_planned() {}
  // Who follows one of several choices.
  virtual TurnObserver& of_choice(std::uint32_t /*choice*/) { return *this; }
  // What is kept of the answer beside its turn, in the same commit; null: nothing. Asked once,
  // behind the last chunk.
  virtual std::unique_ptr<store::StoredResponse> record(const trajectory::Turn& /*turn*/) {
    return nullptr;
  }
  // What becomes of the conversation it is in, in the same commit; null: it is in none. Asked once,
  // behind record().
  virtual std::unique_ptr<store::ConversationChange> advance(const trajectory::Turn& /*turn*/) {
    return nullptr;
  }
  // All choices are sampled and go to the store: from here on the turns stand.
  virtual void on_committing() {}
  // Calls get their handles before: ToolCallStart::native_id is what the client is to see. A
  // failure (the client is gone) ends the turn uncommitted.
  virtual base::Task<base::Status> on_chunk(std::span<const message::Event> events,
                                            const engine::TokenChunk& chunk) = 0;
};

// Told of the commit of each turn: projections (record files). Each committing() is followed by one
// of the other two.
class CommitListener {
 public:
  virtual ~CommitListener() = default;
  // Before the store is asked.
  virtual void committing(const std::string& /*session_id*/) {}
  // Behind the commit, before the answer ends.
  virtual base::Task<void> committed(base::Executor& executor, trajectory::TurnPtr turn,
                                     store::SessionUse use) = 0;
  // The store did not take the turn.
  virtual base::Task<void> not_committed(base::Executor& /*executor*/, std::string /*session_id*/) {
    co_return;
  }
};

using Turns = std::vector<trajectory::TurnPtr>;

struct RunnerOptions {
  base::Duration turn_timeout = std::chrono::seconds(600);
  base::Duration learn_timeout = std::chrono::seconds(5);  // for asking an engine what it is
  SessionsInUse* in_use = nullptr;  // told of the sessions with turns under way
  TurnMetrics* metrics = nullptr;   // null: nobody counts
  // Of the one engine there is; null: nobody counts, or each of several is counted for itself.
  engine::EngineMetrics* engine = nullptr;
};

// Runs planned turns: engine, parser, proof, commit. Everything before the commit can fail without
// a trace; once commit() was called the turn stands, whether the client gets its answer or not. One
// per executor.
class TurnRunner {
 public:
  TurnRunner(base::Runtime& runtime, const Model& model, engine::Engine& engine,
             store::Store& store, CommitListener* listener, std::string_view key,
             RunnerOptions options = {});

  // Runs each choice of the request as a turn of its own, siblings that are sampled at the same
  // time, and commits all of them or none: where one fails, the others are given up and the request
  // fails. The request is normalised, and parts of it are moved into the turn. It stays the
  // caller's, so that a long history is freed behind the answer and not in front of its last event.
  base::Task<base::Result<Turns>> run(TurnRequest& request, TurnObserver& observer,
                                      base::CancelSignal& cancel);

  // What the engine demands of a request before anything is planned. Changes nothing.
  [[nodiscard]] base::Status check(TurnRequest& request) const;
  // The engine reads the chat request beside the ids.
  [[nodiscard]] bool reads_chat() const { return engine_.reads_chat(); }
  // Asks the engine what only it knows: how its answers are read, and the context length. Each
  // runner asks for its own engine, whatever others of this model have learned.
  base::Task<base::Result<engine::Probe>> learn(base::MonoTime deadline);
  // Takes what another engine of the same server has said.
  void adopt(const engine::Probe& probe);
  [[nodiscard]] base::Duration turn_timeout() const { return options_.turn_timeout; }
  // Null: sessions don't expire.
  [[nodiscard]] SessionsInUse* in_use() const { return options_.in_use; }

 private:
  struct Running;
  struct Choice;
  // A plan whose session does not expire while `found` lives, if not for its name already.
  base::Task<base::Result<Plan>> plan_held(TurnRequest& request, base::MonoTime received,
                                           std::optional<SessionsInUse::Hold>& found);
  base::Task<base::Result<Plan>> plan(TurnRequest& request, base::MonoTime received);
  using Sampling = base::Result<std::unique_ptr<engine::TokenStream>>;
  // Has the engine begin: by ids, or by messages.
  base::Task<Sampling> begin(Running& turn, base::CancelSignal& cancel);
  base::Task<Sampling> begin_messages(Running& turn, base::CancelSignal& cancel);
  engine::TokenRequest token_request(const Running& turn, base::CancelSignal& cancel) const;
  // From the engine request to a turn that can be committed.
  base::Task<void> run_choice(Running& turn, TurnObserver& observer, Choice& choice);
  base::Task<base::Result<std::unique_ptr<trajectory::Turn>>> answer(Running& turn,
                                                                     TurnObserver& observer,
                                                                     base::CancelSignal& cancel);
  base::Task<base::Result<Turns>> commit(store::NewTurns added, const Plan& plan,
                                         TurnRequest& request);
  base::Task<base::Status> sample(Running& turn, engine::TokenStream& stream,
                                  TurnObserver& observer);
  // Shows and reads what of the chunk belongs to the turn.
  void take(Running& turn, engine::TokenChunk& chunk, engine::TokenChunk& shown,
            message::Events& events);
  void feed(Running& turn, std::span<const trajectory::TokenId> ids, message::Events& events);
  void give_handles(Running& turn, message::Events& events);
  // What templates are shown as the ids of the answer's calls.
  void name_calls(const Running& turn, message::Message& answer) const;
  static message::FinishReason reason(const Running& turn, const engine::TokenEnd& end);
  [[nodiscard]] base::Status check_stops(const Running& turn) const;
  static base::Status take_exact(Running& turn, std::span<const double> logprobs);
  // What of the turn there is only by ids, and only by messages.
  void conclude_ids(Running& turn, trajectory::Turn& node);
  static void conclude_messages(const engine::TokenEnd& end, trajectory::Turn& node);
  base::Result<std::unique_ptr<trajectory::Turn>> conclude(Running& turn,
                                                           const engine::TokenEnd& end);

  base::Runtime& runtime_;
  const Model& model_;
  engine::Engine& engine_;
  store::Store& store_;
  CommitListener* listener_;
  RunnerOptions options_;
  Planner planner_;
  Handles handles_;
  bool learned_ = false;  // the engine was asked, and answered
  bool asked_ = false;    // in front of a turn
};

}  // namespace verbatim::gateway
