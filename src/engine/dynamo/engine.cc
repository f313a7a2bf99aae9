#include "engine/dynamo/engine.h"

#include <algorithm>
#include <utility>

#include "engine/dynamo/answer_reader.h"
#include "engine/request_fields.h"
#include "engine/vllm/answer_reader.h"

namespace verbatim::engine::dynamo {

using base::Result;
using base::Status;
using base::Task;

namespace {
constexpr base::Duration kListTime = std::chrono::seconds(5);
}  // namespace

DynamoEngine::DynamoEngine(base::Runtime& runtime, const Options& options)
    : peer_(runtime, options),
      route_(options.route),
      vocab_size_(options.vocab_size),
      usual_model_(options.model) {}

Status DynamoEngine::check(const message::Sampling& sampling) const {
  return check_sampling(sampling, vocab_size_);
}

Task<Result<std::unique_ptr<TokenStream>>> DynamoEngine::generate(TokenRequest request) {
  if (auto status = check_request(request); !status.ok()) co_return std::move(status).error();
  if (route_ == Route::kChat) {
    if (auto status = check_stop_ids(request); !status.ok()) co_return std::move(status).error();
  }
  // Where the list can't be had, the answer to the request says more.
  if (!listed_) (void)co_await list_models(std::min(request.deadline, peer_.in(kListTime)));
  if (request.model.empty()) request.model = usual_model_;
  if (!only_model_.empty()) request.model = only_model_;
  const std::string body = route_ == Route::kChat ? chat_body(request) : generate_body(request);
  HttpPeer::Sent sent;
  sent.headers = std::move(request.headers);
  // What the client called its request is kept in the record; here it is one of many tries.
  sent.headers.set("X-Request-Id", request.request_id);
  // Only this header names a session; routers pin it to a worker.
  if (!request.routing_key.empty() && net::is_field_value(request.routing_key))
    sent.headers.add("X-Dynamo-Session-Id", request.routing_key);
  sent.cancel = request.cancel;
  sent.deadline = request.deadline;
  auto response = co_await peer_.post(path(route_), body, std::move(sent));
  if (!response.ok()) co_return std::move(response).error();
  AnswerStream::Setup setup;
  setup.reader = reader_for(request);
  setup.deadline = request.deadline;
  setup.cancel = request.cancel;
  auto stream = co_await start_stream(peer_, std::move(*response), std::move(setup));
  co_return std::move(stream);
}

std::unique_ptr<engine::AnswerReader> DynamoEngine::reader_for(TokenRequest& request) const {
  const unsigned top = request.sampling.logprobs ? request.sampling.top_logprobs : 0;
  if (route_ == Route::kGenerate) {
    vllm::Sent sent{std::move(request.prompt), request.max_new_tokens, vocab_size_, top};
    return std::make_unique<vllm::AnswerReader>(vllm::Route::kGenerate, std::move(sent));
  }
  Sent sent{std::move(request.prompt), stop_ids(request), request.max_new_tokens, vocab_size_,
            top > 0};
  return std::make_unique<AnswerReader>(std::move(sent));
}

}  // namespace verbatim::engine::dynamo
