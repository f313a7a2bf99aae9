#include "sim/dynamo/face.h"

#include <utility>

#include "json/writer.h"
#include "sim/dynamo/answer.h"
#include "sim/dynamo/dialect.h"
#include "sim/dynamo/errors.h"
#include "sim/dynamo/request.h"
#include "sim/openai/conversations.h"

namespace verbatim::sim::dynamo {
namespace {

using base::Task;

constexpr std::string_view kChat = "/v1/chat/completions";
constexpr std::string_view kGenerate = "/inference/v1/generate";
constexpr std::string_view kModels = "/v1/models";

// An unhealthy engine is a frontend without a worker: it stays "healthy", its models are gone.
class DynamoFace final : public Face {
 public:
  explicit DynamoFace(SimEngine::Impl& engine)
      : Face(engine), profile_(*profile_named(engine.options.profile)) {}

  Task<void> handle(const net::Request& request, net::Responder& answer,
                    base::CancelSignal& gone) override;

 private:
  Task<void> chat(const net::Request& request, net::Responder& answer, base::CancelSignal& gone);
  // Over Responses or Messages.
  Task<void> talk(protocol::Wire wire, const net::Request& request, net::Responder& answer,
                  base::CancelSignal& gone);
  Task<void> generate(const net::Request& request, net::Responder& answer,
                      base::CancelSignal& gone);
  Task<void> send(HttpReply reply, net::Responder& answer);
  Task<void> refuse(HttpReply reply, net::Responder& answer);

  [[nodiscard]] bool worker() const { return engine_.options.healthy; }
  [[nodiscard]] HttpReply no_route(const net::Request& request) const;
  [[nodiscard]] HttpReply get(const net::Request& request) const;
  [[nodiscard]] HttpReply models() const;
  [[nodiscard]] HttpReply model(std::string_view rest) const;
  [[nodiscard]] HttpReply ready() const;
  [[nodiscard]] HttpReply health() const;
  void append_model(json::Writer& w) const;
  [[nodiscard]] FrontendFacts facts() const;
  [[nodiscard]] AnswerSetup setup(std::string id) const;
  [[nodiscard]] std::string uuid() const;

  const Profile& profile_;
};

HttpReply DynamoFace::no_route(const net::Request& request) const {
  if (!profile_.explains_404) return empty_error(404);
  return flat_error(
      404, "Route not found: " + std::string(request.method) + " " + std::string(request.path));
}

Task<void> DynamoFace::handle(const net::Request& request, net::Responder& answer,
                              base::CancelSignal& gone) {
  const bool generates = request.path == kGenerate && engine_.options.token_routes;
  if (request.path == kChat || generates) {
    if (request.method != "POST") return refuse(empty_error(405), answer);
    return generates ? generate(request, answer, gone) : chat(request, answer, gone);
  }
  if (const auto wire = openai::wire_at(request.path, engine_.options)) {
    if (request.method != "POST") return refuse(empty_error(405), answer);
    return talk(*wire, request, answer, gone);
  }
  return send(request.method == "GET" ? get(request) : no_route(request), answer);
}

Task<void> DynamoFace::send(HttpReply reply, net::Responder& answer) {
  net::Headers headers;
  for (const auto& [field, value] : reply.headers) {
    if (!value.empty()) headers.add(field, value);
  }
  if (reply.headers.empty()) headers.add("Content-Type", "application/json");
  (void)co_await answer.send(reply.status, headers, reply.body);
}

Task<void> DynamoFace::refuse(HttpReply reply, net::Responder& answer) {
  ++engine_.stats.refused;
  return send(std::move(reply), answer);
}

bool is_json(const net::Request& request) {
  return request.headers.find("content-type").starts_with("application/json");
}

FrontendFacts DynamoFace::facts() const {
  const auto& options = engine_.options;
  return {profile_, options.model, options.vocab_size, *options.tokenizer, options.nvext};
}

AnswerSetup DynamoFace::setup(std::string id) const {
  const auto& options = engine_.options;
  return {profile_,
          *options.tokenizer,
          options.model,
          std::move(id),
          engine_.runtime.clock().wall_ms(),
          options.seed};
}

std::string DynamoFace::uuid() const {
  std::string text = engine_.hex(32);
  for (const std::size_t at : {8U, 13U, 18U, 23U}) text.insert(at, "-");
  return text;
}

Task<void> DynamoFace::talk(protocol::Wire wire, const net::Request& request,
                            net::Responder& answer, base::CancelSignal& gone) {
  if (!worker()) return refuse(flat_error(404, "Model not found"), answer);
  return openai::converse(engine_, wire, dialect(), request, answer, gone);
}

Task<void> DynamoFace::chat(const net::Request& request, net::Responder& answer,
                            base::CancelSignal& gone) {
  if (!worker()) {
    ++engine_.stats.requests;
    co_await refuse(empty_error(404), answer);
    co_return;
  }
  if (!is_json(request)) {
    ++engine_.stats.requests;
    co_await refuse(flat_error(415, "Expected request with Content-Type application/json"), answer);
    co_return;
  }
  auto read = read_chat(request.body, facts());
  if (read.ok() && read->by_messages && engine_.options.parsers) {
    co_await openai::converse(engine_, protocol::Wire::kChat, dialect(), request, answer, gone);
    co_return;
  }
  ++engine_.stats.requests;
  if (!read.ok()) {
    co_await refuse(reply_of(read.error()), answer);
    co_return;
  }
  GenerateCall& call = read->call;
  const std::string id = uuid();
  call.rid = id;
  const Plan plan = engine_.plan(call);
  ChatAnswer content(
      Spelling(*engine_.options.tokenizer, call, plan.done, engine_.options.vocab_size), *read,
      setup("chatcmpl-" + id));
  co_await engine_.answer(call, plan, content, answer, gone);
}

Task<void> DynamoFace::generate(const net::Request& request, net::Responder& answer,
                                base::CancelSignal& gone) {
  ++engine_.stats.requests;
  if (!is_json(request)) {
    co_await refuse(text_error(415, "Expected request with `Content-Type: application/json`"),
                    answer);
    co_return;
  }
  auto read = read_generate(request.body, facts());
  if (!read.ok()) {
    co_await refuse(reply_of(read.error()), answer);
    co_return;
  }
  if (!worker()) {
    co_await refuse(nested_error(404, "not_found", "Model not found"), answer);
    co_return;
  }
  GenerateCall& call = read->call;
  const auto header = request.headers.find("x-request-id");
  if (!header.empty()) call.rid = header;
  if (call.rid.empty()) call.rid = uuid();
  const Plan plan = engine_.plan(call);
  GenerateAnswer content(
      Spelling(*engine_.options.tokenizer, call, plan.done, engine_.options.vocab_size), *read,
      setup(call.rid));
  co_await engine_.answer(call, plan, content, answer, gone);
}

HttpReply DynamoFace::get(const net::Request& request) const {
  const std::string_view path = request.path;
  if (path == "/health") return health();
  if (path == "/live") return {200, {}, R"({"status":"live","message":"Service is live"})"};
  if (path == kModels) return models();
  if (path.starts_with(kModels) && path[kModels.size()] == '/')
    return model(path.substr(kModels.size() + 1));
  return no_route(request);
}

void DynamoFace::append_model(json::Writer& w) const {
  w.begin_object().field("id", engine_.options.model).field("object", "model");
  w.field("created", engine_.unix_time()).field("owned_by", "nvidia");
  w.field("context_window", engine_.options.max_model_len).end_object();
}

HttpReply DynamoFace::models() const {
  json::Writer w;
  w.begin_object().field("object", "list").key("data").begin_array();
  if (worker()) append_model(w);
  w.end_array().end_object();
  return {200, {}, w.take()};
}

HttpReply DynamoFace::model(std::string_view rest) const {
  constexpr std::string_view kReady = "/ready";
  const bool asks_ready = profile_.has_ready_route && rest.ends_with(kReady);
  if (asks_ready) rest.remove_suffix(kReady.size());
  if (!worker() || rest != engine_.options.model) return flat_error(404, "Model not found");
  if (asks_ready) return ready();
  json::Writer w;
  append_model(w);
  return {200, {}, w.take()};
}

HttpReply DynamoFace::ready() const {
  json::Writer w;
  w.begin_object().field("model", engine_.options.model).field("ready", true);
  w.key("namespaces").begin_object().key("dynamo").begin_object().field("ready", true);
  w.key("worker_types").begin_object().key("aggregated").begin_object().field("workers", 1);
  w.key("needs").begin_array().end_array().end_object().end_object();
  w.key("present").begin_array().string("aggregated").end_array();
  w.key("missing_worker_types").begin_array().end_array().end_object().end_object().end_object();
  return {200, {}, w.take()};
}

HttpReply DynamoFace::health() const {
  json::Writer w;
  w.begin_object().field("status", "healthy").key("endpoints").begin_array();
  if (worker()) w.string("dyn://dynamo.backend.generate");
  w.end_array().key("instances").begin_array();
  if (worker()) {
    w.begin_object().field("component", "backend").field("endpoint", "generate");
    w.field("namespace", "dynamo").field("instance_id", kWorkerId).end_object();
  }
  w.end_array().end_object();
  return {200, {}, w.take()};
}

}  // namespace

std::unique_ptr<Face> make_face(SimEngine::Impl& engine) {
  return std::make_unique<DynamoFace>(engine);
}

}  // namespace verbatim::sim::dynamo
