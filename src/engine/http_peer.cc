#include "engine/http_peer.h"

#include <algorithm>
#include <utility>

#include "base/timer.h"
#include "engine/fields.h"
#include "engine/upstream.h"

namespace verbatim::engine {
namespace {

using base::ErrorKind;
using base::MonoTime;
using base::Result;
using base::Status;
using base::Task;
using json::Document;

constexpr std::size_t kMaxErrorBody = std::size_t{1} << 20;
constexpr std::size_t kMaxProbe = std::size_t{4} << 20;
constexpr std::size_t kMaxRest = 64 * 1024;
constexpr base::Duration kErrorBodyTime = std::chrono::seconds(10);
constexpr base::Duration kRestTime = std::chrono::seconds(1);

bool may_connect_again(const base::Error& error) {
  return error.kind == ErrorKind::kUnavailable && error.code != "connection_limit" &&
         error.code != "stopped";
}

base::Error at_engine(base::Error error, const PeerOptions& options) {
  error.message = "engine " + net::host_field(options.url.endpoint) + ": " + error.message;
  // A head that is too large or broken is the engine's fault, not the client's.
  if (error.kind == ErrorKind::kTooLarge) error.kind = ErrorKind::kEngine;
  return error;
}

// A stream of cumulative events has no useful bound in bytes: each event has (max_event), and every
// other body is read up to a limit of its own.
net::ClientOptions without_body_limit(net::ClientOptions options) {
  options.limits.body_bytes = SIZE_MAX;
  return options;
}

}  // namespace

Status check_request(const TokenRequest& request) {
  // An empty id would abort every request of some engines.
  if (request.request_id.empty()) return base::invalid("request_id", "must not be empty");
  if (request.prompt_size() == 0) return base::invalid("prompt", "must hold at least one id");
  if (request.max_new_tokens == 0) return base::invalid("max_tokens", "must be at least 1");
  if (request.cancel != nullptr && request.cancel->fired())
    return base::error(ErrorKind::kCancelled, "the request was given up");
  return {};
}

bool is_missing(int status) {
  return status == 404 || status == 405 || status == 501;
}

bool never_sent(const base::Error& error) {
  return error.kind == ErrorKind::kUnavailable || error.kind == ErrorKind::kInvalidRequest;
}

HttpPeer::HttpPeer(base::Runtime& runtime, PeerOptions options)
    : runtime_(runtime),
      options_(std::move(options)),
      client_(runtime, without_body_limit(options_.client)),
      background_(runtime.executor) {}

net::ClientRequest HttpPeer::request_to(std::string_view method, std::string_view target) const {
  net::ClientRequest request;
  request.endpoint = options_.url.endpoint;
  request.method = method;
  request.target = target;
  request.retry = net::RetryPolicy::kIfUnanswered;
  if (!options_.api_key.empty()) request.headers.add("Authorization", "Bearer " + options_.api_key);
  return request;
}

Task<Result<net::ClientResponse>> HttpPeer::post(std::string_view path, std::string_view body,
                                                 Sent sent) {
  const std::string where = target(path);
  net::ClientRequest post = request_to("POST", where);
  post.headers.add("Content-Type", "application/json");
  post.headers.add("Accept", "text/event-stream, application/json");
  for (const auto field : sent.headers) post.headers.add(field.name, field.value);
  post.body.emplace_back(body);
  post.cancel = sent.cancel;
  post.retry = net::RetryPolicy::kIfUnsent;  // a model may have begun with what was sent
  auto response = co_await send(post, std::min(sent.deadline, in(options_.head_timeout)));
  if (!response.ok()) co_return at_engine(std::move(response).error(), options_);
  co_return std::move(*response);
}

Task<Result<net::ClientResponse>> HttpPeer::forward(const Forward& request) {
  const std::string where = target(request.target);
  net::ClientRequest sent = request_to(request.method, where);
  for (const auto field : request.headers) sent.headers.add(field.name, field.value);
  if (!request.body.empty()) sent.body.push_back(request.body);
  sent.cancel = request.cancel;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads) sent.retry = net::RetryPolicy::kIfUnsent;
  auto response = co_await send(sent, in(options_.head_timeout));
  if (!response.ok()) co_return at_engine(std::move(response).error(), options_);
  co_return std::move(*response);
}

Task<Result<net::ClientResponse>> HttpPeer::send(const net::ClientRequest& request,
                                                 MonoTime deadline) {
  auto response = co_await client_.request(request, deadline);
  if (response.ok() || !may_connect_again(response.error())) co_return std::move(response);
  co_await base::sleep_for(runtime_.executor, options_.connect_retry);
  response = co_await client_.request(request, deadline);
  co_return std::move(response);
}

Task<base::Error> HttpPeer::read_refusal(net::ClientResponse response, MonoTime deadline) {
  auto body = co_await response.read_all(kMaxErrorBody, std::min(deadline, in(kErrorBodyTime)));
  // Without its body, the status still tells.
  std::string text = body.ok() ? std::move(*body) : std::string();
  co_return upstream_error(response.status(), response.headers(), std::move(text));
}

Task<Result<net::ClientResponse>> HttpPeer::get(std::string path, MonoTime deadline) {
  const std::string where = target(path);
  const net::ClientRequest request = request_to("GET", where);
  auto response = co_await client_.request(request, deadline);
  co_return std::move(response);
}

Task<Result<std::optional<Document>>> HttpPeer::get_json(std::string path, MonoTime deadline) {
  auto page = options_.known ? options_.known->take(path) : std::nullopt;
  if (!page) {
    auto fetched = co_await get_page(path, deadline);
    if (!fetched.ok()) co_return std::move(fetched).error();
    if (options_.known) options_.known->put(path, *fetched);
    page = std::move(*fetched);
  }
  if (!*page) co_return std::optional<Document>();
  auto document = parse_answer(std::move(**page), path);
  if (!document.ok()) co_return std::move(document).error();
  co_return std::optional<Document>(std::move(*document));
}

Task<Result<KnownPages::Page>> HttpPeer::get_page(const std::string& path, MonoTime deadline) {
  auto response = co_await get(path, deadline);
  if (!response.ok()) co_return std::move(response).error();
  auto body = co_await response->read_all(kMaxProbe, deadline);
  if (is_missing(response->status())) co_return KnownPages::Page();
  if (!body.ok()) co_return std::move(body).error();
  if (response->status() != 200) {
    auto error = upstream_error(response->status(), response->headers(), std::move(*body));
    error.message = "GET " + path + ": " + error.message;
    co_return error;
  }
  co_return KnownPages::Page(std::move(*body));
}

Task<void> HttpPeer::tell(std::string_view path, std::string_view body, MonoTime deadline) {
  const std::string where = target(path);
  net::ClientRequest post = request_to("POST", where);
  post.headers.add("Content-Type", "application/json");
  post.body.push_back(body);
  auto response = co_await client_.request(post, deadline);
  // Nobody is left to tell when it fails.
  if (response.ok()) (void)co_await response->read_all(kMaxRest, deadline);
}

void HttpPeer::abort(std::string_view path, std::string body, Heard heard) {
  background_.run(abort_call(std::string(path), std::move(body), heard));
}

Task<void> HttpPeer::abort_call(std::string path, std::string body, Heard heard) {
  const MonoTime deadline = in(options_.abort_timeout);
  co_await tell(path, body, deadline);
  if (heard == Heard::kSomething) co_return;
  co_await base::sleep_for(runtime_.executor, options_.abort_repeat);
  co_await tell(path, body, deadline);
}

void HttpPeer::drain(net::ClientResponse response) {
  background_.run(read_rest(std::move(response)));
}

Task<void> HttpPeer::read_rest(net::ClientResponse response) {
  (void)co_await response.read_all(kMaxRest, in(kRestTime));
}

Task<void> HttpPeer::stop() {
  co_await background_.idle();
  co_await client_.stop();
}

}  // namespace verbatim::engine
