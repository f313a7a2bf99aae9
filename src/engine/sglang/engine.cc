#include "engine/sglang/engine.h"

#include <memory>
#include <utility>

#include "engine/request_fields.h"
#include "engine/sglang/answer_reader.h"
#include "engine/sglang/chat_reader.h"

namespace verbatim::engine::sglang {

using base::Result;
using base::Status;
using base::Task;

SglangEngine::SglangEngine(base::Runtime& runtime, const Options& options)
    : peer_(runtime, options), route_(options.route), vocab_size_(options.vocab_size) {}

Status SglangEngine::check(const message::Sampling& sampling) const {
  if (auto status = check_sampling(sampling, vocab_size_); !status.ok()) return status;
  return sampling.cache_salt.empty() ? Status() : check_salting(engine_version_);
}

Task<Result<std::unique_ptr<TokenStream>>> SglangEngine::generate(TokenRequest request) {
  if (auto status = check_request(request); !status.ok()) co_return std::move(status).error();
  if (low_values_first_) request.sampling.priority = -request.sampling.priority;
  auto body =
      route_ == Route::kGenerate ? Result<std::string>(generate_body(request)) : chat_body(request);
  if (!body.ok()) co_return std::move(body).error();
  HttpPeer::Sent sent;
  sent.headers = std::move(request.headers);
  if (!request.routing_key.empty() && net::is_field_value(request.routing_key))
    sent.headers.add("X-SMG-Routing-Key", request.routing_key);
  sent.cancel = request.cancel;
  sent.deadline = request.deadline;
  auto response = co_await peer_.post(path(route_), *body, std::move(sent));
  if (!response.ok()) {
    if (!never_sent(response.error())) send_abort(request.request_id, Heard::kNothing);
    co_return std::move(response).error();
  }
  AnswerStream::Setup setup;
  Sent proof{std::move(request.prompt), request.max_new_tokens, vocab_size_, streams_new_only_};
  if (route_ == Route::kGenerate) {
    setup.reader = std::make_unique<AnswerReader>(std::move(proof));
  } else {
    setup.reader = std::make_unique<ChatReader>(std::move(proof));
  }
  setup.deadline = request.deadline;
  setup.cancel = request.cancel;
  setup.on_abort = [this, id = std::move(request.request_id)](Heard heard) {
    send_abort(id, heard);
  };
  auto stream = co_await start_stream(peer_, std::move(*response), std::move(setup));
  co_return std::move(stream);
}

void SglangEngine::send_abort(std::string_view request_id, Heard heard) {
  peer_.abort("/abort_request", abort_body(request_id), heard);
}

}  // namespace verbatim::engine::sglang
