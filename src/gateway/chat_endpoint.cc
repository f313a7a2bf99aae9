#include "gateway/chat_endpoint.h"

#include "gateway/error_policy.h"
#include "json/value.h"
#include "net/sse.h"
#include "protocol/chat_answer.h"
#include "protocol/chat_request.h"
#include "protocol/chat_stream.h"
#include "protocol/openai_error.h"

namespace verbatim::gateway {

using base::Status;
using base::Task;

namespace {

// Logprobs as the client reads them: ids spelled out.
std::vector<protocol::TokenLogprob> spell_logprobs(
    const tokenizer::Tokenizer& tokenizer, std::span<const trajectory::TokenId> ids,
    std::span<const double> values, std::span<const std::vector<engine::TopLogprob>> top) {
  std::vector<protocol::TokenLogprob> list;
  list.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    protocol::TokenLogprob entry{std::string(tokenizer.bytes(ids[i])), values[i], {}};
    if (i < top.size()) {
      for (const auto& other : top[i])
        entry.top.push_back({std::string(tokenizer.bytes(other.id)), other.logprob});
    }
    list.push_back(std::move(entry));
  }
  return list;
}

message::Usage usage_of(const trajectory::Turn& turn) {
  return {turn.row_size - turn.completion.size(), turn.completion.size(), turn.cached_tokens};
}

// Keeps what a whole answer shows beside the message.
class WholeAnswer final : public TurnObserver {
 public:
  WholeAnswer(const tokenizer::Tokenizer& tokenizer, bool wanted)
      : tokenizer_(tokenizer), wanted_(wanted) {}

  Task<Status> on_chunk(std::span<const message::Event>, const engine::TokenChunk& chunk) override {
    if (wanted_) {
      auto more = spell_logprobs(tokenizer_, chunk.ids, chunk.logprobs, chunk.top_logprobs);
      logprobs.insert(logprobs.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    }
    co_return Status();
  }

  std::vector<protocol::TokenLogprob> logprobs;

 private:
  const tokenizer::Tokenizer& tokenizer_;
  bool wanted_;
};

// Writes the turn as server-sent events while it is sampled, one write per chunk of the engine.
class StreamedAnswer final : public TurnObserver {
 public:
  StreamedAnswer(net::Responder& responder, const tokenizer::Tokenizer& tokenizer,
                 const protocol::ChatHead& head, const protocol::ChatRequest& request,
                 const net::Headers& headers)
      : responder_(responder),
        tokenizer_(tokenizer),
        emitter_(head, {request.include_usage, request.sampling.logprobs}),
        wanted_(request.sampling.logprobs),
        headers_(headers) {}

  Task<Status> on_chunk(std::span<const message::Event> events,
                        const engine::TokenChunk& chunk) override {
    if (auto status = begin(); !status.ok()) co_return status;
    std::vector<protocol::TokenLogprob> tokens;
    if (wanted_) tokens = spell_logprobs(tokenizer_, chunk.ids, chunk.logprobs, chunk.top_logprobs);
    emitter_.events(events, tokens, payloads_);
    co_return co_await write();
  }

  Task<Status> finish(const trajectory::Turn& turn) {
    if (auto status = begin(); !status.ok()) co_return status;
    emitter_.finish(turn.finish, usage_of(turn), payloads_);
    co_return co_await end();
  }

  Task<Status> fail(const base::Error& error) {
    emitter_.fail(error, payloads_);
    co_return co_await end();
  }

  [[nodiscard]] bool begun() const { return begun_; }

 private:
  Status begin() {
    if (begun_) return {};
    begun_ = true;
    emitter_.open(payloads_);
    return responder_.begin_stream(200, headers_);
  }
  void frame() {
    frames_.clear();
    for (const auto& payload : payloads_) net::append_sse_data(frames_, payload);
    payloads_.clear();
  }
  Task<Status> write() {
    frame();
    if (frames_.empty()) co_return Status();
    co_return co_await responder_.write(frames_);
  }
  Task<Status> end() {
    frame();
    co_return co_await responder_.end(frames_);
  }

  net::Responder& responder_;
  const tokenizer::Tokenizer& tokenizer_;
  protocol::ChatStreamEmitter emitter_;
  bool wanted_;
  const net::Headers& headers_;
  bool begun_ = false;
  std::vector<std::string> payloads_;
  std::string frames_;
};

// The engine's body goes to the client as it is where it already has the shape of the client's
// protocol.
bool has_openai_shape(const std::string& body) {
  auto doc = json::Document::parse(body);
  if (!doc || !doc->root().is_object()) return false;
  const auto error = doc->root().get("error");
  return error && error->is_object() && error->get("message") && error->get("message")->is_string();
}

std::string text_of_header(std::string_view value) {
  return value.data() == nullptr ? std::string() : std::string(value);
}

}  // namespace

Task<void> send_error(net::Responder& responder, const base::Error& error) {
  const int status = http_status(error);
  net::Headers headers;
  headers.add("Content-Type", "application/json");
  const bool verbatim = error.upstream && has_openai_shape(error.upstream->body);
  if (error.upstream) {
    for (const auto& [name, value] : error.upstream->headers) {
      if (!net::equals_ignoring_case(name, "content-type")) headers.add(name, value);
    }
  }
  const std::string body = verbatim ? error.upstream->body : protocol::openai_error_body(error);
  (void)co_await responder.send(status, headers, body);
}

Task<void> ChatEndpoint::handle(const net::Request& http, net::Responder& responder,
                                base::CancelSignal& cancel, std::string session_id) {
  auto request = protocol::read_chat_request(http.body);
  if (!request) co_return co_await send_error(responder, request.error());
  if (!session_id.empty()) {
    auto session = co_await store_.session(session_id);
    if (!session) co_return co_await send_error(responder, session.error());
    if (!session->has_value()) {
      const auto missing =
          base::error(base::ErrorKind::kNotFound, "session not found: session_id=" + session_id);
      co_return co_await send_error(responder, missing);
    }
  }

  protocol::ChatHead head;
  head.id = "chatcmpl-" + base::new_base62_id(runtime_.random, 24);
  head.created = runtime_.clock().wall_ms() / 1000;
  head.model = request->model.empty() ? model_.name : request->model;

  TurnRequest turn_request;
  turn_request.messages = std::move(request->messages);
  turn_request.wants_tools = request->wants_tools();
  turn_request.tools = std::move(request->tools);
  turn_request.sampling = request->sampling;
  turn_request.template_kwargs = std::move(request->chat_template_kwargs);
  turn_request.session_id = session_id;
  turn_request.request_id = text_of_header(http.headers.find("x-request-id"));
  if (turn_request.request_id.empty())
    turn_request.request_id = "req_" + base::new_base62_id(runtime_.random, 24);
  turn_request.thread_id = text_of_header(http.headers.find("x-thread-id"));
  turn_request.completion_id = head.id;

  net::Headers headers;
  headers.add("Content-Type", request->stream ? "text/event-stream" : "application/json");
  headers.add("X-Request-Id", turn_request.request_id);
  if (request->stream) headers.add("Cache-Control", "no-cache").add("X-Accel-Buffering", "no");
  const auto& tokenizer = model_.renderer->tokenizer();

  if (request->stream) {
    StreamedAnswer answer(responder, tokenizer, head, *request, headers);
    auto turn = co_await runner_.run(std::move(turn_request), answer, cancel);
    if (turn) {
      (void)co_await answer.finish(**turn);
    } else if (answer.begun()) {
      (void)co_await answer.fail(turn.error());
    } else {
      co_await send_error(responder, turn.error());
    }
    co_return;
  }
  WholeAnswer answer(tokenizer, request->sampling.logprobs);
  auto turn = co_await runner_.run(std::move(turn_request), answer, cancel);
  if (!turn) co_return co_await send_error(responder, turn.error());
  protocol::ChatAnswer whole;
  whole.message = (*turn)->answer;
  whole.finish = (*turn)->finish;
  whole.usage = usage_of(**turn);
  whole.logprobs = std::move(answer.logprobs);
  whole.with_logprobs = request->sampling.logprobs;
  (void)co_await responder.send(200, headers, protocol::write_chat_answer(head, whole));
}

}  // namespace verbatim::gateway
