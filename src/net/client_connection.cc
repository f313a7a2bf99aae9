#include "net/client_connection.h"

#include <utility>

#include "net/client_pool.h"

namespace verbatim::net {
namespace {

constexpr std::size_t kReadBuffer = 64 * 1024;

bool written_by_client(std::string_view name) {
  for (const std::string_view own :
       {"host", "content-length", "connection", "transfer-encoding", "keep-alive", "expect"}) {
    if (equals_ignoring_case(name, own)) return true;
  }
  return false;
}

bool is_target(std::string_view target) {
  if (target.empty()) return false;
  for (const char c : target) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f)
      return false;
  }
  return true;
}

base::Error engine_error(const HttpFailure& failure) {
  const auto kind = failure.status == 413 ? base::ErrorKind::kTooLarge : base::ErrorKind::kEngine;
  base::Error error = base::error(kind, "the response is refused: " + failure.message);
  error.code = failure.code;
  return error;
}

}  // namespace

ClientConnection::ClientConnection(ClientPool& pool, base::Executor& executor,
                                   std::unique_ptr<base::ByteStream> stream,
                                   const base::Endpoint& endpoint, const HttpLimits& limits)
    : pool_(pool),
      executor_(executor),
      endpoint_(endpoint),
      stream_(std::move(stream)),
      pump_(*stream_, *this, kReadBuffer),
      parser_(limits) {
  pump_.start();
}

base::Status ClientConnection::build_head(const ClientRequest& request,
                                          std::string_view user_agent) {
  if (!is_token(request.method)) return base::invalid("method", "an HTTP method is a token");
  if (!is_target(request.target))
    return base::invalid("target", "a request target holds no spaces or control characters");
  head_.clear();
  head_.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\nHost: ");
  head_.append(host_field(endpoint_)).append("\r\n");
  for (const auto field : request.headers) {
    if (written_by_client(field.name)) continue;
    if (!is_token(field.name) || !is_field_value(field.value)) {
      return base::invalid(
          "headers", "a header field's name is no token, or its value holds a control character");
    }
    head_.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  if (!user_agent.empty() && !request.headers.has("user-agent")) {
    head_.append("User-Agent: ").append(user_agent).append("\r\n");
  }
  std::size_t size = 0;
  pieces_.assign(1, {});
  for (const std::string_view piece : request.body) {
    size += piece.size();
    if (!piece.empty()) pieces_.push_back(piece);
  }
  if (size != 0 ||
      (request.method != "GET" && request.method != "HEAD" && request.method != "DELETE")) {
    head_.append("Content-Length: ").append(std::to_string(size)).append("\r\n");
  }
  head_.append("\r\n");
  pieces_[0] = head_;
  return {};
}

base::Task<base::Status> ClientConnection::exchange(const ClientRequest& request,
                                                    std::string_view user_agent,
                                                    base::MonoTime deadline) {
  ++exchanges_;
  written_ = timed_out_ = false;
  parser_.start(request.method == "HEAD" ? ResponseParser::Request::kHead
                                         : ResponseParser::Request::kOther);
  auto built = build_head(request, user_agent);
  if (!built.ok()) co_return built;
  set_deadline(deadline);
  std::optional<base::CancelHook> hook;
  if (request.cancel != nullptr) hook.emplace(*request.cancel, [this] { close(); });
  const auto written = co_await base::write_all(*stream_, pieces_);
  written_ = written.ok();
  // A server may answer and close before it has read everything: what it said counts, also behind a
  // failed write.
  auto status = co_await read_head();
  timer_.cancel();
  co_return status;
}

base::Task<base::Status> ClientConnection::read_head() {
  for (;;) {
    if (!pump_.data().empty()) {
      pump_.consume(parser_.feed_head(pump_.data()));
      if (parser_.failure()) co_return engine_error(*parser_.failure());
      if (parser_.head_done()) co_return base::Status();
      continue;
    }
    if (pump_.ended() || closed_) {
      co_return parser_.started()
          ? why_ended("connection closed within the response's head", "closed_in_head")
          : why_ended("connection closed before a response", "closed_before_response");
    }
    co_await pump_.more();
  }
}

base::Error ClientConnection::why_ended(const char* otherwise, const char* code) const {
  if (timed_out_) return base::error(base::ErrorKind::kTimeout, "no answer in time");
  if (closed_) return base::error(base::ErrorKind::kCancelled, "the request was given up");
  base::Error error = base::error(base::ErrorKind::kEngine, otherwise);
  if (pump_.error()) error.message += " (" + pump_.error()->message + ")";
  error.code = code;
  return error;
}

base::Task<base::Result<std::string_view>> ClientConnection::read(base::MonoTime deadline) {
  if (held_ != 0) pump_.consume(std::exchange(held_, 0));
  BodyFraming& body = parser_.body();
  for (;;) {
    if (closed_) co_return why_ended("", "");
    if (body.failed()) co_return engine_error(body.failure());
    if (body.done()) co_return std::string_view();
    if (const std::string_view data = pump_.data(); !data.empty()) {
      const auto step = body.next(data);
      if (!step.data.empty()) {
        held_ = step.consumed;
        pump_.pin();
        co_return step.data;
      }
      pump_.consume(step.consumed);
      continue;
    }
    if (pump_.ended()) {
      if (!pump_.error() && body.finish()) continue;
      co_return why_ended("connection closed before the end", "closed_before_end");
    }
    set_deadline(deadline);
    co_await pump_.more();
    timer_.cancel();
  }
}

base::Task<base::Result<std::string_view>> ClientConnection::read_arrived(base::MonoTime deadline) {
  auto first = co_await read(deadline);
  if (first.ok() && !first->empty()) co_return with_what_follows(*first);
  co_return std::move(first);
}

// A broken framing behind it is for the next read to tell.
std::string_view ClientConnection::with_what_follows(std::string_view first) {
  BodyFraming& body = parser_.body();
  bool together = true;
  for (auto rest = pump_.data().substr(held_); !rest.empty() && !body.done() && !body.failed();) {
    const auto step = body.next(rest);
    held_ += step.consumed;
    rest.remove_prefix(step.consumed);
    if (step.data.empty()) continue;
    if (std::exchange(together, false)) joined_ = first;
    joined_ += step.data;
  }
  return together ? first : std::string_view(joined_);
}

void ClientConnection::set_deadline(base::MonoTime deadline) {
  if (deadline == base::kNever) return timer_.cancel();
  timer_.arm(executor_.timers(), deadline, [this] {
    timed_out_ = true;
    close();
  });
}

void ClientConnection::close() {
  closed_ = true;
  pump_.close();
}

void ClientConnection::on_stream_end() {
  if (idle_) pool_.drop_idle(*this);
}

bool ClientConnection::reusable() const {
  const std::size_t unread = pump_.data().size() - held_;
  return !closed_ && !pump_.ended() && written_ && parser_.head_done() && parser_.body().done() &&
         parser_.keep_alive() && unread == 0;
}

void ClientConnection::become_idle(base::Duration timeout) {
  if (held_ != 0) pump_.consume(std::exchange(held_, 0));
  idle_ = true;
  timer_.arm(executor_.timers(), executor_.clock().now() + timeout,
             [this] { pool_.drop_idle(*this); });
}

void ClientConnection::leave_idle() {
  idle_ = false;
  timer_.cancel();
}

}  // namespace verbatim::net
