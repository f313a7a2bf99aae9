#include "sim/sim_engine.h"

#include <utility>

#include "json/value.h"
#include "json/writer.h"
#include "sim/sim_impl.h"

namespace verbatim::sim {
namespace {

using base::Task;

constexpr const char* kJson = "application/json";

// Ends the entry of a request in the list of running ones, however its task ends.
class Registered {
 public:
  Registered(SimEngine::Impl& engine, std::string rid) : engine_(engine) {
    engine_.running.emplace_front().rid = std::move(rid);
    at_ = engine_.running.begin();
    ++engine_.stats.running;
  }
  Registered(const Registered&) = delete;
  ~Registered() {
    engine_.running.erase(at_);
    --engine_.stats.running;
  }
  [[nodiscard]] Running& running() { return *at_; }

 private:
  SimEngine::Impl& engine_;
  std::list<Running>::iterator at_;
};

SimOptions completed(SimOptions options) {
  if (options.vocab_size == 0) options.vocab_size = options.tokenizer->vocab_size();
  return options;
}

}  // namespace

std::optional<Face> face_named(std::string_view text) {
  return text == "sglang" ? std::optional(Face::kSglang) : std::nullopt;
}

SimEngine::Impl::Impl(base::Runtime& of, SimOptions given)
    : runtime(of),
      options(completed(std::move(given))),
      sampler(*options.tokenizer),
      server(
          of,
          [this](const net::Request& request, net::Responder& answer, base::CancelSignal& gone) {
            return handle(request, answer, gone);
          },
          options.server) {}

Task<void> SimEngine::Impl::handle(const net::Request& request, net::Responder& answer,
                                   base::CancelSignal& gone) {
  const bool post = request.method == "POST" || request.method == "PUT";
  if (post && request.path == "/generate") return handle_generate(request, answer, gone);
  if (post && request.path == "/abort_request") return handle_abort(request, answer);
  if (post && request.path == "/update_weight_version") return handle_weights(request, answer);
  return handle_get(request, answer);
}

Task<void> SimEngine::Impl::handle_generate(const net::Request& request, net::Responder& answer,
                                            base::CancelSignal& gone) {
  ++stats.requests;
  const auto call = read_generate(request.body, options.vocab_size);
  const std::string refusal = call.ok() ? why_refused(*call) : call.error().message;
  if (!refusal.empty()) {
    ++stats.refused;
    const std::string body = error_json(refusal);
    (void)co_await answer.send(400, kJson, body);
    co_return;
  }
  stats.prompt_tokens += call->prompt.size();
  Registered entry(*this, call->rid);
  Running& self = entry.running();
  const base::CancelHook hook(gone, [this, &self] {
    if (self.stop.fired()) return;
    ++stats.aborted_by_close;
    self.stop.fire("the client hung up");
  });
  Plan planned = plan(*call);
  self.log = log(*call, planned);
  Generation generation(*this, *call, std::move(planned), self, answer);
  co_await generation.run();
  if (self.log == nullptr) co_return;
  self.log->stopped = self.stop.fired();
  self.log->ended = true;
  self.log->end = runtime.clock().now();
}

Served* SimEngine::Impl::log(const GenerateCall& call, const Plan& plan) {
  if (!options.keeps_log) return nullptr;
  Served& entry = served.emplace_back();
  entry.rid = call.rid;
  entry.seed = call.seed;
  entry.prompt = call.prompt;
  entry.ids = plan.done.ids;
  entry.logprobs = plan.done.logprobs;
  entry.fault = plan.fault;
  entry.fault_fired = plan.fault == Fault::kIdsPastStop;
  return &entry;
}

void SimEngine::Impl::abort(std::string_view rid_prefix) {
  for (Running& each : running) {
    if (each.stop.fired() || !each.rid.starts_with(rid_prefix)) continue;
    ++stats.aborted_by_id;
    each.by_id = true;
    each.stop.fire("aborted by request");
  }
}

Task<void> SimEngine::Impl::handle_abort(const net::Request& request, net::Responder& answer) {
  ++stats.abort_calls;
  const auto call = read_abort(request.body);
  if (!call.ok()) {
    const std::string body = error_json(call.error().message);
    (void)co_await answer.send(400, kJson, body);
    co_return;
  }
  abort(call->all ? std::string_view() : std::string_view(call->rid));
  (void)co_await answer.send(200, "text/plain", "");
}

Task<void> SimEngine::Impl::handle_weights(const net::Request& request, net::Responder& answer) {
  const auto body = json::Document::parse(std::string(request.body));
  const auto version =
      body.ok() && body->root().is_object() ? body->root().get("new_version") : std::nullopt;
  if (!version || !version->is_string()) {
    const std::string error = error_json("new_version: expected a string");
    (void)co_await answer.send(400, kJson, error);
    co_return;
  }
  const auto aborts = body->root().get("abort_all_requests");
  if (!aborts || !aborts->is_bool() || aborts->boolean()) abort("");
  options.weight_version = version->string();
  json::Writer w;
  w.begin_object().field("success", true).field("message", "updated");
  w.field("new_version", options.weight_version).end_object();
  (void)co_await answer.send(200, kJson, w.text());
}

Task<void> SimEngine::Impl::handle_get(const net::Request& request, net::Responder& answer) {
  const auto path = request.path;
  int status = 200;
  std::string body;
  std::string_view type = kJson;
  if (path == "/health" || path == "/health_generate") {
    status = healthy ? 200 : 503;
  } else if (path == "/v1/models") {
    body = models_json();
  } else if (path == "/model_info" || path == "/get_model_info") {
    body = model_info_json();
  } else if (path == "/server_info" || path == "/get_server_info") {
    body = server_info_json();
  } else if (path == "/sim/stats") {
    body = stats_json();
  } else if (path == "/flush_cache") {
    status = running.empty() ? 200 : 400;
    body = running.empty() ? "Cache flushed.\n" : "Requests are running.\n";
    type = "text/plain";
  } else {
    status = 404;
    body = R"({"detail":"Not Found"})";
  }
  (void)co_await answer.send(status, type, body);
}

std::string SimEngine::Impl::models_json() const {
  json::Writer w;
  w.begin_object().field("object", "list").key("data").begin_array().begin_object();
  w.field("id", options.model).field("object", "model").field("created", 0);
  w.field("owned_by", "sglang").field("root", options.model);
  w.field("max_model_len", options.max_model_len).end_object().end_array().end_object();
  return w.take();
}

std::string SimEngine::Impl::model_info_json() const {
  json::Writer w;
  w.begin_object().field("model_path", options.model).field("tokenizer_path", options.model);
  w.field("is_generation", true).field("weight_version", options.weight_version).end_object();
  return w.take();
}

std::string SimEngine::Impl::server_info_json() const {
  const bool incremental = options.streaming != Streaming::kCumulative;
  json::Writer w;
  w.begin_object().field("model_path", options.model).field("version", "0.5.16");
  w.field("context_length", options.max_model_len);
  w.field("max_req_input_len", options.max_model_len - 1);
  w.field("incremental_streaming_output", incremental).end_object();
  return w.take();
}

std::string SimEngine::Impl::stats_json() const {
  json::Writer w;
  w.begin_object().field("requests", stats.requests).field("running", stats.running);
  w.field("finished", stats.finished).field("refused", stats.refused);
  w.field("abort_calls", stats.abort_calls).field("aborted_by_id", stats.aborted_by_id);
  w.field("aborted_by_close", stats.aborted_by_close);
  w.field("prompt_tokens", stats.prompt_tokens);
  w.field("completion_tokens", stats.completion_tokens).key("faults").begin_object();
  for (std::size_t i = 0; i < kFaults; ++i) {
    if (stats.faults[i] > 0) w.field(name(static_cast<Fault>(i)), stats.faults[i]);
  }
  w.end_object().end_object();
  return w.take();
}

SimEngine::SimEngine(base::Runtime& runtime, SimOptions options)
    : impl_(std::make_unique<Impl>(runtime, std::move(options))) {}

SimEngine::~SimEngine() = default;

base::Result<std::uint16_t> SimEngine::start(const std::string& host, std::uint16_t port) {
  return impl_->server.start(host, port);
}

Task<void> SimEngine::stop() {
  co_await impl_->server.stop();
}

const SimStats& SimEngine::stats() const {
  return impl_->stats;
}

const std::deque<Served>& SimEngine::served() const {
  return impl_->served;
}

void SimEngine::set_healthy(bool healthy) {
  impl_->healthy = healthy;
}

void SimEngine::set_weight_version(std::string version) {
  impl_->options.weight_version = std::move(version);
}

}  // namespace verbatim::sim
