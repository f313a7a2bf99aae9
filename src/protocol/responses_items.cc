#include "protocol/responses_items.h"

#include <array>

#include "protocol/raw_parameters.h"
#include "protocol/responses_parts.h"
#include "protocol/server_fields.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using json::Writer;
using message::Message;
using message::Role;

void write_raw_items(Writer& w, std::string_view raw) {
  const auto items = json::Document::parse(std::string(raw));
  if (!items) return;
  for (const auto& item : items->root()) {
    w.begin_object();
    write_members_but(w, item.value, "");
    w.end_object();
  }
}

void write_reasoning(Writer& w, const std::string& text) {
  w.begin_object().field("type", "reasoning").key("summary").begin_array().end_array();
  w.key("content").begin_array().begin_object().field("type", "reasoning_text");
  w.field("text", text).end_object().end_array().end_object();
}

void write_answer(Writer& w, const Message& message) {
  if (message.reasoning && !message.reasoning->empty()) write_reasoning(w, *message.reasoning);
  if (!message.text.empty() || message.tool_calls.empty()) {
    w.begin_object().field("type", "message").field("role", "assistant");
    w.field("content", message.text).end_object();
  }
  for (const auto& call : message.tool_calls) {
    w.begin_object().field("type", "function_call").field("call_id", call.id);
    w.field("name", call.name).field("arguments", call.arguments).end_object();
  }
}

Result<std::string> parts_text(const Value& item, const char* list, const std::string& field) {
  const auto parts = item.get(list);
  if (!parts) return std::string();
  if (!parts->is_array()) return theirs(mismatch(field + "." + list, "an array", *parts));
  std::string text;
  std::size_t number = 0;
  for (const auto& part : *parts) {
    const std::string path = at(field + "." + list, number++);
    if (!part.value.is_object()) return theirs(mismatch(path, "an object", part.value));
    for (const char* name : {"text", "refusal"}) {
      std::string piece;
      if (auto s = put(text_of(part.value, name, path + "."), piece); !s) return s.error();
      text += piece;
    }
  }
  return text;
}

Result<Item> read_call(const Value& value, const std::string& field) {
  Item item;
  item.kind = ItemKind::kCall;
  const std::string path = field + ".";
  if (auto s = put(text_of(value, "id", path), item.id); !s) return s.error();
  if (auto s = put(text_of(value, "name", path), item.name); !s) return s.error();
  if (item.name.empty()) return not_believed(path + "name", "a call without a name");
  if (auto s = put(text_of(value, "call_id", path), item.call_id); !s) return s.error();
  if (auto s = put(text_of(value, "arguments", path), item.text); !s) return s.error();
  return item;
}

// {"type":"function","function":{"name"}} -> {"type":"function","name"}.
void write_tool_choice(Writer& w, const Value& value) {
  const auto function = function_of(value);
  if (!function) {
    w.key("tool_choice").raw(value.raw());
    return;
  }
  w.key("tool_choice").begin_object().field("type", "function");
  write_members_but(w, *function, "");
  w.end_object();
}

void write_asked_reasoning(Writer& w, const Conversation& conversation) {
  const auto effort = parameter(conversation, "reasoning_effort");
  const auto asked = parameter(conversation, kAskedReasoning);
  if (!effort && !asked) return;
  w.key("reasoning").begin_object();
  if (effort) w.key("effort").raw(effort->root().raw());
  if (asked) write_members_but(w, asked->root(), "effort");
  w.end_object();
}

constexpr std::array<Renaming, 8> kRenamings{{{"tool_choice", write_tool_choice},
                                              {"reasoning_effort", nullptr},
                                              {kAskedReasoning, nullptr},
                                              {"max_tokens", nullptr},
                                              {"max_completion_tokens", nullptr},
                                              {"store", nullptr},
                                              {"response_format", nullptr},
                                              {"verbosity", nullptr}}};
constexpr std::string_view kOwn[] = {"input", "previous_response_id", "conversation", "background",
                                     "instructions"};

// {"type":"json_schema","json_schema":{..}} -> {"type":"json_schema",..}.
void write_format(Writer& w, const Value& value) {
  w.key("format").begin_object();
  for (const auto member : value) {
    if (member.name() == "json_schema" && member.value.is_object()) {
      write_members_but(w, member.value, "");
    } else {
      w.key(member.name()).raw(member.value.raw());
    }
  }
  w.end_object();
}

void write_text(Writer& w, const Conversation& conversation) {
  const auto format = parameter(conversation, "response_format");
  const auto verbosity = parameter(conversation, "verbosity");
  if (!format && !verbosity) return;
  w.key("text").begin_object();
  if (format) write_format(w, format->root());
  if (verbosity) w.key("verbosity").raw(verbosity->root().raw());
  w.end_object();
}

void write_tool(Writer& w, const message::Tool& tool, Silent functions) {
  const auto declared = json::Document::parse(tool.raw);
  const auto function = declared ? function_of(declared->root()) : std::nullopt;
  if (!function) return;
  w.begin_object().field("type", "function");
  write_members_but(w, *function, "");
  if (functions == Silent::kStrict && !function->get("strict")) w.field("strict", false);
  w.end_object();
}

}  // namespace

void write_items(Writer& w, const Message& message) {
  const auto said = unknown_member(message, kItems);
  if (!said.empty()) {
    write_raw_items(w, said);
    return;
  }
  if (message.role == Role::kTool) {
    w.begin_object().field("type", "function_call_output").field("call_id", message.tool_call_id);
    w.key("output");
    write_responses_content(w, message);
    w.end_object();
    return;
  }
  if (message.role != Role::kAssistant) {
    w.begin_object().field("type", "message").field("role", message::name(message.role));
    w.key("content");
    write_responses_content(w, message);
    w.end_object();
    return;
  }
  write_answer(w, message);
}

Result<Item> read_item(const Value& value, const std::string& field) {
  if (!value.is_object()) return theirs(mismatch(field, "an object", value));
  std::string type;
  if (auto s = put(text_of(value, "type", field + "."), type); !s) return s.error();
  if (type == "function_call") return read_call(value, field);
  Item item;
  if (auto s = put(text_of(value, "id", field + "."), item.id); !s) return s.error();
  if (type == "message") {
    item.kind = ItemKind::kMessage;
    if (auto s = put(parts_text(value, "content", field), item.text); !s) return s.error();
  } else if (type == "reasoning") {
    item.kind = ItemKind::kReasoning;
    if (auto s = put(parts_text(value, "content", field), item.text); !s) return s.error();
    if (!item.text.empty()) return item;
    if (auto s = put(parts_text(value, "summary", field), item.text); !s) return s.error();
  }
  return item;
}

Status check_responses(const Conversation& conversation) {
  std::size_t number = 0;
  for (const auto& message : conversation.messages) {
    const std::string field = at("messages", number++);
    // What came as items goes up as items.
    if (!unknown_member(message, kItems).empty()) continue;
    if (auto status = check_responses_content(message, field); !status.ok()) return status;
  }
  for (const auto& [name, raw] : conversation.parameters) {
    for (const auto own : kOwn) {
      if (name != own) continue;
      return unsupported(name,
                         "a field of the Responses protocol, which the gateway writes itself "
                         "in engine mode responses; leave it out");
    }
  }
  return {};
}

std::string write_responses_request(const Conversation& conversation, Silent functions) {
  Writer w;
  w.begin_object().field("model", conversation.model).key("input").begin_array();
  for (const auto& message : conversation.messages) write_items(w, message);
  w.end_array();
  if (!conversation.tools.empty()) {
    w.key("tools").begin_array();
    for (const auto& tool : conversation.tools) write_tool(w, tool, functions);
    w.end_array();
  }
  write_parameters(w, conversation, kRenamings);
  if (conversation.sampling.max_tokens)
    w.field("max_output_tokens", *conversation.sampling.max_tokens);
  write_asked_reasoning(w, conversation);
  write_text(w, conversation);
  w.field("store", false).field("stream", conversation.stream).end_object();
  return w.take();
}

}  // namespace verbatim::protocol
