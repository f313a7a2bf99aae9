#include "sim/openai/wire.h"

#include <utility>
#include <vector>

#include "json/writer.h"
#include "message/fold.h"
#include "net/sse.h"
#include "protocol/chat_answer.h"
#include "protocol/chat_stream.h"
#include "protocol/messages_emitter.h"
#include "protocol/responses_emitter.h"
#include "sim/answer.h"

namespace verbatim::sim::openai {
namespace {

using protocol::Wire;

constexpr std::string_view kDone = "[DONE]";

std::string frames(const protocol::NamedEvents& events) {
  std::string out;
  for (const auto& event : events) out += "event: " + event.name + "\ndata: " + event.data + "\n\n";
  return out;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string quoted_or_null(std::string_view text) {
  if (text.empty()) return "null";
  std::string out;
  json::append_string(out, text);
  return out;
}

class ChatWriter final : public WireWriter {
 public:
  ChatWriter(Heading heading, Dialect dialect)
      : head_{"chatcmpl-" + heading.id, heading.created, heading.model},
        dialect_(std::move(dialect)),
        emitter_(head_, {.include_usage = heading.include_usage, .logprobs = false}) {}

  std::string events(std::span<const message::Event> events) override {
    std::vector<std::string> payloads;
    emitter_.events(events, {}, payloads);
    return framed(payloads);
  }
  std::string ending(const Ending& ending) override {
    std::vector<std::string> payloads;
    emitter_.finish(message::FinishReason::kStop, ending.usage, payloads);
    payloads.pop_back();  // [DONE] is the last
    for (auto& payload : payloads) say_finish(payload, ending);
    return framed(payloads);
  }
  std::string last(const Ending&) override { return sse(kDone); }
  std::string failure(std::string_view message, const message::Usage&) override {
    return sse(error_body(Wire::kChat, 500, message));
  }
  std::string after_failure() override { return sse(kDone); }
  std::string whole(std::span<const message::Event> events, const Ending& ending) override {
    protocol::ChatAnswer answer;
    answer.message = message::fold(events).to_message();
    answer.usage = ending.usage;
    std::string body = protocol::write_chat_answer(head_, answer);
    say_finish(body, ending);
    say_reasoning(body);
    return body;
  }

 private:
  static void say_finish(std::string& text, const Ending& ending) {
    const bool calls = ending.type == "stop" && ending.calls;
    replace(text, R"("finish_reason":"stop")",
            "\"finish_reason\":" + quoted_or_null(calls ? "tool_calls" : ending.type));
  }
  void say_reasoning(std::string& text) const {
    if (dialect_.reasoning != "reasoning_content")
      replace(text, "\"reasoning_content\":", "\"" + dialect_.reasoning + "\":");
  }
  std::string framed(const std::vector<std::string>& payloads) const {
    std::string out;
    for (const auto& payload : payloads) out += sse(payload);
    say_reasoning(out);
    return out;
  }

  protocol::ChatHead head_;
  Dialect dialect_;
  protocol::ChatStreamEmitter emitter_;
};

class ResponsesWriter final : public WireWriter {
 public:
  ResponsesWriter(Heading heading, Dialect dialect)
      : dialect_(std::move(dialect)),
        created_(heading.created),
        emitter_({"resp_" + heading.id, heading.created, heading.model, std::move(heading.echo),
                  dialect_.says_completed_at},
                 std::move(heading.draw), dialect_.text_ends) {}

  std::string events(std::span<const message::Event> events) override {
    protocol::NamedEvents out;
    emitter_.events(events, out);
    return frames(out);
  }
  std::string ending(const Ending&) override { return {}; }
  std::string last(const Ending& ending) override {
    protocol::NamedEvents out;
    end(ending, out);
    std::string text = frames(out);
    if (dialect_.always_completes) replace(text, "response.incomplete", "response.completed");
    return text + (dialect_.ends_with_done ? sse(kDone) : "");
  }
  std::string failure(std::string_view message, const message::Usage& usage) override {
    protocol::NamedEvents out;
    emitter_.fail("server_error", message, &usage, out);
    return frames(out);
  }
  std::string after_failure() override { return dialect_.ends_with_done ? sse(kDone) : ""; }
  std::string whole(std::span<const message::Event> events, const Ending& ending) override {
    protocol::NamedEvents out;
    emitter_.events(events, out);
    emitter_.close(status(ending), out);
    emitter_.put_texts_last();
    return whole_of(ending);
  }

 private:
  void end(const Ending& ending, protocol::NamedEvents& out) {
    emitter_.close(status(ending), out);
    emitter_.end(status(ending), whole_of(ending), out);
  }
  std::string whole_of(const Ending& ending) const {
    auto usage = ending.usage;
    usage.reasoning_tokens = ending.reasoning_tokens;
    const std::string word = status(ending);
    return emitter_.whole(word, usage, word == "completed" ? created_ : 0);
  }
  static std::string status(const Ending& ending) {
    if (ending.type == "stop") return "completed";
    return ending.type == "length" ? "incomplete" : ending.type;
  }
  Dialect dialect_;
  const std::int64_t created_;
  protocol::ResponsesEmitter emitter_;
};

class MessagesWriter final : public WireWriter {
 public:
  MessagesWriter(const Heading& heading, Dialect dialect)
      : dialect_(std::move(dialect)),
        emitter_({dialect_.message_id + heading.id, heading.model, heading.prompt_tokens,
                  dialect_.signature(heading.id, heading.stream)},
                 dialect_.text_ends) {}

  std::string events(std::span<const message::Event> events) override {
    protocol::NamedEvents out;
    emitter_.events(events, out);
    return frames(out);
  }
  std::string ending(const Ending& ending) override {
    protocol::NamedEvents out;
    emitter_.finish(stop_reason(ending), ending.usage, out);
    return frames(out);
  }
  std::string last(const Ending&) override {
    protocol::NamedEvents out;
    protocol::MessagesEmitter::close(out);
    return frames(out) + after_failure();
  }
  std::string failure(std::string_view message, const message::Usage&) override {
    protocol::NamedEvents out;
    emitter_.open(out);
    protocol::MessagesEmitter::fail("api_error", message, out);
    return frames(out);
  }
  std::string after_failure() override { return dialect_.ends_with_done ? sse(kDone) : ""; }
  std::string whole(std::span<const message::Event> events, const Ending& ending) override {
    protocol::NamedEvents out;
    emitter_.events(events, out);
    return emitter_.whole(stop_reason(ending), ending.usage);
  }

 private:
  static std::string stop_reason(const Ending& ending) {
    if (ending.type == "stop") return ending.calls ? "tool_use" : "end_turn";
    return ending.type == "length" ? "max_tokens" : ending.type;
  }
  Dialect dialect_;
  protocol::MessagesEmitter emitter_;
};

}  // namespace

std::string call_id(Wire, const std::string& drawn) {
  return "call_" + drawn;
}

std::string signature(const std::string& id, bool) {
  return "sig-" + id;
}

std::unique_ptr<WireWriter> make_writer(Wire wire, Heading heading, Dialect dialect) {
  switch (wire) {
    case Wire::kResponses:
      return std::make_unique<ResponsesWriter>(std::move(heading), std::move(dialect));
    case Wire::kMessages:
      return std::make_unique<MessagesWriter>(heading, std::move(dialect));
    case Wire::kChat:
      break;
  }
  return std::make_unique<ChatWriter>(std::move(heading), std::move(dialect));
}

std::string error_body(Wire wire, int status, std::string_view message) {
  json::Writer w;
  w.begin_object();
  if (wire == Wire::kMessages) w.field("type", "error");
  const char* type = status >= 500 ? (wire == Wire::kMessages ? "api_error" : "server_error")
                                   : "invalid_request_error";
  w.key("error").begin_object().field("message", message).field("type", type);
  if (wire != Wire::kMessages) w.key("param").null().key("code").null();
  w.end_object().end_object();
  return w.take();
}

}  // namespace verbatim::sim::openai
