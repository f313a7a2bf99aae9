#include "engine/vllm/derender_engine.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/fields.h"
#include "engine/request_fields.h"
#include "engine/tiny_request.h"
#include "engine/vllm/answer_reader.h"
#include "engine/vllm/derender_wire.h"

namespace verbatim::engine::vllm {
namespace {

using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;

// An answer that is there already, as a stream of one chunk.
class FinishedStream final : public TokenStream {
 public:
  FinishedStream(TokenChunk chunk, TokenEnd end) : chunk_(std::move(chunk)), end_(std::move(end)) {}
  Task<Result<std::optional<TokenChunk>>> next() override {
    co_return std::exchange(chunk_, std::nullopt);
  }
  [[nodiscard]] const TokenEnd& end() const override { return end_; }
  Status cut() override {
    chunk_.reset();
    return {};
  }
  void abort() override { chunk_.reset(); }

 private:
  std::optional<TokenChunk> chunk_;
  TokenEnd end_;
};

bool cut_text(std::string& text, const std::vector<std::string>& stops) {
  std::size_t end = text.size();
  for (const auto& stop : stops) end = std::min(end, text.find(stop));
  const bool cuts = end < text.size();
  text.resize(end);
  return cuts;
}

// What a client sees ends in front of its stop string, which the server's parser leaves in.
void cut_at_stops(message::Message& message, const std::vector<std::string>& stops) {
  if (message.reasoning && cut_text(*message.reasoning, stops)) {
    message.text.clear();
    message.tool_calls.clear();
  } else if (cut_text(message.text, stops)) {
    message.tool_calls.clear();
  }
}

// Nothing of it may look as if the request could be sent again: its ids are sampled already.
base::Error behind_sampling(base::Error error) {
  if (error.kind == ErrorKind::kUnavailable) error.kind = ErrorKind::kEngine;
  error.code = "sampled_already";
  return error;
}

}  // namespace

DerenderEngine::DerenderEngine(base::Runtime& runtime, const Options& options)
    : peer_(runtime, options), tokens_(runtime, options), vocab_size_(options.vocab_size) {}

Status DerenderEngine::check(const message::Sampling& sampling) const {
  return tokens_.check(sampling);
}

Task<Result<json::Document>> DerenderEngine::call(std::string_view path, std::string_view body,
                                                  const TokenRequest& request) {
  HttpPeer::Sent sent;
  sent.headers = request.headers;
  sent.headers.set("X-Request-Id", request.request_id);
  sent.cancel = request.cancel;
  sent.deadline = request.deadline;
  auto response = co_await peer_.post(path, body, std::move(sent));
  if (!response.ok()) co_return std::move(response).error();
  if (response->status() != 200) {
    auto refusal = co_await peer_.read_refusal(std::move(*response), request.deadline);
    co_return refusal;
  }
  std::optional<base::CancelHook> on_cancel;
  if (request.cancel != nullptr)
    on_cancel.emplace(*request.cancel, [&response] { response->close(); });
  const auto deadline = std::min(request.deadline, peer_.in(peer_.options().idle_timeout));
  auto text = co_await response->read_all(peer_.options().max_event, deadline);
  if (!text.ok()) {
    base::Error error = std::move(text).error();
    error.message = "reading the engine's answer to " + std::string(path) + ": " + error.message;
    if (error.kind != ErrorKind::kTimeout && error.kind != ErrorKind::kCancelled)
      error.kind = ErrorKind::kEngine;
    co_return error;
  }
  co_return parse_answer(std::move(*text), path);
}

Task<Result<std::unique_ptr<TokenStream>>> DerenderEngine::generate(TokenRequest request) {
  if (auto status = check_request(request); !status.ok()) co_return std::move(status).error();
  auto chat = json::Document::parse(std::string(request.chat), {.max_bytes = SIZE_MAX});
  if (!chat.ok() || !chat->root().is_object()) {
    co_return base::error(ErrorKind::kUnsupported,
                          "mode derender drives chat requests only: this one has none");
  }
  const std::string_view known = tokens_.model();
  auto rendering = render_body(chat->root(), known);
  if (!rendering.ok()) co_return std::move(rendering).error();
  const std::string model(known.empty() ? chat->root().find("model")->string() : known);

  auto rendered = co_await call(kRenderPath, *rendering, request);
  if (!rendered.ok()) co_return std::move(rendered).error();
  const auto stops = resolved_stops(rendered->root(), request);
  if (!stops.ok()) co_return stops.error();
  auto asked = generate_body(rendered->root(), request, *stops, model);
  if (!asked.ok()) co_return std::move(asked).error();
  auto sampled = co_await call(path(Route::kGenerate), *asked, request);
  if (!sampled.ok()) {
    // A refusal is an answer: nothing runs.
    const bool may_run = !never_sent(sampled.error()) && !sampled.error().upstream;
    if (may_run) tokens_.send_abort(request.request_id, Heard::kSomething);
    co_return std::move(sampled).error();
  }
  Sent proof;
  proof.prompt = request.prompt;
  proof.max_new_tokens = request.max_new_tokens;
  proof.vocab_size = vocab_size_;
  proof.top_logprobs = request.sampling.logprobs ? request.sampling.top_logprobs : 0;
  AnswerReader reader(Route::kGenerate, std::move(proof));
  auto chunk = reader.take(sampled->root());
  if (!chunk.ok()) co_return std::move(chunk).error();
  auto end = reader.finish();
  if (!end.ok()) co_return std::move(end).error();
  end->skew = skew_of(rendered->root(), request);
  end->engine_url = net::url_text(peer_.options().url);

  message::Message message;
  message.role = message::Role::kAssistant;
  const auto ids = without_stop(chunk->ids, *stops);
  if (!ids.empty()) {
    const std::string body = derender_body(request, *rendering, ids, end->finish, model);
    auto read = co_await call(kDerenderPath, body, request);
    if (!read.ok()) co_return behind_sampling(std::move(read).error());
    auto parsed = read_message(read->root());
    if (!parsed.ok()) co_return behind_sampling(std::move(parsed).error());
    message = std::move(*parsed);
    cut_at_stops(message, request.sampling.stop);
  }
  chunk->parsed = std::move(message);
  co_return std::unique_ptr<TokenStream>(
      std::make_unique<FinishedStream>(std::move(*chunk), std::move(*end)));
}

Task<Status> DerenderEngine::ready(base::MonoTime deadline) {
  auto status = co_await sample_one(*this, peer_.runtime(), deadline, std::string(tokens_.model()));
  co_return std::move(status);
}

Task<void> DerenderEngine::stop() {
  co_await tokens_.stop();
  co_await peer_.stop();
}

}  // namespace verbatim::engine::vllm
