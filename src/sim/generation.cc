#include <algorithm>
#include <utility>

#include "base/pause.h"
#include "net/sse.h"
#include "sim/sim_impl.h"

namespace verbatim::sim {
namespace {

constexpr base::Duration kByteTime = std::chrono::milliseconds(1);
constexpr std::string_view kDied = "the worker has died";
// As Dynamo said it before ai-dynamo/dynamo#8430.
constexpr std::string_view kBareError = "event: error\n: the worker has died\n\n";

struct Refusal {
  Fault fault;
  int status;
  const char* message;
};
constexpr Refusal kRefusals[] = {
    {Fault::kHttp400, 400, "The request can't be served."},
    {Fault::kHttp404, 404, "Model not found"},
    {Fault::kHttp413, 413, "The request is too large."},
    {Fault::kHttp429, 429, "Too many requests."},
    {Fault::kHttp500, 500, "Internal error."},
    {Fault::kHttp503, 503, "No worker is free."},
    {Fault::kHttp529, 529, "Service temporarily overloaded"},
};

net::Headers headers_of(const HttpReply& reply) {
  net::Headers headers;
  for (const auto& [field, value] : reply.headers) headers.add(field, value);
  if (!headers.has("content-type")) headers.add("Content-Type", "application/json");
  return headers;
}

std::string comment() {
  std::string out;
  net::append_sse_comment(out, "ping");
  return out;
}

}  // namespace

std::string sse(std::string_view data) {
  std::string out;
  net::append_sse_data(out, data);
  return out;
}

std::string Answer::last_events() const {
  return sse("[DONE]");
}

Generation::Generation(SimEngine::Impl& engine, const GenerateCall& call, const Plan& plan,
                       Answer& content, Running& running, net::Responder& answer)
    : engine_(engine),
      call_(call),
      plan_(plan),
      content_(content),
      running_(running),
      answer_(answer),
      random_(mix(engine.options.seed + plan_.fault_at + call.prompt.size())) {}

Part Generation::part(std::size_t from, std::size_t to, const Finish* finish) {
  const std::string& now =
      plan_.weight_version ? *plan_.weight_version : engine_.options.weight_version;
  if (weights_.empty() || weights_.back().version != now) weights_.push_back({now, from});
  return {from, to, finish, weights_};
}

// g++ 12 miscompiles coroutines that await a Pause made within a condition: it is always a
// variable.
base::Task<bool> Generation::pause(base::Duration time) {
  base::Pause waiting(engine_.runtime.executor, time, running_.stop);
  co_return co_await waiting;
}

base::Task<void> Generation::until_stopped() {
  base::Pause waiting(engine_.runtime.executor, std::nullopt, running_.stop);
  (void)co_await waiting;
}

base::Task<void> Generation::run() {
  if (engine_.options.hangs) co_await until_stopped();
  const bool on = co_await pause(plan_.delay);
  if (!on) {
    if (running_.by_id) co_await end_aborted(0);
    co_return;
  }
  if (co_await answered_otherwise()) co_return;
  if (plan_.fault && content_.apply(*plan_.fault, plan_.fault_at)) fired();
  if (call_.stream) {
    co_await stream();
  } else {
    co_await whole();
  }
}

base::Task<void> Generation::send(const HttpReply& reply) {
  const net::Headers headers = headers_of(reply);
  (void)co_await answer_.send(reply.status, headers, reply.body);
}

// An answer that is no completion at all.
base::Task<bool> Generation::answered_otherwise() {
  if (plan_.http) {
    co_await send(*plan_.http);
    co_return true;
  }
  if (!plan_.fault) co_return false;
  for (const auto& refusal : kRefusals) {
    if (refusal.fault != *plan_.fault) continue;
    fired();
    HttpReply reply = content_.refusal(refusal.status, refusal.message);
    reply.headers.emplace_back("X-Request-Id", "sim-" + call_.rid);
    if (refusal.status == 429) reply.headers.emplace_back("Retry-After", "3");
    co_await send(reply);
    co_return true;
  }
  const bool closed = has(Fault::kClosed), html = has(Fault::kHtmlBody);
  if (!closed && !html && !has(Fault::kErrorBody)) co_return false;
  fired();
  if (closed) {
    answer_.fail();
  } else if (html) {
    (void)co_await answer_.send(200, "text/html", "<html><body>Welcome to the proxy</body></html>");
  } else {
    const HttpReply reply = content_.refusal_in_200(kDied);
    co_await send(reply);
  }
  co_return true;
}

void Generation::fired() {
  engine_.fired(*plan_.fault);
  if (running_.log != nullptr) running_.log->fault_fired = true;
}

void Generation::note_sent(std::size_t ids, bool last) {
  if (running_.log == nullptr) return;
  running_.log->sent = ids;
  running_.log->whole = last;
  running_.log->last_sent = engine_.runtime.clock().now();
}

bool Generation::strikes(Fault fault, std::size_t next_end) const {
  return has(fault) && (next_end > plan_.fault_at || next_end == content_.size());
}

std::size_t Generation::event_size(std::size_t left) {
  const std::size_t number = events_++;
  if (call_.stream_interval > 0)
    return std::min<std::size_t>(left, number == 0 ? 1 : call_.stream_interval);
  const std::size_t wanted =
      number < plan_.events.size()
          ? plan_.events[number]
          : 1 + random_.below(std::max<std::size_t>(1, engine_.options.ids_per_event));
  return std::min(left, wanted);
}

base::Task<base::Status> Generation::put(std::string_view bytes) {
  if (!has(Fault::kSplitBytes) && !has(Fault::kSlowBody)) co_return co_await answer_.write(bytes);
  for (const char& byte : bytes) {
    auto written = co_await answer_.write(std::string_view(&byte, 1));
    if (!written.ok()) co_return written;
    if (!has(Fault::kSlowBody)) continue;
    const bool on = co_await pause(kByteTime);
    if (!on && !running_.by_id)
      co_return base::error(base::ErrorKind::kCancelled, "the client hung up");
  }
  co_return base::Status();
}

base::Task<bool> Generation::struck(std::size_t at, std::size_t end_at) {
  const bool stalls = strikes(Fault::kStall, end_at), cut = strikes(Fault::kCutStream, end_at);
  const bool aborts = strikes(Fault::kAbort, end_at), fails = strikes(Fault::kErrorEvent, end_at);
  const bool fails_bare = strikes(Fault::kBareErrorEvent, end_at);
  if (!stalls && !cut && !aborts && !fails && !fails_bare) co_return false;
  fired();
  if (fails_bare) {
    if ((co_await put(kBareError)).ok()) (void)co_await answer_.end();
    co_return true;
  }
  if (aborts) {
    co_await end_aborted(at);
    co_return true;
  }
  if (fails) {
    const std::string event = content_.error_event(500, kDied);
    if ((co_await put(event)).ok()) co_await end();
    co_return true;
  }
  if (at == 0) (void)co_await answer_.flush_head();
  if (cut) {
    answer_.fail();
    co_return true;
  }
  co_await until_stopped();
  if (running_.by_id) co_await end_aborted(at);
  co_return true;
}

base::Task<void> Generation::stream() {
  (void)answer_.begin_stream(200, content_.stream_type());
  if (has(Fault::kSplitBytes) || has(Fault::kSlowBody) || has(Fault::kComments) ||
      has(Fault::kExtraEvent))
    fired();
  std::size_t at = 0;
  do {
    const std::size_t n = event_size(content_.size() - at);
    const bool on = co_await pause(plan_.token_delay * n);
    if (!on) break;
    if (co_await struck(at, at + n)) co_return;
    const bool last = at + n == content_.size();
    std::string events = has(Fault::kComments) ? comment() : std::string();
    events += content_.events(part(at, at + n, last ? &content_.finish() : nullptr));
    if (last && has(Fault::kExtraEvent))
      events += content_.events(part(at + n, at + n, &content_.finish()));
    note_sent(at + n, last);
    if (!(co_await put(events)).ok()) co_return;
    engine_.stats.completion_tokens += n * call_.samples;
    at += n;
  } while (at < content_.size());
  if (running_.stop.fired()) {
    if (running_.by_id) co_await end_aborted(at);
    co_return;
  }
  ++engine_.stats.finished;
  const std::string closing = content_.closing_events();
  if (!closing.empty() && !(co_await put(closing)).ok()) co_return;
  co_await end();
}

// The end of a stream.
base::Task<void> Generation::end() {
  if (has(Fault::kNoDone)) {
    fired();
    (void)co_await answer_.end();
    co_return;
  }
  const std::string done = content_.last_events();
  if (!done.empty() && !(co_await put(done)).ok()) co_return;
  (void)co_await answer_.end();
}

// The end of an answer whose first `at` ids are out when the engine gives it up.
base::Task<void> Generation::end_aborted(std::size_t at) {
  const Finish aborted{"abort", {}, {}};
  if (!call_.stream) {
    const HttpReply reply = content_.whole_aborted(part(0, at, &aborted));
    co_await send(reply);
    co_return;
  }
  if (!answer_.begun()) (void)answer_.begin_stream(200, content_.stream_type());
  const std::string events = content_.aborted_events(part(at, at, &aborted));
  if (events.empty() || (co_await put(events)).ok()) co_await end();
}

base::Task<void> Generation::whole() {
  if (has(Fault::kErrorEvent)) {
    fired();
    const HttpReply reply = content_.refusal_in_200(kDied);
    co_await send(reply);
    co_return;
  }
  for (std::size_t at = 0; at < content_.size(); ++at) {
    bool goes_on = co_await pause(plan_.token_delay);
    (void)part(at, at, nullptr);
    if (goes_on && strikes(Fault::kStall, at + 1)) {
      fired();
      co_await until_stopped();
      goes_on = false;
    }
    const bool aborts = goes_on && strikes(Fault::kAbort, at + 1);
    if (aborts) fired();
    if (goes_on && !aborts) continue;
    if (aborts || running_.by_id) co_await end_aborted(at);
    co_return;
  }
  HttpReply reply = content_.whole(part(0, content_.size(), &content_.finish()));
  engine_.stats.completion_tokens += content_.size() * call_.samples;
  co_await put_whole(std::move(reply));
}

base::Task<void> Generation::put_whole(HttpReply reply) {
  const bool cut = has(Fault::kCutStream);
  const net::Headers headers = headers_of(reply);
  if (!cut && !has(Fault::kSplitBytes) && !has(Fault::kSlowBody)) {
    note_sent(content_.size(), true);
    if ((co_await answer_.send(reply.status, headers, reply.body)).ok()) ++engine_.stats.finished;
    co_return;
  }
  fired();
  (void)answer_.begin_stream(reply.status, headers);
  if (cut) reply.body.resize(reply.body.size() / 2);
  if (!(co_await put(reply.body)).ok()) co_return;
  if (cut) {
    answer_.fail();
    co_return;
  }
  note_sent(content_.size(), true);
  (void)co_await answer_.end();
  ++engine_.stats.finished;
}

}  // namespace verbatim::sim
