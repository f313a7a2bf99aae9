#include "sim/sim_engine.h"

#include <utility>

#include "json/writer.h"
#include "sim/dynamo/face.h"
#include "sim/face.h"
#include "sim/openai/face.h"
#include "sim/sglang/face.h"
#include "sim/sim_impl.h"
#include "sim/vllm/face.h"

namespace verbatim::sim {
namespace {

using base::Task;

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
  if (options.profile.empty()) options.profile = default_profile(options.face);
  return options;
}

std::unique_ptr<Face> make_face(SimEngine::Impl& engine) {
  switch (engine.options.face) {
    case FaceKind::kVllm:
      return vllm::make_face(engine);
    case FaceKind::kDynamo:
      return dynamo::make_face(engine);
    case FaceKind::kOpenai:
      return openai::make_face(engine);
    case FaceKind::kSglang:
      break;
  }
  return sglang::make_face(engine);
}

}  // namespace

SimEngine::Impl::Impl(base::Runtime& of, SimOptions given)
    : runtime(of),
      options(completed(std::move(given))),
      sampler(*options.tokenizer),
      face(make_face(*this)),
      server(
          of,
          [this](const net::Request& request, net::Responder& answer, base::CancelSignal& gone) {
            return handle(request, answer, gone);
          },
          options.server) {}

SimEngine::Impl::~Impl() = default;

Task<void> SimEngine::Impl::handle(const net::Request& request, net::Responder& answer,
                                   base::CancelSignal& gone) {
  if (request.path != "/sim/stats") return face->handle(request, answer, gone);
  return send_stats(answer);
}

Task<void> SimEngine::Impl::send_stats(net::Responder& answer) {
  const std::string body = stats_json();
  (void)co_await answer.send(200, "application/json", body);
}

Task<void> SimEngine::Impl::answer(const GenerateCall& call, const Plan& plan, Answer& content,
                                   net::Responder& responder, base::CancelSignal& gone) {
  Registered entry(*this, call.rid);
  Running& self = entry.running();
  const base::CancelHook hook(gone, [this, &self] {
    if (self.stop.fired()) return;
    ++stats.aborted_by_close;
    self.stop.fire("the client hung up");
  });
  self.log = log(call, plan);
  Generation generation(*this, call, plan, content, self, responder);
  co_await generation.run();
  if (self.log == nullptr) co_return;
  self.log->stopped = self.stop.fired();
  self.log->ended = true;
  self.log->end = runtime.clock().now();
}

std::string SimEngine::Impl::hex(std::size_t digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < digits; ++i, bits >>= 4) {
    if (i % 16 == 0) bits = mix(options.seed ^ mix(++drawn_));
    text += kDigits[bits & 15];
  }
  return text;
}

std::int64_t SimEngine::Impl::unix_time() const {
  return runtime.clock().wall_ms() / 1000;
}

Served* SimEngine::Impl::log(const GenerateCall& call, const Plan& plan) {
  if (!options.keeps_log) return nullptr;
  Served& entry = served.emplace_back();
  entry.rid = call.rid;
  entry.seed = call.seed;
  entry.prompt = call.prompt;
  entry.ids = plan.done.ids;
  entry.logprobs = plan.done.logprobs;
  entry.weights = plan.weight_version.value_or(options.weight_version);
  entry.fault = plan.fault;
  entry.fault_fired = plan.fault == Fault::kIdsPastStop;
  return &entry;
}

void SimEngine::Impl::abort(std::string_view rid, RidMatch match) {
  for (Running& each : running) {
    const bool meant = match == RidMatch::kPrefix ? each.rid.starts_with(rid) : each.rid == rid;
    if (each.stop.fired() || !meant) continue;
    ++stats.aborted_by_id;
    each.by_id = true;
    each.stop.fire("aborted by request");
  }
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
  impl_->options.healthy = healthy;
}

void SimEngine::set_hanging(bool hangs) {
  impl_->options.hangs = hangs;
}

void SimEngine::set_weight_version(std::string version) {
  impl_->options.weight_version = std::move(version);
}

}  // namespace verbatim::sim
