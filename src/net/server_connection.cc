#include "net/server_connection.h"

#include <exception>
#include <utility>

#include "net/http_error_body.h"
#include "net/server_impl.h"

namespace verbatim::net {

ServerConnection::ServerConnection(HttpServer::Impl& server,
                                   std::unique_ptr<base::ByteStream> stream, Role role)
    : server_(server),
      stream_(std::move(stream)),
      role_(role),
      peer_(stream_->peer()),
      pump_(*stream_, *this, server.options.read_ahead),
      parser_(server.options.limits) {
  request_.peer = peer_;
  server_.add(*this);
}

ServerConnection::~ServerConnection() {
  server_.remove(*this);
}

void ServerConnection::start() {
  pump_.start();
  base::spawn(run());
}

base::Task<void> ServerConnection::run() {
  Next next = Next::kRefuse;
  HttpFailure failure{503, "too_many_connections", "this server has too many connections"};
  while (role_ == Role::kServe) {
    next = co_await read_request();
    if (next == Next::kRefuse) failure = parser_.failure();
    if (next != Next::kRequest) break;
    if (server_.draining) {
      next = Next::kRefuse;
      failure = {503, "shutting_down", "this server is shutting down"};
      break;
    }
    co_await handle();
    if (keep_ && !broken_) continue;
    next = Next::kClose;
    if (answer_ == Answer::kEnded && !broken_) co_await linger();
    break;
  }
  if (next == Next::kRefuse) co_await refuse(failure);
  timer_.cancel();
  pump_.close();
  co_await pump_.closed();
  delete this;
}

base::Task<ServerConnection::Next> ServerConnection::read_request() {
  parser_.start(request_);
  request_id_.clear();
  answer_ = Answer::kNone;
  sent_continue_ = in_body_ = timed_out_ = false;
  set_deadline(server_.options.idle_timeout);
  for (;;) {
    if (!pump_.data().empty()) {
      if (const auto next = feed()) co_return *next;
      if (parser_.state() == RequestParser::State::kBody && parser_.expects_continue() &&
          !sent_continue_ && pump_.data().empty()) {
        sent_continue_ = true;
        static constexpr std::string_view kContinue[] = {"HTTP/1.1 100 Continue\r\n\r\n"};
        auto written = co_await base::write_all(*stream_, kContinue);
        if (!written.ok()) co_return Next::kClose;
      }
      continue;
    }
    if (pump_.ended() || (server_.draining && parser_.idle())) co_return Next::kClose;
    wait_ = Wait::kRequest;
    co_await pump_.more();
    wait_ = Wait::kNothing;
    if (!timed_out_) continue;
    if (parser_.idle()) co_return Next::kClose;
    co_return Next::kRefuse;
  }
}

std::optional<ServerConnection::Next> ServerConnection::feed() {
  const bool was_idle = parser_.idle();
  pump_.consume(parser_.feed(pump_.data()));
  switch (parser_.state()) {
    case RequestParser::State::kDone:
      clear_deadline();
      return Next::kRequest;
    case RequestParser::State::kFailed:
      return Next::kRefuse;
    case RequestParser::State::kHead:
      if (was_idle && !parser_.idle()) set_deadline(server_.options.header_timeout);
      break;
    case RequestParser::State::kBody:
      in_body_ = true;
      set_deadline(server_.options.body_timeout);
      break;
  }
  return std::nullopt;
}

base::Task<void> ServerConnection::handle() {
  keep_ = parser_.keep_alive();
  cancel_.emplace();
  Responder responder(*this);
  if (pump_.ended()) cancel_->fire("client disconnected");
  co_await call_handler(responder);
  // Hooks of the handler are gone by now; nobody may fire into what is over.
  cancel_.reset();
  if (answer_ == Answer::kNone && !broken_) {
    const std::string body =
        error_body({500, "no_answer", "the server has no answer to this request"});
    auto status = co_await send(500, "application/json", nullptr, body);
    if (!status.ok()) keep_ = false;
  }
  if (server_.metrics) server_.metrics->answered(status());
  // A stream without an end must look cut.
  if (answer_ != Answer::kEnded) keep_ = false;
}

base::Task<void> ServerConnection::call_handler(Responder& responder) {
  try {
    co_await server_.handler(request_, responder, *cancel_);
  } catch (const std::exception&) {
    // A bug in the handler costs its own request only.
  }
}

base::Task<void> ServerConnection::refuse(const HttpFailure& failure) {
  keep_ = false;
  answer_ = Answer::kNone;
  head_only_ = false;
  const HttpFailure timeout{
      408, "request_timeout",
      in_body_ ? "the body did not arrive in time" : "the head did not arrive in time"};
  const HttpFailure& said = timed_out_ ? timeout : failure;
  const std::string body = error_body(said);
  if (server_.metrics) server_.metrics->answered(said.status);
  auto status = co_await send(said.status, "application/json", nullptr, body);
  if (status.ok()) co_await linger();
}

// Closing while bytes of the client lie unread would reset the connection and take the answer with
// it.
base::Task<void> ServerConnection::linger() {
  stream_->shutdown_write();
  timed_out_ = false;
  set_deadline(server_.options.linger_timeout);
  for (;;) {
    pump_.consume(pump_.data().size());
    if (pump_.ended() || timed_out_) co_return;
    wait_ = Wait::kPeerClosing;
    co_await pump_.more();
    wait_ = Wait::kNothing;
  }
}

void ServerConnection::on_stream_end() {
  if (pump_.error()) broken_ = true;
  if (cancel_ && answer_ != Answer::kFailed) cancel_->fire("client disconnected");
}

void ServerConnection::drain() {
  if (wait_ == Wait::kRequest && parser_.idle()) pump_.interrupt();
}

void ServerConnection::cancel(const char* reason) {
  if (!cancel_) return abort(reason);
  cancel_->fire(reason);
}

void ServerConnection::abort(const char* reason) {
  broken_ = true;
  if (cancel_) cancel_->fire(reason);
  pump_.close();
}

void ServerConnection::set_deadline(base::Duration from_now) {
  deadline_ = server_.runtime.clock().now() + from_now;
  if (timer_.armed()) {
    // A later deadline is looked at when the timer fires: most of them are never waited for.
    if (deadline_ >= armed_for_) return;
    timer_.move(deadline_);
  } else {
    timer_.arm(server_.runtime.executor.timers(), deadline_, [this] { on_timer(); });
  }
  armed_for_ = deadline_;
}

void ServerConnection::on_timer() {
  if (deadline_ == base::kNever) return;
  if (server_.runtime.clock().now() < deadline_) {
    armed_for_ = deadline_;
    timer_.arm(server_.runtime.executor.timers(), deadline_, [this] { on_timer(); });
    return;
  }
  deadline_ = base::kNever;
  timed_out_ = true;
  if (wait_ != Wait::kNothing) return pump_.interrupt();
  // A write stands still.
  broken_ = true;
  pump_.close();
}

}  // namespace verbatim::net
