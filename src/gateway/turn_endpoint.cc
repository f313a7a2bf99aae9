#include "gateway/turn_endpoint.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/gather.h"
#include "base/timer.h"
#include "base/utf8.h"
#include "gateway/conversations_endpoint.h"
#include "gateway/error_policy.h"
#include "gateway/grace.h"
#include "gateway/passed_headers.h"
#include "gateway/session_limits.h"
#include "gateway/streamed_answer.h"
#include "json/value.h"
#include "protocol/openai_error.h"

namespace verbatim::gateway {

using base::Task;

namespace {

// The engine's body goes to the client as it is where it already has the shape of the client's
// protocol.
bool has_openai_shape(const std::string& body) {
  auto doc = json::Document::parse(body);
  if (!doc || !doc->root().is_object()) return false;
  if (doc->root().get("type")) return false;  // Anthropic's, which holds an object `error` too
  const auto error = doc->root().get("error");
  return error && error->is_object() && error->get("message") && error->get("message")->is_string();
}

constexpr std::size_t kMaxIdHeader = 512;
// Told by its address.
constexpr char kLate[] = "the turn that is repeated takes too long";

// An id that the client gives in a header. It goes into records, which are JSON, while a field of
// HTTP may hold any byte from 0x80 on.
base::Status check_id_header(const net::Headers& headers, const std::string& name) {
  const std::string_view value = headers.find(name);
  if (value.size() > kMaxIdHeader) {
    return base::invalid(name, "expected at most " + std::to_string(kMaxIdHeader) +
                                   " bytes, found " + std::to_string(value.size()));
  }
  if (!base::valid_utf8(value))
    return base::invalid(name, "expected UTF-8, found bytes that are none");
  return {};
}

// Fields that say something of the body they came with. The client gets another body, or one that
// was read as plain JSON.
bool describes_body(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kNames = {"content-type",
                                                              "content-encoding",
                                                              "content-language",
                                                              "content-location",
                                                              "content-range",
                                                              "content-md5",
                                                              "content-disposition",
                                                              "content-digest",
                                                              "digest",
                                                              "repr-digest",
                                                              "etag",
                                                              "last-modified"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) {
    return net::equals_ignoring_case(name, known);
  });
}

base::Error busy(const std::string& id) {
  auto failure = base::error(base::ErrorKind::kConflict,
                             "another turn of this session is running, and it has one line of "
                             "turns: wait for its answer, or create a session of mode tree; "
                             "session_id=" +
                                 id);
  failure.code = "session_busy";
  return failure;
}

}  // namespace

Task<void> send_error(net::Responder& responder, const base::Error& error) {
  const int status = http_status(error);
  net::Headers headers;
  headers.add("Content-Type", "application/json");
  const bool verbatim = error.upstream && has_openai_shape(error.upstream->body);
  if (error.upstream) {
    for (const auto& [name, value] : error.upstream->headers) {
      if (describes_body(name)) continue;
      // The request has one of its own, as in each of its answers.
      const bool id = net::equals_ignoring_case(name, "x-request-id");
      if (!id || value != responder.request_id())
        headers.add(id ? "X-Engine-Request-Id" : name, value);
    }
  }
  const std::string body = verbatim ? error.upstream->body : protocol::openai_error_body(error);
  (void)co_await responder.send(status, headers, body);
}

// Tells of a request when it is over, however that came about.
class TurnEndpoint::Watched {
 public:
  Watched(TurnEndpoint& endpoint, Asked& asked, const net::Responder& responder)
      : endpoint_(endpoint), asked_(asked), responder_(responder) {
    if (auto* metrics = endpoint_.reporting_.metrics) metrics->began();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() {
    auto& report = asked_.report;
    report.request_id = std::move(asked_.turn.request_id);
    report.mode = asked_.turn.rules.mode;
    report.stream = asked_.exchange->request.stream;
    report.status = responder_.status();
    report.watch = asked_.turn.watch;
    if (auto* metrics = endpoint_.reporting_.metrics) metrics->ended(report);
    if (endpoint_.reporting_.tell) endpoint_.reporting_.tell(report);
  }

 private:
  TurnEndpoint& endpoint_;
  Asked& asked_;
  const net::Responder& responder_;
};

Task<void> TurnEndpoint::handle(const net::Request& http, net::Responder& responder,
                                base::CancelSignal& gone, Door door,
                                std::unique_ptr<Exchange> exchange) {
  base::CancelSignal cancel;  // outlives what is registered with it
  Asked asked;
  asked.exchange = std::move(exchange);
  asked.turn.watch = StopWatch(runtime_.clock());
  asked.report.door = door.kind;
  asked.report.owner = door.owner;
  asked.report.session_id = door.session_id;
  asked.turn.request_id = responder.request_id();
  const Watched watched(*this, asked, responder);
  co_await handle(http, responder, gone, std::move(door), asked, cancel);
}

Task<void> TurnEndpoint::refuse(Asked& asked, net::Responder& responder, const base::Error& error) {
  note_failure(asked, error);
  const base::Error told = asked.exchange->in_words(error);
  co_await send_error(responder, told);
}

void TurnEndpoint::note_failure(Asked& asked, const base::Error& error) {
  asked.report.outcome = asked.deleted ? TurnOutcome::kDeleted : outcome_of(error);
  asked.report.failure = error;
}

void TurnEndpoint::note_answer(Asked& asked, const Turns& turns, const base::Status& written) {
  if (!asked.repeats) asked.turn.watch.lap(Stage::kWrite);
  asked.report.turns = turns;
  if (!turns.empty()) asked.report.session_id = turns.front()->session_id;
  asked.report.outcome = asked.repeats ? TurnOutcome::kRepeated : TurnOutcome::kAnswered;
  if (!written.ok()) asked.report.outcome = TurnOutcome::kUndelivered;
}

Task<void> TurnEndpoint::handle(const net::Request& http, net::Responder& responder,
                                base::CancelSignal& gone, Door door, Asked& asked,
                                base::CancelSignal& cancel) {
  Exchange& exchange = *asked.exchange;
  const auto read = exchange.read(http.body);
  asked.turn.watch.lap(Stage::kRead);
  const auto headers = read_headers(http, asked.turn);
  if (!read.ok()) co_return co_await refuse(asked, responder, read.error());
  if (!headers.ok()) co_return co_await refuse(asked, responder, headers.error());
  if (const auto id = exchange.conversation(); !id.empty()) {
    const auto entered = enter_conversation(id, door);
    if (!entered.ok()) co_return co_await refuse(asked, responder, entered.error());
    asked.report.session_id = door.session_id;
  }
  asked.turn.owner = door.owner;
  asked.turn.session_id = door.session_id;
  asked.turn.session_use = door.use;
  asked.turn.session_spec = door.spec;
  auto key = retry_key(http, door);
  if (!key) co_return co_await refuse(asked, responder, key.error());
  // From before the session is looked up: a deletion, or an expiry, either is seen by the look-up,
  // or sees the turn.
  if (!door.session_id.empty()) {
    asked.running.emplace(running_, runtime_.executor, door.session_id, cancel);
    asked.held.emplace(runner_.in_use(), runtime_.executor, door.session_id);
    asked.held->leaves_no_time();  // the turn's own does
    co_await asked.held->entered();
  }
  const auto session = co_await find_session(door);
  if (!session) co_return co_await refuse(asked, responder, session.error());

  protocol::ChatHead head;
  head.id = std::string(exchange.id_prefix()) + base::new_base62_id(runtime_.random, 24);
  head.created = runtime_.clock().wall_ms() / 1000;
  head.model = exchange.request.model.empty() ? model_.name : exchange.request.model;
  std::optional<Grace> grace;
  std::shared_ptr<TurnLog> log;
  if (*key) {
    grace.emplace(runtime_.executor, retry_grace_, cancel);
    const auto own = std::make_shared<TurnLog>(head, grace->on_abandoned());
    auto claimed = replays_.claim(**key, own, runtime_.clock().now());
    if (!claimed) co_return co_await refuse(asked, responder, claimed.error());
    log = std::move(*claimed);
    asked.repeats = log != own;
    if (asked.repeats) co_return co_await repeat(asked, **key, log, responder, gone);
    grace->give_up = [this, log, &key] { return replays_.give_up(**key, log); };
  }
  const bool exists = session->has_value();
  auto entered = exists ? enter(**session, http, asked) : apply({}, http, asked);
  if (entered.ok()) entered = co_await exchange.resolve(asked.turn, store_);
  if (!entered.ok()) {
    if (log) finish(**key, log, entered.error());
    co_return co_await refuse(asked, responder, entered.error());
  }
  // A line is free at once for what its agent asks next: a turn that nobody reads would hold it.
  if (log && asked.alone && !(*key)->by_key) grace->time = {};
  exchange.fill(asked.turn, runner_.reads_chat());
  asked.turn.completion_id = head.id;
  if (log) {
    // No time is left in which a client could come back, but it is here to be told what becomes of
    // the turn.
    base::CancelSignal left;
    const base::CancelHook end(gone, [&] {
      const bool ends = gone.reason() == net::kShuttingDown;
      (ends ? cancel : left).fire(gone.reason());
    });
    std::vector<Task<void>> both;
    both.push_back(follow(asked, **key, log, responder, left));
    both.push_back(run_for_all(asked, **key, log, cancel));
    co_await base::gather(std::move(both));
    co_return;
  }
  base::CancelHook client(gone, [&] { cancel.fire(gone.reason()); });
  const Source source = [&](TurnObserver& observer) { return run(asked, observer, cancel); };
  (void)co_await answer(asked, head, responder, source);
}

base::Status TurnEndpoint::takes(const SessionOptions& options) const {
  const std::string smallest = R"({"messages":[{"role":"user","content":"a"}]})";
  if (options.sampling.empty() && options.template_kwargs.empty()) return {};
  const auto body = with_session_values(smallest, options);
  if (!body) return body.error();
  ChatExchange exchange(model_);
  if (auto read = exchange.read(*body); !read.ok()) return read;
  TurnRequest turn;
  exchange.fill(turn, false);
  auto status = runner_.check(turn);
  if (status.ok() || status.error().field.starts_with("chat_template_kwargs")) return status;
  return std::move(status).error().within("sampling");
}

// What headers say of a turn.
base::Status TurnEndpoint::read_headers(const net::Request& http, TurnRequest& turn) {
  if (auto status = check_id_header(http.headers, "x-request-id"); !status.ok()) return status;
  if (auto status = check_id_header(http.headers, "x-thread-id"); !status.ok()) return status;
  turn.thread_id = http.headers.find("x-thread-id");
  turn.headers = headers_for_engine(http.headers, turn.request_id);
  return {};
}

Task<base::Result<std::optional<store::SessionInfo>>> TurnEndpoint::find_session(const Door& door) {
  if (door.use == store::SessionUse::kImplicit) co_return std::optional<store::SessionInfo>();
  auto session = co_await store_.session(door.session_id);
  if (!session) co_return session;
  if (session->has_value() && (*session)->spec->owner == door.owner) co_return session;
  co_return door.conversation ? no_conversation(door.session_id) : no_session(door.session_id);
}

base::Status TurnEndpoint::enter(const store::SessionInfo& session, const net::Request& http,
                                 Asked& asked) {
  auto options = options_from_text(session.spec->options);
  if (!options) return std::move(options).error().within("the session's options");
  const SessionUsed used{session, runtime_.clock().wall_ms(), asked.exchange->request.choices};
  if (auto status = check_limits(options->limits, used); !status.ok()) return status;
  if (options->limits.tokens) asked.turn.tokens_left = *options->limits.tokens - session.tokens;
  if (auto status = apply(*options, http, asked); !status.ok()) return status;
  const bool conversation = !asked.exchange->conversation().empty();
  asked.alone = conversation || options->rules.mode != SessionMode::kTree;
  if (asked.alone && !asked.running->reserve())
    return conversation ? conversation_locked() : busy(session.spec->id);
  return {};
}

base::Status TurnEndpoint::apply(const SessionOptions& options, const net::Request& http,
                                 Asked& asked) {
  asked.turn.rules = options.rules;
  if (options.rules.equality != trajectory::Equality::kExact) {
    auto spelling =
        model_.profiles.spelling(options.client_profile, http.headers.find("user-agent"));
    if (!spelling) return std::move(spelling).error().within("the session's options");
    asked.turn.spelling = *spelling;
  }
  const unsigned choices = asked.exchange->request.choices;
  if (options.rules.mode != SessionMode::kTree && choices > 1)
    return base::invalid("n", "expected 1: a session of mode " +
                                  std::string(name(options.rules.mode)) +
                                  " is one line of turns, found " + std::to_string(choices));
  const bool plain = options.sampling.empty() && options.template_kwargs.empty();
  if (plain && choices == 1) return {};
  return asked.exchange->pin(options);
}

Task<base::Result<Turns>> TurnEndpoint::run(Asked& asked, TurnObserver& observer,
                                            base::CancelSignal& cancel) {
  auto turns = co_await runner_.run(asked.turn, observer, cancel);
  // Before the client hears of the end: its next request may come at once.
  if (asked.running) asked.running->release();
  asked.deleted = !turns && turns.error().kind == base::ErrorKind::kCancelled &&
                  cancel.reason() == RunningTurns::kDeleted;
  if (asked.deleted && !asked.exchange->conversation().empty())
    co_return no_conversation(asked.turn.session_id, "conversation deleted while the turn ran");
  if (asked.deleted)
    co_return no_session(asked.turn.session_id, "session deleted while the turn was running");
  if (!turns) co_return told_end(std::move(turns).error(), cancel);
  co_return std::move(turns);
}

Task<void> TurnEndpoint::run_for_all(Asked& asked, const RetryKey& key,
                                     std::shared_ptr<TurnLog> log, base::CancelSignal& cancel) {
  // What is kept of the answer does not hang on who reads it.
  const auto form = asked.exchange->keeper(log->head);
  TurnLogWriters writers(*log, asked.turn.choices, form.get());
  auto turns = co_await run(asked, writers, cancel);
  finish(key, log, std::move(turns));
}

// Readers say for themselves what they got.
void TurnEndpoint::finish(const RetryKey& key, const std::shared_ptr<TurnLog>& log,
                          base::Result<Turns> turns) {
  const bool failed = !turns.ok();
  log->finish(std::move(turns));
  const auto now = runtime_.clock().now();
  if (failed) replays_.ended(key, log, Replays::Delivery::kFailed, now);
  if (!failed && log->readers() == 0) replays_.ended(key, log, Replays::Delivery::kNot, now);
}

// What was deleted is not given again.
Task<void> TurnEndpoint::repeat(Asked& asked, const RetryKey& key, std::shared_ptr<TurnLog> log,
                                net::Responder& responder, base::CancelSignal& gone) {
  const std::string id = log->session();
  base::Status given;
  if (!id.empty()) {
    const auto session = co_await store_.session(id);
    if (!session || !session->has_value()) given = session ? no_session(id) : session.error();
  }
  // It says the same as the first, with what that took over from what goes before.
  if (given.ok()) given = co_await asked.exchange->resolve_repeat(asked.turn, store_, log->head.id);
  if (!given.ok()) {
    {
      const TurnLog::Reader reader(log, runtime_.executor);
    }
    co_return co_await refuse(asked, responder, given.error());
  }
  // Each who waits has its own time, whatever holds up the turn: a disk has none.
  base::CancelSignal stop;
  // Where this gateway ends, its turns do, too: their end is waited for.
  base::CancelHook client(gone, [&] {
    if (gone.reason() != net::kShuttingDown) stop.fire(gone.reason());
  });
  base::Timer timer;
  timer.arm(runtime_.executor.timers(), runtime_.clock().now() + runner_.turn_timeout(),
            [&] { stop.fire(kLate); });
  co_await follow(asked, key, std::move(log), responder, stop);
}

Task<base::Result<Turns>> TurnEndpoint::read(TurnLog::Reader& reader, TurnObserver& observer,
                                             base::CancelSignal& gone) {
  auto turns = co_await reader.follow(observer, gone);
  if (turns || gone.reason() != kLate) co_return std::move(turns);
  const auto waited =
      std::chrono::duration_cast<std::chrono::seconds>(runner_.turn_timeout()).count();
  co_return base::error(base::ErrorKind::kTimeout,
                        "the turn that this request repeats did not end within " +
                            std::to_string(waited) +
                            " s; it goes on, and the same request may ask for it again");
}

Task<void> TurnEndpoint::follow(Asked& asked, const RetryKey& key, std::shared_ptr<TurnLog> log,
                                net::Responder& responder, base::CancelSignal& gone) {
  Written written = Written::kNot;
  {
    TurnLog::Reader reader(log, runtime_.executor);
    const Source source = [&](TurnObserver& observer) { return read(reader, observer, gone); };
    written = co_await answer(asked, log->head, responder, source);
  }
  if (!log->succeeded()) co_return;
  const bool whole = written == Written::kWhole;
  replays_.ended(key, log, whole ? Replays::Delivery::kWhole : Replays::Delivery::kNot,
                 runtime_.clock().now());
}

Task<TurnEndpoint::Written> TurnEndpoint::answer(Asked& asked, const protocol::ChatHead& head,
                                                 net::Responder& responder, const Source& source) {
  return asked.exchange->request.stream ? stream(asked, head, responder, source)
                                        : whole(asked, head, responder, source);
}

Task<TurnEndpoint::Written> TurnEndpoint::stream(Asked& asked, const protocol::ChatHead& head,
                                                 net::Responder& responder, const Source& source) {
  net::Headers headers;
  headers.add("Content-Type", "text/event-stream");
  headers.add("Cache-Control", "no-cache").add("X-Accel-Buffering", "no");
  const auto form = asked.exchange->answer(head);
  StreamedAnswer answer(runtime_, responder, *form, asked.exchange->request.choices, headers);
  auto turns = co_await source(answer);
  const bool begun = answer.over();
  if (turns) {
    const auto status = co_await answer.finish(*turns);
    note_answer(asked, *turns, status);
    co_return status.ok() ? Written::kWhole : Written::kNot;
  }
  if (begun) {
    note_failure(asked, turns.error());
    const base::Error told = asked.exchange->in_words(turns.error());
    (void)co_await answer.fail(told);
  } else {
    co_await refuse(asked, responder, turns.error());
  }
  co_return Written::kNot;
}

Task<TurnEndpoint::Written> TurnEndpoint::whole(Asked& asked, const protocol::ChatHead& head,
                                                net::Responder& responder, const Source& source) {
  net::Headers headers;
  headers.add("Content-Type", "application/json");
  const auto form = asked.exchange->answer(head);
  ShownAnswer answers(*form, asked.exchange->request.choices);
  auto turns = co_await source(answers);
  if (turns) {
    const std::string body = form->whole(*turns);
    const auto sent = co_await responder.send(200, headers, body);
    note_answer(asked, *turns, sent);
    co_return sent.ok() ? Written::kWhole : Written::kNot;
  }
  co_await refuse(asked, responder, turns.error());
  co_return Written::kNot;
}

}  // namespace verbatim::gateway
