#include "simulate/chat_client.h"

#include <algorithm>

#include "base/timer.h"
#include "json/value.h"
#include "json/writer.h"
#include "net/sse.h"

namespace verbatim::simulate {

using base::Task;

namespace {

constexpr std::size_t kMaxBody = 16U << 20;
constexpr base::Duration kPlainPatience = std::chrono::seconds(60);

std::uint64_t index_of(const json::Value& choice) {
  const auto index = choice.is_object() ? choice.get("index") : std::nullopt;
  const auto number = index && index->is_number() ? index->integer() : std::nullopt;
  return number ? static_cast<std::uint64_t>(*number) : UINT64_MAX;
}

// An answer with one of its choices alone, which is the first then.
std::string as_only_choice(const json::Value& answer, const json::Value& choice) {
  json::Writer w;
  w.begin_object();
  for (const auto& member : answer) {
    w.key(member.name());
    if (member.name() != "choices") {
      w.raw(member.value.raw());
      continue;
    }
    w.begin_array().begin_object().field("index", 0);
    for (const auto& part : choice) {
      if (part.name() != "index") w.key(part.name()).raw(part.value.raw());
    }
    w.end_object().end_array();
  }
  w.end_object();
  return w.take();
}

}  // namespace

// One chat request under way.
struct ChatClient::Running {
  explicit Running(const Post& of) : post(of), readers(of.choices), ended(of.choices) {}

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
  std::vector<protocol::ChatStreamReader> readers;  // one per choice
  std::vector<bool> ended;
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

void ChatClient::name_retry(const Post& post, net::ClientRequest& asked) {
  if (!post.key.empty()) {
    const bool forgotten = broken_ == Break::kForgottenKey;
    asked.headers.add("Idempotency-Key",
                      forgotten ? post.key + "." + std::to_string(++keys_) : post.key);
  }
  if (post.count.empty()) return;
  const bool taken_for_one = broken_ == Break::kEveryRepeat && post.count == "0";
  asked.headers.add("x-stainless-retry-count", taken_for_one ? "1" : post.count);
}

Task<Outcome> ChatClient::chat(const Post& post) {
  Running running(post);
  running.patience.arm(runtime_.executor.timers(), now() + post.leave.after,
                       [this, &running] { running.leave(now()); });
  net::ClientRequest asked = request("POST", post.target);
  asked.headers.add("Content-Type", "application/json").add("X-Request-Id", post.request_id);
  if (!post.door.empty()) asked.headers.add("X-Session-ID", post.door);
  name_retry(post, asked);
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
  const auto doc = json::Document::parse(*body);
  const auto choices = doc && doc->root().is_object() ? doc->root().get("choices") : std::nullopt;
  findings_.check(choices && choices->is_array() && choices->size() == running.post.choices,
                  "answer shape", std::to_string(running.post.choices) + " choices", *body);
  std::uint32_t index = 0;
  for (const auto& choice : *choices) {
    findings_.check(index_of(choice.value) == index, "answer shape", "choices in their order",
                    *body);
    auto result = protocol::read_chat_answer(as_only_choice(doc->root(), choice.value));
    findings_.check(result.ok(), "answer shape", "a chat.completion object", *body);
    running.outcome.results.push_back(std::move(*result));
    ++index;
  }
  running.outcome.terminal = true;
  if (!running.post.on_terminal) co_return;
  for (index = 0; index < running.post.choices; ++index)
    running.post.on_terminal(index, running.outcome.results[index]);
}

base::Status ChatClient::read_chunk(Running& running, std::string_view payload) {
  const auto doc = json::Document::parse(std::string(payload));
  const auto choices = doc && doc->root().is_object() ? doc->root().get("choices") : std::nullopt;
  // Errors, and what is said of all choices.
  if (!choices || !choices->is_array() || choices->size() == 0)
    return running.readers.front().feed(payload, running.events);
  const json::Value choice = (*choices->begin()).value;
  const auto index = index_of(choice);
  findings_.check(choices->size() == 1 && index < running.post.choices, "stream shape",
                  "one choice, below " + std::to_string(running.post.choices),
                  std::string(payload));
  findings_.check(!running.ended[index], "stream order", "nothing behind the end of a choice",
                  std::string(payload));
  auto& reader = running.readers[index];
  auto status = reader.feed(as_only_choice(doc->root(), choice), running.events);
  if (!status.ok() || reader.result().finish_reason.empty()) return status;
  running.ended[index] = true;
  running.outcome.terminal = true;
  if (running.post.on_terminal) running.post.on_terminal(index, reader.result());
  return status;
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
  const auto status = read_chunk(running, payload);
  if (status.ok()) return {};
  findings_.check(payload.starts_with(R"({"error":)"), "stream shape", "chat.completion.chunk",
                  std::string(payload) + ": " + status.error().message);
  outcome.error = status.error().message;
  running.end(Outcome::Kind::kFailed);
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
      const bool all =
          std::find(running.ended.begin(), running.ended.end(), false) == running.ended.end();
      findings_.check(all || !running.outcome.error.empty(), "stream end",
                      "an end of each choice, or an error", "neither");
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
  for (const auto& reader : running.readers) running.outcome.results.push_back(reader.result());
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
