#include "engine/dynamo/engine.h"

#include <algorithm>
#include <utility>

#include "engine/dynamo/answer_reader.h"
#include "engine/dynamo/request_builder.h"
#include "engine/request_fields.h"

namespace verbatim::engine::dynamo {

using base::Result;
using base::Status;
using base::Task;

namespace {
constexpr base::Duration kListTime = std::chrono::seconds(5);
}  // namespace

DynamoEngine::DynamoEngine(base::Runtime& runtime, const Options& options)
    : peer_(runtime, options), vocab_size_(options.vocab_size), usual_model_(options.model) {}

Status DynamoEngine::check(const message::Sampling& sampling) const {
  return check_sampling(sampling, vocab_size_);
}

Task<Result<std::unique_ptr<TokenStream>>> DynamoEngine::generate(TokenRequest request) {
  if (auto status = check_request(request); !status.ok()) co_return std::move(status).error();
  if (auto status = check_stop_ids(request); !status.ok()) co_return std::move(status).error();
  // Where the list can't be had, the answer to the request says more.
  if (!listed_) (void)co_await list_models(std::min(request.deadline, peer_.in(kListTime)));
  if (request.model.empty()) request.model = usual_model_;
  if (!only_model_.empty()) request.model = only_model_;
  const std::string body = chat_body(request);
  HttpPeer::Sent sent;
  sent.headers = std::move(request.headers);
  // What the client called its request is kept in the record; here it is one of many tries.
  sent.headers.set("X-Request-Id", request.request_id);
  // Only this header names a session; routers pin it to a worker.
  if (!request.routing_key.empty() && net::is_field_value(request.routing_key))
    sent.headers.add("X-Dynamo-Session-Id", request.routing_key);
  sent.cancel = request.cancel;
  sent.deadline = request.deadline;
  auto response = co_await peer_.post(kPath, body, std::move(sent));
  if (!response.ok()) co_return std::move(response).error();
  AnswerStream::Setup setup;
  setup.reader = std::make_unique<AnswerReader>(
      Sent{std::move(request.prompt), stop_ids(request), request.max_new_tokens, vocab_size_,
           request.sampling.logprobs && request.sampling.top_logprobs > 0});
  setup.deadline = request.deadline;
  setup.cancel = request.cancel;
  auto stream = co_await start_stream(peer_, std::move(*response), std::move(setup));
  co_return std::move(stream);
}

}  // namespace verbatim::engine::dynamo
