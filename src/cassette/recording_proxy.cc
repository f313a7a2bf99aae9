#include "cassette/recording_proxy.h"

#include <utility>

#include "net/end_to_end.h"
#include "protocol/openai_error.h"

namespace verbatim::cassette {
namespace {

using base::Status;
using base::Task;

// Time for the engine to begin its answer, and between two pieces of it.
constexpr base::Duration kSilence = std::chrono::minutes(10);

// What goes up: all but what belongs to the connection, and nothing that would have the answer
// compressed, which could not be recorded as it reads.
net::Headers passed_up(const net::Headers& client) {
  const net::EndToEnd fields(client);
  net::Headers up;
  for (const auto field : client) {
    if (fields.has(field.name) && !net::equals_ignoring_case(field.name, "accept-encoding"))
      up.add(field.name, field.value);
  }
  return up;
}

net::Headers passed_down(const net::Headers& engine) {
  const net::EndToEnd fields(engine);
  net::Headers down;
  for (const auto field : engine) {
    if (fields.has(field.name)) down.add(field.name, field.value);
  }
  return down;
}

net::BodyEnd end_of(const net::ClientResponse& answer) {
  using Kind = net::BodyEnd::Kind;
  if (!answer.length_known()) return {Kind::kClose, 0};
  if (const auto length = answer.content_length()) return {Kind::kLength, *length};
  return {Kind::kChunked, 0};
}

std::string unreachable(base::Error error) {
  error.message = "the engine behind the recording does not answer: " + error.message;
  return protocol::openai_error_body(error);
}

}  // namespace

// One answer on its way.
struct RecordingProxy::Passing {
  std::string name;                   // of its request, for messages
  std::optional<std::size_t> number;  // in the recording; absent: it is left out
  int status = 0;
  net::Headers headers;
  std::string body;
  std::string transport_error;
};

RecordingProxy::RecordingProxy(base::Runtime& runtime, Options options)
    : runtime_(runtime),
      options_(std::move(options)),
      recording_(options_.recording),
      client_(runtime) {
  server_ = std::make_unique<net::HttpServer>(
      runtime, [this](const net::Request& request, net::Responder& responder,
                      base::CancelSignal& cancel) { return serve(request, responder, cancel); });
}

RecordingProxy::~RecordingProxy() = default;

base::Result<std::uint16_t> RecordingProxy::start(const std::string& host, std::uint16_t port) {
  return server_->start(host, port);
}

Task<void> RecordingProxy::stop() {
  co_await server_->stop();
  co_await client_.stop();
}

Task<void> RecordingProxy::serve(const net::Request& request, net::Responder& responder,
                                 base::CancelSignal& cancel) {
  Passing passing;
  passing.name = std::string(request.method) + " " + std::string(request.path);
  auto asked = recording_.ask(request);
  if (asked) {
    passing.number = *asked;
  } else {
    options_.problem(passing.name + ": not recorded: " + asked.error().field + ": " +
                     asked.error().message);
  }
  std::string target = options_.engine.base_path + std::string(request.path);
  if (!request.query.empty()) target.append("?").append(request.query);
  net::ClientRequest up;
  up.endpoint = options_.engine.endpoint;
  up.method = request.method;
  up.target = target;
  up.headers = passed_up(request.headers);
  if (!request.body.empty()) up.body = {request.body};
  up.cancel = &cancel;
  auto answer = co_await client_.request(up, runtime_.clock().now() + kSilence);
  if (!answer.ok()) {
    if (passing.number)
      options_.problem(passing.name + ": not recorded: " + answer.error().message);
    const std::string body = unreachable(answer.error());
    (void)co_await responder.send(502, "application/json", body);
    co_return;
  }
  const base::CancelHook hang_up(cancel, [&answer] { answer->close(); });
  co_await pass_back(*answer, responder, passing);
}

Task<void> RecordingProxy::pass_back(net::ClientResponse& answer, net::Responder& responder,
                                     Passing& passing) {
  passing.status = answer.status();
  passing.headers = answer.headers();
  Status sent =
      responder.begin_stream(passing.status, passed_down(passing.headers), end_of(answer));
  if (sent.ok()) sent = co_await responder.flush_head();
  while (sent.ok() && !answer.ended()) {
    const auto piece = co_await answer.read_arrived(runtime_.clock().now() + kSilence);
    if (!piece.ok()) {
      if (piece.error().kind == base::ErrorKind::kCancelled) break;  // the client has gone
      passing.transport_error = piece.error().message;
      co_await record(passing);
      responder.fail();
      co_return;
    }
    passing.body += *piece;
    if (answer.ended()) {
      const std::string last(*piece);
      co_await record(passing);
      (void)co_await responder.end(last);
      co_return;
    }
    sent = co_await responder.write(*piece);
  }
  if (sent.ok() && answer.ended()) {
    co_await record(passing);
    (void)co_await responder.end();
    co_return;
  }
  if (passing.number) options_.problem(passing.name + ": not recorded: the client hung up");
}

Task<void> RecordingProxy::record(const Passing& passing) {
  if (!passing.number) co_return;
  Recording::Answer answer;
  answer.status = passing.status;
  answer.headers = &passing.headers;
  answer.body = passing.body;
  answer.transport_error = passing.transport_error;
  if (const auto status = recording_.answer(*passing.number, answer); !status.ok()) {
    options_.problem(passing.name + ": not recorded: " + status.error().field + ": " +
                     status.error().message);
    co_return;
  }
  const auto text = recording_.text();
  if (!text) {
    options_.problem(passing.name + ": not recorded: " + text.error().message);
    co_return;
  }
  const auto kept = co_await base::run_on(runtime_.worker, runtime_.executor,
                                          [this, &text] { return options_.keep(*text); });
  if (!kept.ok()) options_.problem(passing.name + ": not kept: " + kept.error().message);
}

}  // namespace verbatim::cassette
