#include "protocol/messages_blocks.h"

#include <algorithm>
#include <array>
#include <span>

#include "protocol/messages_parts.h"
#include "protocol/raw_parameters.h"
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

bool is_instruction(const Message& message) {
  return message.role == Role::kSystem || message.role == Role::kDeveloper;
}

std::size_t instructions(const Conversation& conversation) {
  const auto& all = conversation.messages;
  return static_cast<std::size_t>(std::find_if_not(all.begin(), all.end(), is_instruction) -
                                  all.begin());
}

// "" is no arguments.
bool is_object_text(const std::string& arguments) {
  const auto parsed = json::Document::parse(arguments);
  return arguments.empty() || (parsed && parsed->root().is_object());
}

void write_text_block(Writer& w, const std::string& text) {
  w.begin_object().field("type", "text").field("text", text).end_object();
}

void write_system(Writer& w, const Conversation& conversation, std::size_t count) {
  if (count == 0) return;
  w.key("system").begin_array();
  for (std::size_t i = 0; i < count; ++i) write_text_block(w, conversation.messages[i].text);
  w.end_array();
}

void write_result(Writer& w, const Message& message) {
  w.begin_object().field("type", "tool_result").field("tool_use_id", message.tool_call_id);
  w.key("content");
  write_messages_content(w, message);
  w.end_object();
}

// The results of the calls of one answer stand in one message.
void write_history(Writer& w, std::span<const Message> messages) {
  w.key("messages").begin_array();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const bool answer = messages[i].role == Role::kAssistant;
    w.begin_object().field("role", answer ? "assistant" : "user").key("content");
    if (messages[i].role == Role::kTool) {
      w.begin_array();
      write_result(w, messages[i]);
      while (i + 1 < messages.size() && messages[i + 1].role == Role::kTool)
        write_result(w, messages[++i]);
      w.end_array();
    } else if (answer) {
      write_blocks(w, messages[i]);
    } else {
      write_messages_content(w, messages[i]);
    }
    w.end_object();
  }
  w.end_array();
}

void write_stop(Writer& w, const Value& value) {
  w.key("stop_sequences");
  if (value.is_array()) {
    w.raw(value.raw());
    return;
  }
  w.begin_array().raw(value.raw()).end_array();
}

void write_user(Writer& w, const Value& value) {
  w.key("metadata").begin_object().key("user_id").raw(value.raw()).end_object();
}

constexpr std::array<Renaming, 13> kRenamings{{{"max_tokens", nullptr},
                                               {"max_completion_tokens", nullptr},
                                               {"tool_choice", nullptr},
                                               {"parallel_tool_calls", nullptr},
                                               {"response_format", nullptr},
                                               {"reasoning_effort", nullptr},
                                               {kAskedReasoning, nullptr},
                                               {"verbosity", nullptr},
                                               {"frequency_penalty", nullptr},
                                               {"presence_penalty", nullptr},
                                               {"logit_bias", nullptr},
                                               {"stop", write_stop},
                                               {"user", write_user}}};
// Members that chat has not, or that mean something else there.
constexpr std::string_view kOwn[] = {"system", "stop_sequences", "thinking", "container"};
// Parameters without a word in the protocol, and the value that asks for nothing. vLLM's server
// (0.32) reads over them with a 200, and a record would say that they were at work.
struct Missing {
  std::string_view name;
  std::string_view neutral;
};
constexpr Missing kMissing[] = {{"response_format", R"({"type":"text"})"},
                                {"reasoning_effort", R"("medium")"},
                                {"verbosity", R"("medium")"},
                                {"frequency_penalty", "0"},
                                {"presence_penalty", "0"},
                                {"repetition_penalty", "1"},
                                {"min_p", "0"},
                                {"stop_token_ids", "[]"},
                                {"logit_bias", "{}"}};

void write_tool_choice(Writer& w, const Conversation& conversation) {
  const auto choice = parameter(conversation, "tool_choice");
  const auto parallel = parameter(conversation, "parallel_tool_calls");
  const bool one = parallel && parallel->root().raw() == "false";
  if (!choice && !one) return;
  const std::string word =
      choice && choice->root().is_string() ? choice->root().string() : std::string("auto");
  const auto function = choice ? function_of(choice->root()) : std::nullopt;
  w.key("tool_choice").begin_object();
  if (function) {
    w.field("type", "tool");
    if (const auto name = function->get("name")) w.key("name").raw(name->raw());
  } else {
    w.field("type", word == "required" ? "any" : word);
  }
  if (one && word != "none") w.field("disable_parallel_tool_use", true);
  w.end_object();
}

void write_tool(Writer& w, const message::Tool& tool) {
  const auto declared = json::Document::parse(tool.raw);
  const auto function = declared ? function_of(declared->root()) : std::nullopt;
  if (!function) return;
  w.begin_object();
  write_members_but(w, *function, "parameters");
  const auto schema = function->get("parameters");
  w.key("input_schema").raw(schema ? schema->raw() : R"({"type":"object","properties":{}})");
  w.end_object();
}

// 0.0 is 0.
bool is_same(const Value& given, std::string_view neutral) {
  const auto known = json::Document::parse(std::string(neutral));
  if (known && given.is_number() && known->root().is_number())
    return given.number() == known->root().number();
  std::string plain(given.raw());
  std::erase_if(plain, [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; });
  return plain == neutral;
}

Status check_parameter(const RawMember& parameter) {
  const auto& [name, raw] = parameter;
  for (const auto own : kOwn) {
    if (name == own)
      return unsupported(name,
                         "no parameter of chat requests, which this gateway turns into "
                         "requests of the Messages protocol (engine mode messages)");
  }
  for (const auto& missing : kMissing) {
    if (name != missing.name) continue;
    const auto given = json::Document::parse(raw);
    if (!given || !is_same(given->root(), missing.neutral))
      return unsupported(name,
                         "the Messages protocol has no such parameter (engine mode messages)");
  }
  return {};
}

}  // namespace

void write_blocks(Writer& w, const Message& message) {
  const auto said = unknown_member(message, kContentBlocks);
  if (!said.empty()) {
    w.raw(said);
    return;
  }
  w.begin_array();
  if (message.reasoning && !message.reasoning->empty()) {
    w.begin_object().field("type", "thinking").field("thinking", *message.reasoning);
    w.field("signature", "").end_object();
  }
  if (!message.text.empty()) write_text_block(w, message.text);
  for (const auto& call : message.tool_calls) {
    w.begin_object().field("type", "tool_use").field("id", call.id).field("name", call.name);
    w.key("input").raw(call.arguments.empty() ? "{}" : call.arguments).end_object();
  }
  w.end_array();
}

Result<Block> read_block(const Value& value, const std::string& field) {
  if (!value.is_object()) return theirs(mismatch(field, "an object", value));
  const std::string path = field + ".";
  std::string type;
  if (auto s = put(text_of(value, "type", path), type); !s) return s.error();
  Block block;
  if (type == "text") {
    block.kind = BlockKind::kText;
    if (auto s = put(text_of(value, "text", path), block.text); !s) return s.error();
  } else if (type == "thinking") {
    block.kind = BlockKind::kThinking;
    if (auto s = put(text_of(value, "thinking", path), block.text); !s) return s.error();
  } else if (type == "tool_use") {
    block.kind = BlockKind::kToolUse;
    if (auto s = put(text_of(value, "name", path), block.name); !s) return s.error();
    if (block.name.empty()) return not_believed(path + "name", "a call without a name");
    if (auto s = put(text_of(value, "id", path), block.id); !s) return s.error();
    const auto input = object_of(value, "input", path);
    if (!input) return input.error();
    block.input = input->raw();
  }
  return block;
}

Status check_messages(const Conversation& conversation) {
  const std::size_t front = instructions(conversation);
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const Message& message = conversation.messages[i];
    const std::string field = at("messages", i);
    if (auto status = check_messages_content(message, field); !status.ok()) return status;
    if (i >= front && is_instruction(message))
      return unsupported(field + ".role",
                         "the Messages protocol has instructions at the front "
                         "only (engine mode messages); send it as user");
    std::size_t call = 0;
    for (const auto& each : message.tool_calls) {
      const std::string where = at(field + ".tool_calls", call++) + ".function.arguments";
      if (!is_object_text(each.arguments))
        return unsupported(where,
                           "the Messages protocol takes JSON objects only (engine mode "
                           "messages); leave a call out that was cut");
    }
  }
  if (front == conversation.messages.size())
    return base::invalid("messages", "instructions alone: append a message of the user");
  for (const auto& each : conversation.parameters) {
    if (auto status = check_parameter(each); !status.ok()) return status;
  }
  return {};
}

std::string write_messages_request(const Conversation& conversation) {
  const std::size_t front = instructions(conversation);
  Writer w;
  w.begin_object().field("model", conversation.model);
  w.field("max_tokens", conversation.sampling.max_tokens.value_or(kDefaultMaxTokens));
  write_system(w, conversation, front);
  write_history(w, std::span(conversation.messages).subspan(front));
  if (!conversation.tools.empty()) {
    w.key("tools").begin_array();
    for (const auto& tool : conversation.tools) write_tool(w, tool);
    w.end_array();
    write_tool_choice(w, conversation);
  }
  write_parameters(w, conversation, kRenamings);
  w.field("stream", conversation.stream).end_object();
  return w.take();
}

}  // namespace verbatim::protocol
