#include "cassette/replay_server.h"

#include <utility>

#include "json/value.h"
#include "protocol/openai_error.h"

namespace verbatim::cassette {
namespace {

using base::Task;

net::Headers fields(const Pairs& pairs) {
  net::Headers out;
  for (const auto& [name, value] : pairs) {
    if (net::is_token(name) && net::is_field_value(value)) out.add(name, value);
  }
  return out;
}

// A body that is no JSON is recorded as a string of it.
std::string wire_body(const RecordedResponse& response) {
  if (is_json(header(response.headers, "content-type"))) return *response.body;
  const auto document = json::Document::parse(*response.body);
  return document && document->root().is_string() ? document->root().string() : *response.body;
}

std::string refusal(const std::string& why) {
  base::Error error =
      base::error(base::ErrorKind::kConflict, "the cassette has another request here: " + why);
  error.code = "cassette_mismatch";
  return protocol::openai_error_body(error);
}

Task<void> send_whole(const RecordedResponse& response, net::Responder& responder) {
  const auto headers = fields(response.headers);
  const std::string body = wire_body(response);
  if (response.transport_error.empty()) {
    (void)co_await responder.send(response.status, headers, body);
    co_return;
  }
  if (responder.begin_stream(response.status, headers).ok()) (void)co_await responder.write(body);
  responder.fail();
}

Task<void> send_stream(const RecordedResponse& response, net::Responder& responder) {
  const auto headers = fields(response.headers);
  if (!responder.begin_stream(response.status, headers).ok()) co_return;
  std::string event;
  for (const auto& line : *response.sse) {
    event += line;
    if (line != "\n" && line != "\r\n") continue;
    const auto sent = co_await responder.write(event);
    if (!sent.ok()) co_return;
    event.clear();
  }
  if (response.transport_error.empty()) {
    (void)co_await responder.end(event);
    co_return;
  }
  (void)co_await responder.write(event);
  responder.fail();
}

}  // namespace

ReplayServer::ReplayServer(base::Runtime& runtime, Tape tape,
                           std::function<void(const Asked&)> seen)
    : tape_(std::move(tape)), seen_(std::move(seen)) {
  net::ServerOptions options;
  options.name = "verbatim-cassette";
  server_ = std::make_unique<net::HttpServer>(
      runtime,
      [this](const net::Request& request, net::Responder& responder,
             base::CancelSignal&) -> Task<void> { return serve(request, responder); },
      std::move(options));
}

ReplayServer::~ReplayServer() = default;

base::Result<std::uint16_t> ReplayServer::start(const std::string& host, std::uint16_t port) {
  return server_->start(host, port);
}

Task<void> ReplayServer::stop() {
  return server_->stop();
}

Task<void> ReplayServer::serve(const net::Request& request, net::Responder& responder) {
  const auto found = tape_.take(request.method, request.path, request.query, request.body);
  if (seen_) seen_({request.method, request.target, request.body, found});
  if (found.turn == nullptr) {
    const std::string body = refusal(found.why);
    (void)co_await responder.send(409, "application/json", body);
    co_return;
  }
  const auto& response = found.turn->response;
  if (response.sse) {
    co_await send_stream(response, responder);
  } else {
    co_await send_whole(response, responder);
  }
}

}  // namespace verbatim::cassette
