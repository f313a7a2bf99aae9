#include "gateway/chat_endpoint.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/utf8.h"
#include "gateway/chat_answers.h"
#include "gateway/error_policy.h"
#include "gateway/passed_headers.h"
#include "json/value.h"
#include "protocol/openai_error.h"

namespace verbatim::gateway {

using base::Task;

namespace {

// The engine's body goes to the client as it is where it already has the shape of the client's
// protocol.
bool has_openai_shape(const std::string& body) {
  auto doc = json::Document::parse(body);
  if (!doc || !doc->root().is_object()) return false;
  const auto error = doc->root().get("error");
  return error && error->is_object() && error->get("message") && error->get("message")->is_string();
}

constexpr std::size_t kMaxIdHeader = 512;

// An id that the client gives in a header. It goes into records, which are JSON, while a field of
// HTTP may hold any byte from 0x80 on.
base::Status read_id_header(const net::Headers& headers, const std::string& name,
                            std::string& into) {
  const std::string_view value = headers.find(name);
  if (value.size() > kMaxIdHeader) {
    return base::invalid(name, "expected at most " + std::to_string(kMaxIdHeader) +
                                   " bytes, found " + std::to_string(value.size()));
  }
  if (!base::valid_utf8(value))
    return base::invalid(name, "expected UTF-8, found bytes that are none");
  into = value;
  return {};
}

// Fields that say something of the body they came with. The client gets another body, or one that
// was read as plain JSON.
bool describes_body(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kNames = {"content-type",
                                                              "content-encoding",
                                                              "content-language",
                                                              "content-location",
                                                              "content-range",
                                                              "content-md5",
                                                              "content-disposition",
                                                              "content-digest",
                                                              "digest",
                                                              "repr-digest",
                                                              "etag",
                                                              "last-modified"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) {
    return net::equals_ignoring_case(name, known);
  });
}

base::Error no_session(const std::string& id, std::string_view what) {
  return base::error(base::ErrorKind::kNotFound, std::string(what) + ": session_id=" + id +
                                                     "; POST /sessions starts a new one");
}

}  // namespace

Task<void> send_error(net::Responder& responder, const base::Error& error) {
  const int status = http_status(error);
  net::Headers headers;
  headers.add("Content-Type", "application/json");
  const bool verbatim = error.upstream && has_openai_shape(error.upstream->body);
  if (error.upstream) {
    for (const auto& [name, value] : error.upstream->headers) {
      if (!describes_body(name)) headers.add(name, value);
    }
  }
  const std::string body = verbatim ? error.upstream->body : protocol::openai_error_body(error);
  (void)co_await responder.send(status, headers, body);
}

Task<void> ChatEndpoint::handle(const net::Request& http, net::Responder& responder,
                                base::CancelSignal& gone, std::string session_id) {
  auto request = protocol::read_chat_request(http.body);
  if (!request) co_return co_await send_error(responder, request.error());
  auto turn_request = turn_of(http, *request);
  if (!turn_request) co_return co_await send_error(responder, turn_request.error());
  // From before the session is looked up: a deletion either is seen by the look-up, or sees the
  // turn.
  base::CancelSignal cancel;
  base::CancelHook client(gone, [&] { cancel.fire(gone.reason()); });
  std::optional<RunningTurns::Entry> running;
  if (!session_id.empty()) {
    running.emplace(running_, runtime_.executor, session_id, cancel);
    auto session = co_await store_.session(session_id);
    if (!session) co_return co_await send_error(responder, session.error());
    if (!session->has_value())
      co_return co_await send_error(responder, no_session(session_id, "session not found"));
  }

  protocol::ChatHead head;
  head.id = "chatcmpl-" + base::new_base62_id(runtime_.random, 24);
  head.created = runtime_.clock().wall_ms() / 1000;
  head.model = request->model.empty() ? model_.name : request->model;
  turn_request->session_id = session_id;
  turn_request->completion_id = head.id;
  if (request->stream) {
    co_await stream(std::move(*turn_request), *request, head, responder, cancel);
  } else {
    co_await whole(std::move(*turn_request), *request, head, responder, cancel);
  }
}

base::Result<TurnRequest> ChatEndpoint::turn_of(const net::Request& http,
                                                protocol::ChatRequest& request) {
  TurnRequest turn;
  if (auto status = read_id_header(http.headers, "x-request-id", turn.request_id); !status.ok())
    return status.error();
  if (auto status = read_id_header(http.headers, "x-thread-id", turn.thread_id); !status.ok())
    return status.error();
  if (turn.request_id.empty()) turn.request_id = "req_" + base::new_base62_id(runtime_.random, 24);
  turn.chat = http.body;
  turn.headers = headers_for_engine(http.headers, turn.request_id);
  turn.messages = std::move(request.messages);
  turn.wants_tools = request.wants_tools();
  turn.tools = std::move(request.tools);
  turn.sampling = request.sampling;
  turn.template_kwargs = std::move(request.chat_template_kwargs);
  return turn;
}

Task<base::Result<trajectory::TurnPtr>> ChatEndpoint::run(TurnRequest& request,
                                                          TurnObserver& observer,
                                                          base::CancelSignal& cancel) {
  auto turn = co_await runner_.run(request, observer, cancel);
  if (!turn && turn.error().kind == base::ErrorKind::kCancelled &&
      cancel.reason() == RunningTurns::kDeleted)
    co_return no_session(request.session_id, "session deleted while the turn was running");
  co_return std::move(turn);
}

Task<void> ChatEndpoint::stream(TurnRequest turn_request, const protocol::ChatRequest& request,
                                const protocol::ChatHead& head, net::Responder& responder,
                                base::CancelSignal& cancel) {
  net::Headers headers;
  headers.add("Content-Type", "text/event-stream").add("X-Request-Id", turn_request.request_id);
  headers.add("Cache-Control", "no-cache").add("X-Accel-Buffering", "no");
  StreamedAnswer answer(runtime_, responder, model_.renderer->tokenizer(), head, request, headers);
  auto turn = co_await run(turn_request, answer, cancel);
  const bool begun = answer.over();
  if (turn) {
    (void)co_await answer.finish(**turn);
  } else if (begun) {
    (void)co_await answer.fail(turn.error());
  } else {
    co_await send_error(responder, turn.error());
  }
}

Task<void> ChatEndpoint::whole(TurnRequest turn_request, const protocol::ChatRequest& request,
                               const protocol::ChatHead& head, net::Responder& responder,
                               base::CancelSignal& cancel) {
  net::Headers headers;
  headers.add("Content-Type", "application/json").add("X-Request-Id", turn_request.request_id);
  WholeAnswer answer(model_.renderer->tokenizer(), request.sampling.logprobs);
  auto turn = co_await run(turn_request, answer, cancel);
  if (!turn) co_return co_await send_error(responder, turn.error());
  protocol::ChatAnswer whole;
  whole.message = (*turn)->answer;
  whole.finish = (*turn)->finish;
  whole.usage = usage_of(**turn);
  whole.logprobs = std::move(answer.logprobs);
  whole.with_logprobs = request.sampling.logprobs;
  (void)co_await responder.send(200, headers, protocol::write_chat_answer(head, whole));
}

}  // namespace verbatim::gateway
