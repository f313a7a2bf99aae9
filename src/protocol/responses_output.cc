#include "protocol/responses_output.h"

#include "json/value.h"
#include "protocol/sealed_reasoning.h"

namespace verbatim::protocol {
namespace {

using json::Writer;

void write_usage(Writer& w, const message::Usage* usage) {
  w.key("usage");
  if (usage == nullptr) {
    w.null();
    return;
  }
  w.begin_object().field("input_tokens", usage->prompt_tokens);
  w.key("input_tokens_details").begin_object();
  w.field("cached_tokens", usage->cached_tokens.value_or(0)).end_object();
  w.field("output_tokens", usage->completion_tokens).key("output_tokens_details").begin_object();
  w.field("reasoning_tokens", usage->reasoning_tokens.value_or(0)).end_object();
  w.field("total_tokens", usage->prompt_tokens + usage->completion_tokens).end_object();
}

void write_action(Writer& w, const std::string& arguments) {
  w.key("action").begin_object().field("type", "exec");
  const auto parsed = json::Document::parse(arguments.empty() ? "{}" : arguments);
  if (parsed && parsed->root().is_object()) {
    for (const auto& member : parsed->root()) w.key(member.name()).raw(member.value.raw());
    if (!parsed->root().find("command")) w.key("command").begin_array().end_array();
    if (!parsed->root().find("env")) w.key("env").begin_object().end_object();
  }
  w.end_object();
}

void write_call(Writer& w, const OutputItem& item) {
  switch (item.tool.kind) {
    case ToolKind::kCustom:
      w.field("type", "custom_tool_call").field("call_id", item.call_id);
      w.field("name", item.tool.name);
      if (!item.tool.space.empty()) w.field("namespace", item.tool.space);
      w.field("input", custom_input(item.text));
      return;
    case ToolKind::kLocalShell:
      w.field("type", "local_shell_call").field("call_id", item.call_id);
      write_action(w, item.text);
      return;
    case ToolKind::kToolSearch:
      w.field("type", "tool_search_call").field("call_id", item.call_id);
      w.field("execution", "client").key("arguments").raw(item.text.empty() ? "{}" : item.text);
      return;
    case ToolKind::kFunction:
      break;
  }
  w.field("type", "function_call").field("call_id", item.call_id);
  w.field("name", item.tool.name);
  if (!item.tool.space.empty()) w.field("namespace", item.tool.space);
  w.field("arguments", item.text);
}

void write_parts(Writer& w, const OutputItem& item) {
  w.key("content").begin_array();
  if (!item.text.empty()) write_text_part(w, item, item.text);
  w.end_array();
}

}  // namespace

std::string custom_input(const std::string& arguments) {
  const auto parsed = json::Document::parse(arguments);
  if (!parsed || !parsed->root().is_object()) return arguments;
  const auto input = parsed->root().get("input");
  return input && input->is_string() && parsed->root().size() == 1 ? input->string() : arguments;
}

bool is_shell_action(const std::string& arguments) {
  const auto parsed = json::Document::parse(arguments);
  if (!parsed || !parsed->root().is_object()) return false;
  const auto command = parsed->root().get("command");
  if (!command || !command->is_array()) return false;
  for (const auto& word : *command) {
    if (!word.value.is_string()) return false;
  }
  return true;
}

bool is_object(const std::string& arguments) {
  const auto parsed = json::Document::parse(arguments.empty() ? "{}" : arguments);
  return parsed && parsed->root().is_object();
}

void write_text_part(Writer& w, const OutputItem& item, std::string_view text) {
  const bool message = item.kind == ItemKind::kMessage;
  w.begin_object().field("type", message ? "output_text" : "reasoning_text").field("text", text);
  if (message) {
    w.key("annotations").begin_array().end_array();
    w.key("logprobs").begin_array().end_array();
  }
  w.end_object();
}

void write_output_item(Writer& w, const OutputItem& item, std::string_view status) {
  w.begin_object().field("id", item.id);
  if (item.kind == ItemKind::kCall) {
    write_call(w, item);
  } else if (item.kind == ItemKind::kReasoning) {
    w.field("type", "reasoning").key("summary").begin_array().end_array();
    write_parts(w, item);
    if (item.sealed && !item.text.empty()) w.field("encrypted_content", seal_reasoning(item.text));
  } else {
    w.field("type", "message").field("role", "assistant");
    write_parts(w, item);
  }
  w.field("status", status).end_object();
}

void write_response(Writer& w, const ResponseHead& head, const ResponseState& state,
                    const std::vector<OutputItem>& items) {
  w.begin_object().field("id", head.id).field("object", "response");
  w.field("created_at", head.created).field("model", head.model).field("status", state.status);
  w.key("error");
  state.error.empty() ? w.null() : w.raw(state.error);
  w.key("incomplete_details");
  if (state.status == kIncomplete) {
    w.begin_object().field("reason", "max_output_tokens").end_object();
  } else {
    w.null();
  }
  w.key("output").begin_array();
  if (state.status != kInProgress) {
    for (const auto& item : items) write_output_item(w, item, item.open ? kIncomplete : kCompleted);
  }
  w.end_array();
  write_usage(w, state.usage);
  if (head.says_completed_at) {
    w.key("completed_at");
    state.completed == 0 ? w.null() : w.integer(state.completed);
  }
  for (const auto& [name, raw] : head.members) w.key(name).raw(raw);
  w.end_object();
}

}  // namespace verbatim::protocol
