#include "sim/sglang/face.h"

#include "base/pause.h"
#include "json/value.h"
#include "json/writer.h"
#include "sim/openai/conversations.h"
#include "sim/sglang/answer.h"
#include "sim/sglang/profile.h"
#include "sim/sglang/request.h"

namespace verbatim::sim::sglang {
namespace {

using base::Task;

constexpr const char* kJson = "application/json";

// Of its conversations by messages, which it parses itself.
const openai::Dialect kDialect{};

bool has_ids(std::string_view body) {
  const auto document = json::Document::parse(std::string(body));
  return document.ok() && document->root().is_object() && document->root().get("input_ids");
}

class SglangFace final : public Face {
 public:
  explicit SglangFace(SimEngine::Impl& engine)
      : Face(engine), profile_(*profile_named(engine.options.profile)) {}

  Task<void> handle(const net::Request& request, net::Responder& answer,
                    base::CancelSignal& gone) override {
    const bool post = request.method == "POST" || request.method == "PUT";
    if (post && request.path == "/generate") return handle_generate(request, answer, gone);
    if (post && request.path == "/v1/chat/completions") {
      if (has_ids(request.body)) return handle_chat(request, answer, gone);
      return openai::converse(engine_, protocol::Wire::kChat, kDialect, request, answer, gone);
    }
    if (post && request.path == "/abort_request") return handle_abort(request, answer);
    if (post && request.path == "/update_weight_version") return handle_weights(request, answer);
    if (request.path == "/health_generate" && engine_.options.hangs) return hang(gone);
    return handle_get(request, answer);
  }

 private:
  Task<void> handle_generate(const net::Request& request, net::Responder& answer,
                             base::CancelSignal& gone);
  Task<void> handle_chat(const net::Request& request, net::Responder& answer,
                         base::CancelSignal& gone);
  Task<void> handle_abort(const net::Request& request, net::Responder& answer);
  Task<void> handle_weights(const net::Request& request, net::Responder& answer);
  Task<void> handle_get(const net::Request& request, net::Responder& answer);
  Task<void> hang(base::CancelSignal& gone);

  [[nodiscard]] std::string why_refused(const GenerateCall& call) const;
  [[nodiscard]] std::string models_json() const;
  [[nodiscard]] std::string model_info_json() const;
  [[nodiscard]] std::string server_info_json() const;
  [[nodiscard]] ServerFacts facts() const {
    return {profile_, engine_.options.vocab_size, *engine_.options.tokenizer};
  }

  const Profile& profile_;
};

std::string SglangFace::why_refused(const GenerateCall& call) const {
  if (call.samples > 1 && call.stream) return "n > 1 is not simulated for streams";
  const auto max = engine_.options.max_model_len;
  const auto limit = std::to_string(max);
  if (call.prompt.size() >= max) {
    return "The input (" + std::to_string(call.prompt.size()) +
           " tokens) is longer than the model's context length (" + limit + " tokens).";
  }
  if (call.prompt.size() + call.limits.max_new_tokens > max) {
    return "Requested token count exceeds the model's maximum context length of " + limit +
           " tokens: " + std::to_string(call.prompt.size()) + " of the prompt and " +
           std::to_string(call.limits.max_new_tokens) + " of the completion.";
  }
  return {};
}

Task<void> SglangFace::handle_generate(const net::Request& request, net::Responder& answer,
                                       base::CancelSignal& gone) {
  ++engine_.stats.requests;
  const auto& options = engine_.options;
  const auto call = read_generate(request.body, facts());
  const std::string refusal = call.ok() ? why_refused(*call) : call.error().message;
  if (!refusal.empty()) {
    ++engine_.stats.refused;
    const std::string body = error_json(refusal);
    (void)co_await answer.send(400, kJson, body);
    co_return;
  }
  const Plan plan = engine_.plan(*call);
  GenerateAnswer content(Spelling(*options.tokenizer, *call, plan.done, options.vocab_size), *call,
                         {options.streaming, options.seed, profile_});
  co_await engine_.answer(*call, plan, content, answer, gone);
}

Task<void> SglangFace::handle_chat(const net::Request& request, net::Responder& answer,
                                   base::CancelSignal& gone) {
  ++engine_.stats.requests;
  const auto& options = engine_.options;
  const auto chat = read_chat(request.body, facts());
  const std::string refusal = chat.ok() ? why_refused(chat->call) : chat.error().message;
  if (!refusal.empty()) {
    ++engine_.stats.refused;
    const std::string body = error_json(refusal);
    (void)co_await answer.send(400, kJson, body);
    co_return;
  }
  const GenerateCall& call = chat->call;
  const Plan plan = engine_.plan(call);
  ChatAnswer content(Spelling(*options.tokenizer, call, plan.done, options.vocab_size), *chat,
                     {Streaming::kCumulative, options.seed, profile_}, *options.tokenizer);
  co_await engine_.answer(call, plan, content, answer, gone);
}

Task<void> SglangFace::handle_abort(const net::Request& request, net::Responder& answer) {
  ++engine_.stats.abort_calls;
  const auto call = read_abort(request.body);
  if (!call.ok()) {
    const std::string body = error_json(call.error().message);
    (void)co_await answer.send(400, kJson, body);
    co_return;
  }
  engine_.abort(call->all ? std::string_view() : std::string_view(call->rid),
                SimEngine::Impl::RidMatch::kPrefix);
  (void)co_await answer.send(200, "text/plain", "");
}

Task<void> SglangFace::handle_weights(const net::Request& request, net::Responder& answer) {
  const auto body = json::Document::parse(std::string(request.body));
  const auto version =
      body.ok() && body->root().is_object() ? body->root().get("new_version") : std::nullopt;
  if (!version || !version->is_string()) {
    const std::string error = error_json("new_version: expected a string");
    (void)co_await answer.send(400, kJson, error);
    co_return;
  }
  const auto aborts = body->root().get("abort_all_requests");
  if (!aborts || !aborts->is_bool() || aborts->boolean())
    engine_.abort("", SimEngine::Impl::RidMatch::kPrefix);
  engine_.options.weight_version = version->string();
  json::Writer w;
  w.begin_object().field("success", true).field("message", "updated");
  w.field("new_version", engine_.options.weight_version).end_object();
  (void)co_await answer.send(200, kJson, w.text());
}

Task<void> SglangFace::handle_get(const net::Request& request, net::Responder& answer) {
  const auto path = request.path;
  int status = 200;
  std::string body;
  std::string_view type = kJson;
  if (path == "/health" || path == "/health_generate") {
    status = engine_.options.healthy ? 200 : 503;
  } else if (path == "/v1/models") {
    body = models_json();
  } else if (path == "/model_info" || path == "/get_model_info") {
    body = model_info_json();
  } else if (path == "/server_info" || path == "/get_server_info") {
    body = server_info_json();
  } else if (path == "/flush_cache") {
    const bool idle = engine_.running.empty();
    status = idle ? 200 : 400;
    body = idle ? "Cache flushed.\n" : "Requests are running.\n";
    type = "text/plain";
  } else {
    status = 404;
    body = R"({"detail":"Not Found"})";
  }
  (void)co_await answer.send(status, type, body);
}

Task<void> SglangFace::hang(base::CancelSignal& gone) {
  base::Pause waiting(engine_.runtime.executor, std::nullopt, gone);
  (void)co_await waiting;
}

std::string SglangFace::models_json() const {
  const auto& options = engine_.options;
  json::Writer w;
  w.begin_object().field("object", "list").key("data").begin_array().begin_object();
  w.field("id", options.model).field("object", "model").field("created", 0);
  w.field("owned_by", "sglang").field("root", options.model);
  w.field("max_model_len", options.max_model_len).end_object().end_array().end_object();
  return w.take();
}

std::string SglangFace::model_info_json() const {
  const auto& options = engine_.options;
  json::Writer w;
  w.begin_object().field("model_path", options.model).field("tokenizer_path", options.model);
  w.field("is_generation", true).field("weight_version", options.weight_version).end_object();
  return w.take();
}

std::string SglangFace::server_info_json() const {
  const auto& options = engine_.options;
  const bool incremental = options.streaming != Streaming::kCumulative;
  json::Writer w;
  w.begin_object().field("model_path", options.model).field("version", options.profile);
  w.field("context_length", options.max_model_len);
  w.field("max_req_input_len", options.max_model_len - 1);
  w.field("incremental_streaming_output", incremental).end_object();
  return w.take();
}

}  // namespace

std::unique_ptr<Face> make_face(SimEngine::Impl& engine) {
  return std::make_unique<SglangFace>(engine);
}

}  // namespace verbatim::sim::sglang
