#include "sim/vllm/face.h"

#include <array>
#include <utility>

#include "json/value.h"
#include "json/writer.h"
#include "sim/openai/conversations.h"
#include "sim/vllm/completions_answer.h"
#include "sim/vllm/derender.h"
#include "sim/vllm/dialect.h"
#include "sim/vllm/errors.h"
#include "sim/vllm/generate_answer.h"
#include "sim/vllm/render.h"
#include "sim/vllm/request.h"

namespace verbatim::sim::vllm {
namespace {

using base::Task;

constexpr const char* kJson = "application/json";
constexpr std::string_view kGeneratePrefix = "generate-tokens-";

class VllmFace final : public Face {
 public:
  explicit VllmFace(SimEngine::Impl& engine)
      : Face(engine), profile_(*profile_named(engine.options.profile)) {}

  Task<void> handle(const net::Request& request, net::Responder& answer,
                    base::CancelSignal& gone) override;

 private:
  using Handler = Task<void> (VllmFace::*)(const net::Request&, net::Responder&,
                                           base::CancelSignal&);
  struct Route {
    std::string_view method;
    std::string_view path;
    Handler handler;
    bool gated = false;  // served with the token routes only
  };
  static const std::array<Route, 13> kRoutes;

  Task<void> generate(const net::Request& request, net::Responder& answer,
                      base::CancelSignal& gone);
  Task<void> completions(const net::Request& request, net::Responder& answer,
                         base::CancelSignal& gone);
  Task<void> render(const net::Request& request, net::Responder& answer, base::CancelSignal& gone);
  Task<void> derender(const net::Request& request, net::Responder& answer,
                      base::CancelSignal& gone);
  Task<void> abort(const net::Request& request, net::Responder& answer, base::CancelSignal& gone);
  Task<void> set_weights(const net::Request& request, net::Responder& answer,
                         base::CancelSignal& gone);
  Task<void> weights(const net::Request& request, net::Responder& answer, base::CancelSignal& gone);
  Task<void> reset_cache(const net::Request& request, net::Responder& answer,
                         base::CancelSignal& gone);
  Task<void> models(const net::Request& request, net::Responder& answer, base::CancelSignal& gone);
  Task<void> version(const net::Request& request, net::Responder& answer, base::CancelSignal& gone);
  Task<void> health(const net::Request& request, net::Responder& answer, base::CancelSignal& gone);

  // The answer that `error` holds; counted as refused.
  Task<void> refuse(base::Error error, net::Responder& answer);
  // As `refuse`; a stream hears of what the engine finds by an event behind 200.
  Task<void> refuse_generate(base::Error error, bool stream, net::Responder& answer);
  [[nodiscard]] bool serves(const Route& route) const;
  [[nodiscard]] ServerFacts facts() const;
  [[nodiscard]] AnswerSetup setup(std::string id) const;
  // X-Request-Id goes before the body's request_id; without both, one is drawn.
  void name_request(const net::Request& request, GenerateCall& call) const;

  const Profile& profile_;
};

const std::array<VllmFace::Route, 13> VllmFace::kRoutes = {
    Route{"POST", "/inference/v1/generate", &VllmFace::generate, true},
    Route{"POST", "/v1/chat/completions/render", &VllmFace::render, true},
    Route{"POST", "/v1/chat/completions/derender", &VllmFace::derender, true},
    Route{"POST", "/v1/completions", &VllmFace::completions},
    Route{"POST", "/inference/v1/abort_requests", &VllmFace::abort, true},
    Route{"POST", "/update_weight_version", &VllmFace::set_weights},
    Route{"GET", "/weight_info", &VllmFace::weights},
    Route{"POST", "/reset_prefix_cache", &VllmFace::reset_cache},
    Route{"GET", "/v1/models", &VllmFace::models},
    Route{"GET", "/version", &VllmFace::version},
    Route{"GET", "/health", &VllmFace::health},
    Route{"GET", "/ping", &VllmFace::health},
    Route{"POST", "/ping", &VllmFace::health},
};

bool VllmFace::serves(const Route& route) const {
  if (route.path == "/inference/v1/abort_requests" && !profile_.aborts_by_id) return false;
  return !route.gated || !profile_.gated || engine_.options.token_routes;
}

// vLLM takes JSON only, and says so in the words of its own checks.
std::optional<base::Error> wrong_content_type(const net::Request& request) {
  const auto type = request.headers.find("content-type");
  if (request.method != "POST" || request.body.empty() || type.starts_with(kJson))
    return std::nullopt;
  return refused(
      400, "Bad Request", std::nullopt,
      "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed");
}

Task<void> VllmFace::handle(const net::Request& request, net::Responder& answer,
                            base::CancelSignal& gone) {
  const auto wire = openai::wire_at(request.path, engine_.options);
  if (wire && request.method == "POST") {
    if (auto error = wrong_content_type(request)) return refuse(std::move(*error), answer);
    return openai::converse(engine_, *wire, dialect(), request, answer, gone);
  }
  bool known = false;
  for (const auto& route : kRoutes) {
    if (route.path != request.path || !serves(route)) continue;
    known = true;
    if (route.method != request.method) continue;
    if (auto error = wrong_content_type(request)) return refuse(std::move(*error), answer);
    return (this->*route.handler)(request, answer, gone);
  }
  return refuse(
      known ? framework_error(405, "Method Not Allowed") : framework_error(404, "Not Found"),
      answer);
}

Task<void> VllmFace::refuse(base::Error error, net::Responder& answer) {
  ++engine_.stats.refused;
  const auto& upstream = *error.upstream;
  (void)co_await answer.send(upstream.status, kJson, upstream.body);
}

Task<void> VllmFace::refuse_generate(base::Error error, bool stream, net::Responder& answer) {
  if (!stream || stage_of(error) == Stage::kRequest) {
    co_await refuse(std::move(error), answer);
    co_return;
  }
  ++engine_.stats.refused;
  const std::string frames =
      error_event(error.upstream->status, error_type(error.upstream->status), error.message) +
      sse("[DONE]");
  (void)answer.begin_stream(200, "text/event-stream; charset=utf-8");
  (void)co_await answer.end(frames);
}

ServerFacts VllmFace::facts() const {
  const auto& options = engine_.options;
  return {profile_, options.model, options.vocab_size, options.max_model_len, *options.tokenizer};
}

AnswerSetup VllmFace::setup(std::string id) const {
  const auto& options = engine_.options;
  return {.profile = profile_,
          .tokenizer = *options.tokenizer,
          .model = options.model,
          .id = std::move(id),
          .unrelated_id = engine_.hex(32),
          .created = engine_.unix_time(),
          .stop_id = engine_.stop_id(),
          .seed = options.seed};
}

void VllmFace::name_request(const net::Request& request, GenerateCall& call) const {
  const auto header = request.headers.find("x-request-id");
  if (!header.empty()) call.rid = header;
  if (call.rid.empty()) call.rid = engine_.hex(16);
}

// The one rank there is; text that is no number is ignored.
std::optional<base::Error> wrong_rank(const net::Request& request) {
  const auto rank = request.headers.find("x-data-parallel-rank");
  if (rank.empty() || rank == "0" || rank.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  return bad_request(std::nullopt,
                     "data_parallel_rank " + std::string(rank) + " is out of range [0, 1).",
                     Stage::kEngine);
}

Task<void> VllmFace::generate(const net::Request& request, net::Responder& answer,
                              base::CancelSignal& gone) {
  ++engine_.stats.requests;
  auto read = read_generate(request.body, facts());
  if (!read.ok()) {
    co_await refuse_generate(read.error(), asks_for_stream(request.body), answer);
    co_return;
  }
  if (auto error = wrong_rank(request)) {
    co_await refuse_generate(*error, read->call.stream, answer);
    co_return;
  }
  name_request(request, read->call);
  const Plan plan = engine_.plan(read->call);
  GenerateAnswer content(
      Spelling(*engine_.options.tokenizer, read->call, plan.done, engine_.options.vocab_size),
      *read, setup(std::string(kGeneratePrefix) + read->call.rid));
  co_await engine_.answer(read->call, plan, content, answer, gone);
}

Task<void> VllmFace::completions(const net::Request& request, net::Responder& answer,
                                 base::CancelSignal& gone) {
  ++engine_.stats.requests;
  auto read = read_completions(request.body, facts());
  if (!read.ok()) {
    co_await refuse_generate(read.error(), asks_for_stream(request.body), answer);
    co_return;
  }
  GenerateCall& call = read->call;
  name_request(request, call);
  call.rid.insert(0, "cmpl-");
  const Plan plan = engine_.plan(call);
  CompletionsAnswer content(
      Spelling(*engine_.options.tokenizer, call, plan.done, engine_.options.vocab_size), *read,
      setup(call.rid));
  co_await engine_.answer(call, plan, content, answer, gone);
}

Task<void> VllmFace::render(const net::Request& request, net::Responder& answer,
                            base::CancelSignal&) {
  const auto rendered =
      render_chat(request.body, request.headers.find("x-request-id"), engine_.hex(16), facts());
  if (!rendered.ok()) {
    co_await refuse(rendered.error(), answer);
    co_return;
  }
  (void)co_await answer.send(200, kJson, *rendered);
}

Task<void> VllmFace::derender(const net::Request& request, net::Responder& answer,
                              base::CancelSignal&) {
  const DerenderSetup setup{engine_.stop_id(), engine_.unix_time(),
                            [this] { return engine_.hex(16); }};
  const auto derendered = derender_chat(request.body, facts(), setup);
  if (!derendered.ok()) {
    co_await refuse(derendered.error(), answer);
    co_return;
  }
  (void)co_await answer.send(200, kJson, *derendered);
}

Task<void> VllmFace::abort(const net::Request& request, net::Responder& answer,
                           base::CancelSignal&) {
  ++engine_.stats.abort_calls;
  const auto ids = read_abort(request.body);
  if (!ids.ok()) {
    co_await refuse(ids.error(), answer);
    co_return;
  }
  for (const std::string_view id : *ids) {
    if (!id.starts_with(kGeneratePrefix)) continue;
    engine_.abort(id.substr(kGeneratePrefix.size()), SimEngine::Impl::RidMatch::kWhole);
  }
  const net::Headers no_headers;
  (void)co_await answer.send(200, no_headers, "");
}

Task<void> VllmFace::set_weights(const net::Request& request, net::Responder& answer,
                                 base::CancelSignal&) {
  const auto body = parse_body(request.body);
  if (!body.ok()) {
    co_await refuse(body.error(), answer);
    co_return;
  }
  const auto version = body->root().get("new_version");
  if (!version || !version->is_string()) {
    Problems problems;
    problems.add("missing", "new_version", "Field required", "None");
    co_await refuse(problems.error(), answer);
    co_return;
  }
  engine_.options.weight_version = version->string();
  json::Writer w;
  w.begin_object().field("success", true).field("new_version", engine_.options.weight_version);
  w.end_object();
  (void)co_await answer.send(200, kJson, w.text());
}

Task<void> VllmFace::weights(const net::Request&, net::Responder& answer, base::CancelSignal&) {
  json::Writer w;
  w.begin_object().field("weight_version", engine_.options.weight_version).end_object();
  (void)co_await answer.send(200, kJson, w.text());
}

Task<void> VllmFace::reset_cache(const net::Request&, net::Responder& answer, base::CancelSignal&) {
  (void)co_await answer.send(200, kJson, R"({"success":true})");
}

Task<void> VllmFace::models(const net::Request&, net::Responder& answer, base::CancelSignal&) {
  const auto& options = engine_.options;
  json::Writer w;
  w.begin_object().field("object", "list").key("data").begin_array().begin_object();
  w.field("id", options.model).field("object", "model").field("created", engine_.unix_time());
  w.field("owned_by", "vllm").field("root", options.model).key("parent").null();
  w.field("max_model_len", options.max_model_len).key("permission").begin_array().begin_object();
  w.field("id", "modelperm-" + engine_.hex(16)).field("object", "model_permission");
  w.field("created", engine_.unix_time()).field("allow_create_engine", false);
  w.field("allow_sampling", true).field("allow_logprobs", true);
  w.field("allow_search_indices", false).field("allow_view", true);
  w.field("allow_fine_tuning", false).field("organization", "*").key("group").null();
  w.field("is_blocking", false).end_object().end_array().end_object().end_array().end_object();
  (void)co_await answer.send(200, kJson, w.text());
}

Task<void> VllmFace::version(const net::Request&, net::Responder& answer, base::CancelSignal&) {
  json::Writer w;
  w.begin_object().field("version", profile_.version).end_object();
  (void)co_await answer.send(200, kJson, w.text());
}

Task<void> VllmFace::health(const net::Request&, net::Responder& answer, base::CancelSignal&) {
  const net::Headers no_headers;
  (void)co_await answer.send(engine_.options.healthy ? 200 : 503, no_headers, "");
}

}  // namespace

std::unique_ptr<Face> make_face(SimEngine::Impl& engine) {
  return std::make_unique<VllmFace>(engine);
}

}  // namespace verbatim::sim::vllm
