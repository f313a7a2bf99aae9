#include "engine/sglang/engine.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/timer.h"
#include "engine/sglang/request_builder.h"
#include "engine/sglang/stream.h"
#include "engine/upstream.h"

namespace verbatim::engine::sglang {
namespace {

using base::ErrorKind;
using base::MonoTime;
using base::Result;
using base::Status;
using base::Task;

constexpr unsigned kMaxStale = 4;  // kept connections that turn out dead, for one request
constexpr std::size_t kMaxErrorBody = std::size_t{1} << 20;
constexpr std::size_t kMaxRest = 64 * 1024;
constexpr base::Duration kErrorBodyTime = std::chrono::seconds(10);
constexpr base::Duration kRestTime = std::chrono::seconds(1);

Status check_request(const TokenRequest& request) {
  // An empty id would abort every request of the engine.
  if (request.request_id.empty()) return base::invalid("request_id", "must not be empty");
  if (request.prompt_size() == 0) return base::invalid("prompt", "must hold at least one id");
  if (request.max_new_tokens == 0) return base::invalid("max_new_tokens", "must be at least 1");
  if (request.cancel != nullptr && request.cancel->fired())
    return base::error(ErrorKind::kCancelled, "the request was given up");
  return {};
}

// No connection came about, so the engine has not seen the request.
bool never_sent(const base::Error& error) {
  return error.kind == ErrorKind::kUnavailable || error.kind == ErrorKind::kInvalidRequest;
}

bool is_stale(const base::Error& error) {
  return error.code == "stale_connection";
}

bool may_connect_again(const base::Error& error) {
  return error.kind == ErrorKind::kUnavailable && !is_stale(error) &&
         error.code != "connection_limit" && error.code != "stopped";
}

base::Error at_engine(base::Error error, const Options& options) {
  error.message = "engine " + net::host_field(options.url.endpoint) + ": " + error.message;
  // A head that is too large or broken is the engine's fault, not the client's.
  if (error.kind == ErrorKind::kTooLarge) error.kind = ErrorKind::kEngine;
  return error;
}

// A stream of cumulative events has no useful bound in bytes: each event has (Options::max_event),
// and every other body is read up to a limit of its own.
net::ClientOptions without_body_limit(net::ClientOptions options) {
  options.limits.body_bytes = SIZE_MAX;
  return options;
}

}  // namespace

SglangEngine::SglangEngine(base::Runtime& runtime, Options options)
    : runtime_(runtime),
      options_(std::move(options)),
      client_(runtime, without_body_limit(options_.client)),
      background_(runtime.executor) {}

SglangEngine::~SglangEngine() = default;

Status SglangEngine::check(const message::Sampling& sampling) const {
  return check_sampling(sampling, options_.vocab_size);
}

net::ClientRequest SglangEngine::request_to(std::string_view method,
                                            std::string_view target) const {
  net::ClientRequest request;
  request.endpoint = options_.url.endpoint;
  request.method = method;
  request.target = target;
  request.retry = net::RetryPolicy::kIfUnsent;
  if (!options_.api_key.empty()) request.headers.add("Authorization", "Bearer " + options_.api_key);
  return request;
}

Task<Result<net::ClientResponse>> SglangEngine::post_generate(const TokenRequest& request) {
  const std::string body = generate_body(request);
  const std::string target = options_.url.base_path + "/generate";
  net::ClientRequest post = request_to("POST", target);
  post.headers.add("Content-Type", "application/json");
  post.headers.add("Accept", "text/event-stream, application/json");
  if (!request.routing_key.empty() && net::is_field_value(request.routing_key))
    post.headers.add("X-SMG-Routing-Key", request.routing_key);
  post.body.emplace_back(body);
  post.cancel = request.cancel;
  post.retry = net::RetryPolicy::kNever;  // send_generate() knows better
  const MonoTime deadline = std::min(request.deadline, in(options_.head_timeout));
  co_return co_await send_generate(post, deadline);
}

Task<Result<net::ClientResponse>> SglangEngine::send_generate(const net::ClientRequest& post,
                                                              MonoTime deadline) {
  bool connected_again = false;
  for (unsigned stale = 0;;) {
    const MonoTime sent = runtime_.clock().now();
    auto response = co_await client_.request(post, deadline);
    if (response.ok()) co_return std::move(response);
    base::Error error = std::move(response).error();
    if (is_stale(error)) {
      const bool at_once = runtime_.clock().now() - sent <= options_.stale_time;
      if (at_once && ++stale < kMaxStale) continue;
      // Who knows what the engine did with it.
      error.kind = ErrorKind::kEngine;
    } else if (may_connect_again(error) && !connected_again) {
      connected_again = true;
      co_await base::sleep_for(runtime_.executor, options_.connect_retry);
      continue;
    }
    co_return error;
  }
}

Task<base::Error> SglangEngine::read_refusal(net::ClientResponse response, MonoTime deadline) {
  auto body = co_await response.read_all(kMaxErrorBody, std::min(deadline, in(kErrorBodyTime)));
  // Without its body, the status still tells.
  std::string text = body.ok() ? std::move(*body) : std::string();
  co_return upstream_error(response.status(), response.headers(), std::move(text));
}

Task<Result<std::unique_ptr<TokenStream>>> SglangEngine::generate(TokenRequest request) {
  if (auto status = check_request(request); !status.ok()) co_return std::move(status).error();
  auto response = co_await post_generate(request);
  if (!response.ok()) {
    base::Error error = std::move(response).error();
    if (!never_sent(error)) send_abort(request.request_id, Heard::kNothing);
    co_return at_engine(std::move(error), options_);
  }
  if (response->status() != 200)
    co_return co_await read_refusal(std::move(*response), request.deadline);
  auto stream = std::make_unique<SglangStream>(*this, std::move(request), std::move(*response));
  auto started = co_await stream->start();
  if (!started.ok()) co_return std::move(started).error();
  co_return std::unique_ptr<TokenStream>(std::move(stream));
}

void SglangEngine::send_abort(std::string request_id, Heard heard) {
  background_.run(abort_call(std::move(request_id), heard));
}

Task<void> SglangEngine::abort_call(std::string request_id, Heard heard) {
  const std::string body = abort_body(request_id);
  const MonoTime deadline = in(options_.abort_timeout);
  co_await post_abort(body, deadline);
  if (heard == Heard::kSomething) co_return;
  // SGLang answers 200 for ids it does not know, so this call may have come before its request.
  co_await base::sleep_for(runtime_.executor, options_.abort_repeat);
  co_await post_abort(body, deadline);
}

Task<void> SglangEngine::post_abort(std::string_view body, MonoTime deadline) {
  const std::string target = options_.url.base_path + "/abort_request";
  net::ClientRequest post = request_to("POST", target);
  post.headers.add("Content-Type", "application/json");
  post.body.push_back(body);
  auto response = co_await client_.request(post, deadline);
  // Nobody is left to tell when it fails; the closed connection aborts too.
  if (response.ok()) (void)co_await response->read_all(kMaxRest, deadline);
}

void SglangEngine::drain(net::ClientResponse response) {
  background_.run(read_rest(std::move(response)));
}

Task<void> SglangEngine::read_rest(net::ClientResponse response) {
  (void)co_await response.read_all(kMaxRest, in(kRestTime));
}

Task<void> SglangEngine::stop() {
  co_await background_.idle();
  co_await client_.stop();
}

}  // namespace verbatim::engine::sglang
