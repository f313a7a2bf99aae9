#include "protocol/chat_history.h"

#include "protocol/raw_parameters.h"

namespace verbatim::protocol {
namespace {

using json::Writer;
using message::Message;

constexpr std::string_view kReasoning = "reasoning";

void write_calls(Writer& w, const Message& message) {
  w.key("tool_calls").begin_array();
  for (const auto& call : message.tool_calls) {
    w.begin_object().field("id", call.id).field("type", "function");
    w.key("function").begin_object().field("name", call.name).field("arguments", call.arguments);
    w.end_object().end_object();
  }
  w.end_array();
}

}  // namespace

void write_history_message(Writer& w, const Message& message) {
  const auto parts = message::parts_of(message);
  w.begin_object().field("role", message::name(message.role)).key("content");
  parts.empty() ? w.string(message.text) : w.raw(parts);
  if (!message.name.empty()) w.field("name", message.name);
  if (message.role == message::Role::kTool) w.field("tool_call_id", message.tool_call_id);
  const bool named = !unknown_member(message, kReasoning).empty();
  if (message.reasoning && !message.reasoning->empty() && !named)
    w.field("reasoning_content", *message.reasoning);
  if (!message.tool_calls.empty()) write_calls(w, message);
  for (const auto& [name, raw] : message.unknown) {
    if (name != message::kParts && !is_reserved(name)) w.key(name).raw(raw);
  }
  w.end_object();
}

std::string write_chat_request(const Conversation& conversation) {
  Writer w;
  w.begin_object().field("model", conversation.model).key("messages").begin_array();
  for (const auto& message : conversation.messages) write_history_message(w, message);
  w.end_array();
  if (!conversation.tools.empty()) {
    w.key("tools").begin_array();
    for (const auto& tool : conversation.tools) w.raw(tool.raw);
    w.end_array();
  }
  for (const auto& [name, raw] : conversation.parameters) {
    if (name != kAskedReasoning) w.key(name).raw(raw);
  }
  w.field("stream", conversation.stream);
  if (conversation.stream)
    w.key("stream_options").begin_object().field("include_usage", true).end_object();
  w.end_object();
  return w.take();
}

}  // namespace verbatim::protocol
