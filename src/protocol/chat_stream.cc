#include "protocol/chat_stream.h"

#include "json/writer.h"
#include "message/fold.h"
#include "protocol/chat_parts.h"
#include "protocol/openai_error.h"

namespace verbatim::protocol {
namespace {

constexpr std::string_view kDone = "[DONE]";

// The delta object of an event; empty where the event has none.
struct DeltaWriter {
  static std::string text(std::string_view key, const std::string& value) {
    std::string out = "{\"";
    out.append(key).append("\":");
    json::append_string(out, value);
    out += '}';
    return out;
  }
  std::string operator()(const message::ReasoningDelta& e) const {
    return text("reasoning_content", e.text);
  }
  std::string operator()(const message::TextDelta& e) const { return text("content", e.text); }
  std::string operator()(const message::ToolCallStart& e) const {
    json::Writer w;
    w.begin_object().key("tool_calls").begin_array().begin_object();
    w.field("index", std::uint64_t{e.index}).field("id", e.native_id).field("type", "function");
    w.key("function").begin_object().field("name", e.name).field("arguments", "").end_object();
    w.end_object().end_array().end_object();
    return w.take();
  }
  std::string operator()(const message::ToolCallArguments& e) const {
    std::string out = "{\"tool_calls\":[{\"index\":" + std::to_string(e.index);
    out += ",\"function\":{\"arguments\":";
    json::append_string(out, e.text);
    out += "}}]}";
    return out;
  }
  std::string operator()(const message::ToolCallEnd&) const { return {}; }
  std::string operator()(const message::ItemStart&) const { return {}; }
};

}  // namespace

ChatStreamEmitter::ChatStreamEmitter(const ChatHead& head, const Options& options)
    : options_(options) {
  head_ = "{\"id\":";
  json::append_string(head_, head.id);
  head_ += ",\"object\":\"chat.completion.chunk\",\"created\":" + std::to_string(head.created);
  head_ += ",\"model\":";
  json::append_string(head_, head.model);
}

std::string ChatStreamEmitter::chunk(std::string_view delta, std::string_view finish) {
  std::string out = head_;
  out.append(",\"choices\":[{\"index\":").append(std::to_string(options_.index));
  out.append(",\"delta\":").append(delta).append(",\"logprobs\":");
  if (pending_.empty()) {
    out += "null";
  } else {
    json::Writer w;
    write_logprobs(w, pending_);
    out += w.text();
    pending_.clear();
  }
  out += ",\"finish_reason\":";
  if (finish.empty()) {
    out += "null";
  } else {
    json::append_string(out, finish);
  }
  out += options_.include_usage ? "}],\"usage\":null}" : "}]}";
  return out;
}

void ChatStreamEmitter::open(std::vector<std::string>& out) {
  if (opened_) return;
  opened_ = true;
  out.push_back(chunk(R"({"role":"assistant","content":""})", {}));
}

void ChatStreamEmitter::events(std::span<const message::Event> events,
                               std::span<const TokenLogprob> tokens,
                               std::vector<std::string>& out) {
  open(out);
  if (options_.logprobs) pending_.insert(pending_.end(), tokens.begin(), tokens.end());
  for (const auto& event : events) {
    const std::string delta = std::visit(DeltaWriter{}, event);
    if (!delta.empty()) out.push_back(chunk(delta, {}));
  }
}

void ChatStreamEmitter::finish(message::FinishReason reason, std::vector<std::string>& out) {
  open(out);
  out.push_back(chunk("{}", message::name(reason)));
}

void ChatStreamEmitter::end(const message::Usage& usage, std::vector<std::string>& out) {
  if (options_.include_usage) {
    json::Writer w;
    write_usage(w, usage);
    out.push_back(head_ + ",\"choices\":[],\"usage\":" + w.text() + "}");
  }
  out.emplace_back(kDone);
}

void ChatStreamEmitter::fail(const base::Error& error, std::vector<std::string>& out) {
  out.push_back(openai_error_body(error));
  out.emplace_back(kDone);
}

}  // namespace verbatim::protocol
