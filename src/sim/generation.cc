#include <algorithm>
#include <utility>

#include "base/pause.h"
#include "json/writer.h"
#include "net/sse.h"
#include "sim/sim_impl.h"

namespace verbatim::sim {
namespace {

constexpr const char* kJson = "application/json";
constexpr base::Duration kByteTime = std::chrono::milliseconds(1);

struct Refusal {
  Fault fault;
  int status;
  const char* message;
};
constexpr Refusal kRefusals[] = {
    {Fault::kHttp400, 400, "The request can't be served."},
    {Fault::kHttp429, 429, "Too many requests."},
    {Fault::kHttp500, 500, "Internal error."},
    {Fault::kHttp503, 503, "No worker is free."},
};

std::string sse(std::string_view data) {
  std::string out;
  net::append_sse_data(out, data);
  return out;
}

}  // namespace

Generation::Generation(SimEngine::Impl& engine, const GenerateCall& call, Plan plan,
                       Running& running, net::Responder& answer)
    : engine_(engine),
      call_(call),
      plan_(std::move(plan)),
      running_(running),
      answer_(answer),
      content_(*engine.options.tokenizer, call, plan_.done,
               {engine.options.streaming, engine.options.seed, engine.options.vocab_size}),
      random_(mix(engine.options.seed + plan_.fault_at + call.prompt.size())) {}

std::string_view Generation::weights() const {
  return plan_.weight_version ? *plan_.weight_version : engine_.options.weight_version;
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

// An answer that is no completion at all.
base::Task<bool> Generation::answered_otherwise() {
  if (plan_.http) {
    net::Headers headers;
    for (const auto& [field, value] : plan_.http->headers) headers.add(field, value);
    if (!headers.has("content-type")) headers.add("Content-Type", kJson);
    (void)co_await answer_.send(plan_.http->status, headers, plan_.http->body);
    co_return true;
  }
  if (!plan_.fault) co_return false;
  for (const auto& refusal : kRefusals) {
    if (refusal.fault != *plan_.fault) continue;
    fired();
    net::Headers headers;
    headers.add("Content-Type", kJson).add("X-Request-Id", "sim-" + call_.rid);
    if (refusal.status == 429) headers.add("Retry-After", "3");
    const std::string body = error_json(refusal.message);
    (void)co_await answer_.send(refusal.status, headers, body);
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
    const std::string body = error_json("the worker has died");
    (void)co_await answer_.send(200, kJson, body);
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

base::Task<void> Generation::stream() {
  (void)answer_.begin_stream(200, "text/event-stream; charset=utf-8");
  if (has(Fault::kSplitBytes) || has(Fault::kSlowBody)) fired();
  std::size_t at = 0;
  do {
    const std::size_t n = event_size(content_.size() - at);
    const bool on = co_await pause(plan_.token_delay * n);
    if (!on) break;
    if (strikes(Fault::kStall, at + n)) {
      fired();
      if (at == 0) (void)co_await answer_.flush_head();
      co_await until_stopped();
      break;
    }
    if (strikes(Fault::kCutStream, at + n)) {
      fired();
      if (at == 0) (void)co_await answer_.flush_head();
      answer_.fail();
      co_return;
    }
    if (strikes(Fault::kAbort, at + n)) {
      fired();
      co_await end_aborted(at);
      co_return;
    }
    if (strikes(Fault::kErrorEvent, at + n)) {
      fired();
      const std::string event = sse(error_json("the worker has died"));
      if ((co_await put(event)).ok()) co_await end();
      co_return;
    }
    const bool last = at + n == content_.size();
    const std::string event =
        sse(content_.event(at, at + n, last ? &content_.finish() : nullptr, weights()));
    note_sent(at + n, last);
    if (!(co_await put(event)).ok()) co_return;
    engine_.stats.completion_tokens += n;
    at += n;
  } while (at < content_.size());
  if (running_.stop.fired()) {
    if (running_.by_id) co_await end_aborted(at);
    co_return;
  }
  ++engine_.stats.finished;
  co_await end();
}

// The end of a stream.
base::Task<void> Generation::end() {
  if (has(Fault::kNoDone)) {
    fired();
    (void)co_await answer_.end();
    co_return;
  }
  const std::string done = sse("[DONE]");
  if (!(co_await put(done)).ok()) co_return;
  (void)co_await answer_.end();
}

// The end of an answer whose first `at` ids are out when the engine gives it up.
base::Task<void> Generation::end_aborted(std::size_t at) {
  const Finish aborted{"abort", {}, {}};
  const std::string event = content_.event(call_.stream ? at : 0, at, &aborted, weights());
  if (!call_.stream) {
    (void)co_await answer_.send(200, kJson, event);
    co_return;
  }
  if (!answer_.begun()) (void)answer_.begin_stream(200, "text/event-stream; charset=utf-8");
  const std::string framed = sse(event);
  if ((co_await put(framed)).ok()) co_await end();
}

base::Task<void> Generation::whole() {
  if (has(Fault::kErrorEvent)) {
    fired();
    const std::string body = error_json("the worker has died");
    (void)co_await answer_.send(200, kJson, body);
    co_return;
  }
  for (std::size_t at = 0; at < content_.size(); ++at) {
    bool goes_on = co_await pause(plan_.token_delay);
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
  std::string body = content_.event(0, content_.size(), &content_.finish(), weights());
  if (call_.samples > 1) {
    std::string list = "[" + body;
    for (std::uint64_t i = 1; i < call_.samples; ++i) list.append(",").append(body);
    body = list + "]";
  }
  engine_.stats.completion_tokens += content_.size() * call_.samples;
  co_await put_whole(std::move(body));
}

base::Task<void> Generation::put_whole(std::string body) {
  const bool cut = has(Fault::kCutStream);
  if (!cut && !has(Fault::kSplitBytes) && !has(Fault::kSlowBody)) {
    note_sent(content_.size(), true);
    if ((co_await answer_.send(200, kJson, body)).ok()) ++engine_.stats.finished;
    co_return;
  }
  fired();
  (void)answer_.begin_stream(200, kJson);
  if (cut) body.resize(body.size() / 2);
  if (!(co_await put(body)).ok()) co_return;
  if (cut) {
    answer_.fail();
    co_return;
  }
  note_sent(content_.size(), true);
  (void)co_await answer_.end();
  ++engine_.stats.finished;
}

}  // namespace verbatim::sim
