#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "gateway/doors.h"
#include "gateway/exchange.h"
#include "gateway/replays.h"
#include "gateway/running_turns.h"
#include "gateway/session_options.h"
#include "gateway/turn_metrics.h"
#include "gateway/turn_runner.h"
#include "net/http_server.h"
#include "protocol/chat_answer.h"

namespace verbatim::gateway {

// So long a turn goes on whose client hung up and may ask again.
inline constexpr base::Duration kRetryGrace = std::chrono::seconds(2);

// Who hears of requests for turns.
struct TurnReporting {
  TurnMetrics* metrics = nullptr;                    // null: nobody counts
  std::function<void(const TurnReport&)> tell = {};  // behind the end of each; may be empty
};

// Requests for turns, in a session or without one: reads the request, runs the turn, writes the
// answer, streaming or whole. What the client's protocol has to say in it, its Exchange says.
class TurnEndpoint {
 public:
  TurnEndpoint(base::Runtime& runtime, const Model& model, store::Store& store, TurnRunner& runner,
               RunningTurns& running, Replays& replays, TurnReporting reporting = {},
               base::Duration retry_grace = kRetryGrace)
      : runtime_(runtime),
        model_(model),
        store_(store),
        runner_(runner),
        running_(running),
        replays_(replays),
        reporting_(std::move(reporting)),
        retry_grace_(retry_grace) {}

  // `door` says which session is meant; one that must exist is looked up. `gone` fires when the
  // client hangs up. Answers the request in every case.
  base::Task<void> handle(const net::Request& http, net::Responder& responder,
                          base::CancelSignal& gone, Door door, std::unique_ptr<Exchange> exchange);

  // Whether the engine takes what the session would lay down for each of its turns. The error names
  // the option.
  [[nodiscard]] base::Status takes(const SessionOptions& options) const;

 private:
  // One request on its way.
  struct Asked {
    std::unique_ptr<Exchange> exchange;
    TurnRequest turn;
    std::optional<RunningTurns::Entry> running;  // in a session
    std::optional<SessionsInUse::Hold> held;
    TurnReport report;
    bool repeats = false;  // it reads the answer to another request
    bool deleted = false;  // its session was, meanwhile
    bool alone = false;    // no other turn runs in its session meanwhile
  };
  class Watched;
  base::Task<void> handle(const net::Request& http, net::Responder& responder,
                          base::CancelSignal& gone, Door door, Asked& asked,
                          base::CancelSignal& cancel);
  base::Status read_headers(const net::Request& http, TurnRequest& turn);
  // Answers with an error that ends the request.
  static base::Task<void> refuse(Asked& asked, net::Responder& responder, const base::Error& error);
  // For the report.
  static void note_failure(Asked& asked, const base::Error& error);
  static void note_answer(Asked& asked, const Turns& turns, const base::Status& written);
  // What comes back are the turns of a request, shown to the observer while they are sampled.
  using Source = std::function<base::Task<base::Result<Turns>>(TurnObserver&)>;

  // The session that must exist; nothing where none must.
  base::Task<base::Result<std::optional<store::SessionInfo>>> find_session(const Door& door);
  // Lays down the rules of the session; reserves it where it has one line.
  base::Status enter(const store::SessionInfo& session, const net::Request& http, Asked& asked);
  base::Status apply(const SessionOptions& options, const net::Request& http, Asked& asked);
  // The session is free for the next turn when this returns.
  base::Task<base::Result<Turns>> run(Asked& asked, TurnObserver& observer,
                                      base::CancelSignal& cancel);
  // Runs the turns for whoever asks for them: this client, and those that repeat its request.
  base::Task<void> run_for_all(Asked& asked, const RetryKey& key, std::shared_ptr<TurnLog> log,
                               base::CancelSignal& cancel);
  void finish(const RetryKey& key, const std::shared_ptr<TurnLog>& log, base::Result<Turns> turns);
  base::Task<void> repeat(Asked& asked, const RetryKey& key, std::shared_ptr<TurnLog> log,
                          net::Responder& responder, base::CancelSignal& gone);
  base::Task<void> follow(Asked& asked, const RetryKey& key, std::shared_ptr<TurnLog> log,
                          net::Responder& responder, base::CancelSignal& gone);
  // What a reader brings; kTimeout when it has waited for the time of a turn.
  base::Task<base::Result<Turns>> read(TurnLog::Reader& reader, TurnObserver& observer,
                                       base::CancelSignal& gone);
  // Answers with what comes from `source`.
  enum class Written { kWhole, kNot };  // the turns, up to the end that the client waits for
  base::Task<Written> answer(Asked& asked, const protocol::ChatHead& head,
                             net::Responder& responder, const Source& source);
  base::Task<Written> stream(Asked& asked, const protocol::ChatHead& head,
                             net::Responder& responder, const Source& source);
  base::Task<Written> whole(Asked& asked, const protocol::ChatHead& head, net::Responder& responder,
                            const Source& source);

  base::Runtime& runtime_;
  const Model& model_;
  store::Store& store_;
  TurnRunner& runner_;
  RunningTurns& running_;
  Replays& replays_;
  const TurnReporting reporting_;
  const base::Duration retry_grace_;
};

// Answers with an error in the OpenAI shape, or with the engine's own bytes where they have it
// already.
base::Task<void> send_error(net::Responder& responder, const base::Error& error);

}  // namespace verbatim::gateway
