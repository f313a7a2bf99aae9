#include "engine/vllm/engine.h"

#include <utility>

#include "engine/request_fields.h"
#include "engine/tiny_request.h"
#include "engine/vllm/answer_reader.h"

namespace verbatim::engine::vllm {

using base::MonoTime;
using base::Result;
using base::Status;
using base::Task;

VllmEngine::VllmEngine(base::Runtime& runtime, const Options& options)
    : peer_(runtime, options), route_(options.route), vocab_size_(options.vocab_size) {}

Status VllmEngine::check(const message::Sampling& sampling) const {
  if (auto status = check_sampling(sampling, vocab_size_); !status.ok()) return status;
  return check_salt(sampling.cache_salt);
}

Task<Result<std::unique_ptr<TokenStream>>> VllmEngine::generate(TokenRequest request) {
  if (auto status = check_request(request); !status.ok()) co_return std::move(status).error();
  const std::string body = token_body(route_, request, model_.empty() ? request.model : model_);
  HttpPeer::Sent sent;
  sent.headers = std::move(request.headers);
  // vLLM takes it for the request's own id, by which it is aborted.
  sent.headers.set("X-Request-Id", request.request_id);
  sent.cancel = request.cancel;
  sent.deadline = request.deadline;
  auto response = co_await peer_.post(path(route_), body, std::move(sent));
  if (!response.ok()) {
    if (!never_sent(response.error())) send_abort(request.request_id, Heard::kNothing);
    co_return std::move(response).error();
  }
  Sent proof;
  proof.prompt = std::move(request.prompt);
  proof.max_new_tokens = request.max_new_tokens;
  proof.vocab_size = vocab_size_;
  proof.top_logprobs = request.sampling.logprobs ? request.sampling.top_logprobs : 0;
  AnswerStream::Setup setup;
  setup.reader = std::make_unique<AnswerReader>(route_, std::move(proof));
  setup.deadline = request.deadline;
  setup.cancel = request.cancel;
  setup.on_abort = [this, id = std::move(request.request_id)](Heard heard) {
    send_abort(id, heard);
  };
  auto stream = co_await start_stream(peer_, std::move(*response), std::move(setup));
  co_return std::move(stream);
}

void VllmEngine::send_abort(std::string_view request_id, Heard heard) {
  // Completions have no abort call: the closed connection does it.
  if (route_ == Route::kGenerate)
    peer_.abort("/inference/v1/abort_requests", abort_body(request_id), heard);
}

Task<Status> VllmEngine::ready(MonoTime deadline) {
  auto status = co_await sample_one(*this, peer_.runtime(), deadline);
  co_return std::move(status);
}

}  // namespace verbatim::engine::vllm
