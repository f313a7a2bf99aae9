#include "gateway/relay.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "gateway/error_policy.h"
#include "gateway/turn_endpoint.h"
#include "net/end_to_end.h"
#include "net/sse.h"
#include "protocol/openai_error.h"

namespace verbatim::gateway {
namespace {

using base::Result;
using base::Task;

bool is_of_the_client(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kNames = {"authorization", "x-api-key",
                                                             "api-key"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) {
    return net::equals_ignoring_case(name, known);
  });
}

net::BodyEnd end_of(const net::ClientResponse& response) {
  using Kind = net::BodyEnd::Kind;
  if (!response.length_known()) return {Kind::kClose, 0};
  if (const auto length = response.content_length()) return {Kind::kLength, *length};
  return {Kind::kChunked, 0};
}

// Where an event of this side may stand: behind a whole one, in a body that is plain and has room.
class EventStream {
 public:
  EventStream(const net::ClientResponse& response, const net::BodyEnd& end)
      : open_(end.kind != net::BodyEnd::Kind::kLength && is_plain_stream(response.headers())) {}

  void passed(std::string_view bytes) {
    if (!open_) return;
    tail_.append(bytes.substr(bytes.size() - std::min(bytes.size(), kTail)));
    tail_.erase(0, tail_.size() - std::min(tail_.size(), kTail));
  }
  [[nodiscard]] bool takes_event() const { return open_ && net::ends_event(tail_); }

 private:
  static constexpr std::size_t kTail = 4;

  static bool is_plain_stream(const net::Headers& headers) {
    return net::is_event_stream(headers.find("content-type")) && !headers.has("content-encoding");
  }

  const bool open_;
  std::string tail_;
};

Task<void> break_off(net::Responder& responder, const EventStream& events,
                     const base::Error& error) {
  // Nobody is there to read it when the client was the one to go.
  if (events.takes_event() && error.kind != base::ErrorKind::kCancelled) {
    std::string event;
    net::append_sse_data(event, protocol::openai_error_body(error));
    (void)co_await responder.write(event);
  }
  responder.fail();
}

}  // namespace

net::Headers relayed_up(const net::Headers& client) {
  const net::EndToEnd fields(client);
  net::Headers up;
  for (const auto field : client) {
    if (fields.has(field.name) && !is_of_the_client(field.name)) up.add(field.name, field.value);
  }
  return up;
}

net::Headers relayed_down(const net::Headers& engine) {
  const net::EndToEnd fields(engine);
  net::Headers down;
  for (const auto field : engine) {
    if (fields.has(field.name)) down.add(field.name, field.value);
  }
  return down;
}

Task<void> Relay::handle(const net::Request& request, net::Responder& responder,
                         base::CancelSignal& gone) {
  std::string target(request.path);
  if (!request.query.empty()) target.append("?").append(request.query);
  engine::HttpPeer::Forward up;
  up.method = request.method;
  up.target = target;
  up.headers = relayed_up(request.headers);
  up.body = request.body;
  up.cancel = &gone;
  auto response = co_await peer_.forward(up);
  if (!response.ok()) {
    const auto failure = told_end(std::move(response).error(), gone);
    co_return co_await send_error(responder, failure);
  }
  const base::CancelHook hang_up(gone, [&response] { response->close(); });
  co_await pass_back(*response, responder, gone);
}

Task<void> Relay::pass_back(net::ClientResponse& response, net::Responder& responder,
                            const base::CancelSignal& gone) {
  const auto silence = [this] { return peer_.in(peer_.options().idle_timeout); };
  // While nothing was sent, what breaks can still be told as an error.
  Result<std::string_view> bytes = std::string_view();
  const bool with_head = response.arrived();
  if (with_head) bytes = co_await response.read_arrived(silence());
  if (!bytes.ok()) {
    const auto failure = told_end(std::move(bytes).error(), gone);
    co_return co_await send_error(responder, failure);
  }
  const net::BodyEnd end = end_of(response);
  EventStream events(response, end);
  auto sent = responder.begin_stream(response.status(), relayed_down(response.headers()), end);
  if (sent.ok() && !with_head) sent = co_await responder.flush_head();
  while (sent.ok() && !response.ended()) {
    events.passed(*bytes);
    sent = co_await responder.write(*bytes);
    if (!sent.ok()) co_return;
    bytes = co_await response.read_arrived(silence());
    if (bytes.ok()) continue;
    const auto failure = told_end(std::move(bytes).error(), gone);
    co_return co_await break_off(responder, events, failure);
  }
  if (sent.ok()) (void)co_await responder.end(*bytes);
}

}  // namespace verbatim::gateway
