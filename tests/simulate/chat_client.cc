#include "simulate/chat_client.h"

#include "base/timer.h"
#include "json/value.h"
#include "net/sse.h"

namespace verbatim::simulate {

using base::Task;

namespace {

constexpr std::size_t kMaxBody = 16U << 20;
constexpr base::Duration kPlainPatience = std::chrono::seconds(60);

}  // namespace

// One chat request under way.
struct ChatClient::Running {
  explicit Running(const Post& of) : post(of) {}

  void leave(base::MonoTime now) {
    if (left) return;
    left = true;
    outcome.left_at = now;
    outcome.kind = Outcome::Kind::kLeft;
    gone.fire("the agent leaves");
    if (response) response->close();
  }
  void end(Outcome::Kind kind) {
    if (!left) outcome.kind = kind;
  }

  const Post& post;
  Outcome outcome;
  base::CancelSignal gone;
  base::Timer patience;
  std::optional<net::ClientResponse> response;
  protocol::ChatStreamReader reader;
  message::Events events;
  std::size_t seen = 0;
  bool done = false;
  bool left = false;
};

void ChatClient::renew() {
  client_ = std::make_unique<net::HttpClient>(runtime_);
}

Task<void> ChatClient::reconnect() {
  co_await client_->stop();
  renew();
}

net::ClientRequest ChatClient::request(std::string_view method, std::string_view target) const {
  net::ClientRequest request;
  request.endpoint = {"gateway", port_, false};
  request.method = method;
  request.target = target;
  return request;
}

Task<Outcome> ChatClient::chat(const Post& post) {
  Running running(post);
  running.patience.arm(runtime_.executor.timers(), now() + post.leave.after,
                       [this, &running] { running.leave(now()); });
  net::ClientRequest asked = request("POST", post.target);
  asked.headers.add("Content-Type", "application/json").add("X-Request-Id", post.request_id);
  if (!post.door.empty()) asked.headers.add("X-Session-ID", post.door);
  asked.body.emplace_back(post.body);
  asked.cancel = &running.gone;
  auto response = co_await client_->request(asked, base::kNever);
  if (!response) {
    running.end(Outcome::Kind::kBroken);
    running.outcome.error = response.error().message;
  } else {
    running.outcome.status = response->status();
    running.response.emplace(std::move(*response));
    if (running.left) running.response->close();
    co_await read_answer(running);
  }
  running.patience.cancel();
  co_return std::move(running.outcome);
}

Task<void> ChatClient::read_answer(Running& running) {
  if (running.outcome.status != 200) {
    co_await read_refusal(running);
  } else if (running.post.stream) {
    co_await read_stream(running);
  } else {
    co_await read_whole(running);
  }
}

Task<void> ChatClient::read_refusal(Running& running) {
  auto body = co_await running.response->read_all(kMaxBody);
  running.end(body ? Outcome::Kind::kRefused : Outcome::Kind::kBroken);
  if (!body) co_return;
  const auto doc = json::Document::parse(*body);
  const bool object = doc && doc->root().is_object();
  // An engine's own answer passes on as it is: some put no "error" around it.
  const auto inner = object ? doc->root().get("error") : std::nullopt;
  const auto error = inner || !object ? inner : std::optional(doc->root());
  const auto message = error && error->is_object() ? error->get("message") : std::nullopt;
  findings_.check(message && message->is_string(), "error shape",
                  "status " + std::to_string(running.outcome.status) +
                      R"( with {"error":{"message":...}}, or an engine's {"message":...})",
                  *body);
  running.outcome.error = message->string();
  if (const auto code = error->get("code"); code && code->is_string())
    running.outcome.code = code->string();
}

Task<void> ChatClient::read_whole(Running& running) {
  auto body = co_await running.response->read_all(kMaxBody);
  running.end(body ? Outcome::Kind::kAnswered : Outcome::Kind::kBroken);
  if (!body) co_return;
  auto result = protocol::read_chat_answer(*body);
  findings_.check(result.ok(), "answer shape", "a chat.completion object", *body);
  running.outcome.result = std::move(*result);
  running.outcome.terminal = true;
  if (running.post.on_terminal) running.post.on_terminal(running.outcome.result);
}

base::Status ChatClient::take_event(Running& running, std::string_view payload) {
  ++running.seen;
  Outcome& outcome = running.outcome;
  if (payload == "[DONE]") {
    running.done = true;
    return {};
  }
  findings_.check(!running.done && outcome.error.empty(), "stream order",
                  "nothing but [DONE] behind the end", std::string(payload));
  const auto status = running.reader.feed(payload, running.events);
  if (!status.ok()) {
    findings_.check(payload.starts_with(R"({"error":)"), "stream shape", "chat.completion.chunk",
                    std::string(payload) + ": " + status.error().message);
    outcome.error = status.error().message;
    running.end(Outcome::Kind::kFailed);
    return {};
  }
  if (outcome.terminal || running.reader.result().finish_reason.empty()) return {};
  outcome.terminal = true;
  if (running.post.on_terminal) running.post.on_terminal(running.reader.result());
  return {};
}

Task<void> ChatClient::read_stream(Running& running) {
  net::SseReader frames(kMaxBody);
  for (;;) {
    auto bytes = co_await running.response->read();
    if (running.left) break;
    if (!bytes) {
      if (running.outcome.error.empty()) running.end(Outcome::Kind::kBroken);
      break;
    }
    if (bytes->empty()) {
      findings_.check(running.done, "stream end", "[DONE] before the end of the body",
                      "the end behind " + std::to_string(running.seen) + " events");
      if (running.outcome.error.empty()) running.end(Outcome::Kind::kAnswered);
      break;
    }
    (void)frames.feed(*bytes, [this, &running](const net::SseEvent& event) {
      return take_event(running, event.data);
    });
    const auto& limit = running.post.leave.after_events;
    if (!limit || running.seen < *limit || running.done) continue;
    running.leave(now());
    break;
  }
  running.outcome.result = running.reader.result();
}

Task<Reply> ChatClient::send(std::string method, std::string target, std::string body,
                             std::string request_id) {
  net::ClientRequest asked = request(method, target);
  asked.headers.add("Content-Type", "application/json");
  if (!request_id.empty()) asked.headers.add("X-Request-Id", request_id);
  if (!body.empty()) asked.body.emplace_back(body);
  auto response = co_await client_->request(asked, now() + kPlainPatience);
  Reply reply;
  if (!response) co_return reply;
  auto answer = co_await response->read_all(kMaxBody, now() + kPlainPatience);
  if (!answer) co_return reply;
  reply.status = response->status();
  reply.body = std::move(*answer);
  co_return reply;
}

}  // namespace verbatim::simulate
