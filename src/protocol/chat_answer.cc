#include "protocol/chat_answer.h"

#include <algorithm>

#include "message/fold.h"
#include "protocol/chat_parts.h"

namespace verbatim::protocol {
namespace {

// Length of the character at the start of `text`, 0 where there is none (Unicode 15, table 3-7).
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool outside = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                       (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return outside ? 0 : length;
}

// Bytes of one token as text: what is no character is shown as U+FFFD.
std::string shown(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t length = character_length(bytes);
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

void write_token(json::Writer& w, const std::string& bytes, double logprob) {
  constexpr double kLowest = -9999.0;  // JSON has no -inf; OpenAI shows this number
  w.field("token", shown(bytes)).field("logprob", std::max(logprob, kLowest));
  w.key("bytes").begin_array();
  for (const char c : bytes) w.integer(static_cast<unsigned char>(c));
  w.end_array();
}

void write_calls(json::Writer& w, std::span<const message::ToolCall> calls) {
  w.key("tool_calls").begin_array();
  for (const auto& call : calls) {
    w.begin_object().field("id", call.id).field("type", "function");
    w.key("function").begin_object().field("name", call.name).field("arguments", call.arguments);
    w.end_object().end_object();
  }
  w.end_array();
}

void write_message(json::Writer& w, const message::Message& message) {
  w.begin_object().field("role", "assistant").key("content");
  message.text.empty() ? w.null() : w.string(message.text);
  if (message.reasoning && !message.reasoning->empty()) {
    w.field("reasoning_content", *message.reasoning);
  }
  if (!message.tool_calls.empty()) write_calls(w, message.tool_calls);
  w.end_object();
}

}  // namespace

void write_usage(json::Writer& w, const message::Usage& usage) {
  w.begin_object().field("prompt_tokens", usage.prompt_tokens);
  w.field("completion_tokens", usage.completion_tokens);
  w.field("total_tokens", usage.prompt_tokens + usage.completion_tokens);
  if (usage.cached_tokens) {
    w.key("prompt_tokens_details").begin_object().field("cached_tokens", *usage.cached_tokens);
    w.end_object();
  }
  w.end_object();
}

void write_logprobs(json::Writer& w, std::span<const TokenLogprob> logprobs) {
  w.begin_object().key("content").begin_array();
  for (const auto& token : logprobs) {
    w.begin_object();
    write_token(w, token.bytes, token.logprob);
    w.key("top_logprobs").begin_array();
    for (const auto& top : token.top) {
      w.begin_object();
      write_token(w, top.bytes, top.logprob);
      w.end_object();
    }
    w.end_array().end_object();
  }
  w.end_array().end_object();
}

namespace {
void write_choice(json::Writer& w, std::size_t index, const ChatAnswer& choice) {
  w.begin_object().field("index", std::uint64_t{index}).key("message");
  write_message(w, choice.message);
  w.key("logprobs");
  if (choice.with_logprobs) {
    write_logprobs(w, choice.logprobs);
  } else {
    w.null();
  }
  w.field("finish_reason", message::name(choice.finish)).end_object();
}
}  // namespace

std::string write_chat_answer(const ChatHead& head, const ChatAnswer& answer) {
  return write_chat_answer(head, std::span(&answer, 1));
}

std::string write_chat_answer(const ChatHead& head, std::span<const ChatAnswer> choices) {
  json::Writer w;
  w.begin_object().field("id", head.id).field("object", "chat.completion");
  w.field("created", head.created).field("model", head.model);
  w.key("choices").begin_array();
  for (std::size_t i = 0; i < choices.size(); ++i) write_choice(w, i, choices[i]);
  w.end_array().key("usage");
  write_usage(w, choices.front().usage);
  w.end_object();
  return w.take();
}

}  // namespace verbatim::protocol
