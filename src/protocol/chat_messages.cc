#include "protocol/chat_messages.h"

#include <array>
#include <optional>
#include <utility>

#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using message::Message;
using message::Role;

// One key with three spellings: vLLM, SGLang and clients in between each renamed it.
constexpr std::array<std::string_view, 3> kReasoningKeys = {"reasoning_content", "reasoning",
                                                            "thinking"};

// The text of a part; nullopt: it is of another type.
Result<std::optional<std::string>> read_part(const Value& part, const std::string& field,
                                             Parts parts) {
  if (!part.is_object()) return mismatch(field, "an object with a type", part);
  const auto type = part.get("type");
  if (!type) return base::invalid(field + ".type", "missing; expected \"text\"");
  if (!type->is_string()) return mismatch(field + ".type", "a string", *type);
  if (type->string() != "text") {
    if (parts == Parts::kKept) return std::optional<std::string>();
    return unsupported(field, "content part of type " + found(*type) +
                                  "; to this engine goes text only, as token ids");
  }
  const auto text = part.get("text");
  if (!text) return base::invalid(field + ".text", "missing; expected a string");
  auto read = read_string(*text, field + ".text");
  if (!read) return std::move(read).error();
  return std::optional<std::string>(std::move(*read));
}

Result<message::ToolCall> read_call(const Value& value, const std::string& field) {
  if (!value.is_object()) return mismatch(field, "an object", value);
  message::ToolCall call;
  if (const auto type = value.get("type")) {
    if (!type->is_string()) return mismatch(field + ".type", "a string", *type);
    if (type->string() != "function") {
      return unsupported(field + ".type", "calls of type " + found(*type));
    }
  }
  if (const auto id = value.get("id")) {
    auto text = read_string(*id, field + ".id");
    if (!text) return std::move(text).error();
    call.id = std::move(*text);
  }
  const auto function = value.get("function");
  if (!function) return base::invalid(field + ".function", "missing; expected an object");
  if (!function->is_object()) return mismatch(field + ".function", "an object", *function);
  const auto name = function->get("name");
  if (!name) return base::invalid(field + ".function.name", "missing; expected a string");
  auto name_text = read_string(*name, field + ".function.name");
  if (!name_text) return std::move(name_text).error();
  if (name_text->empty()) return base::invalid(field + ".function.name", "must not be empty");
  call.name = std::move(*name_text);
  if (const auto arguments = function->get("arguments")) {
    if (!arguments->is_string()) {
      return mismatch(field + ".function.arguments", "a string that holds JSON", *arguments);
    }
    call.arguments = arguments->string();
  }
  return call;
}

// Reads the members of one message; one function per key.
class MessageReader {
 public:
  MessageReader(const Value& value, std::string field, std::string_view separator, Parts parts)
      : value_(value), field_(std::move(field)), separator_(separator), parts_(parts) {}

  Result<Message> read() {
    if (!value_.is_object()) return mismatch(field_, "an object", value_);
    if (value_.size() > kMaxMembers) return too_many_members(field_, kMaxMembers);
    if (auto status = read_role(); !status) return std::move(status).error();
    for (const auto& member : value_) {
      const std::string name = member.name();
      if (member.value.is_null() || name == "role" || !is_last(value_, name, member.value))
        continue;
      if (auto status = read_member(name, member.value); !status) return std::move(status).error();
    }
    return std::move(message_);
  }

 private:
  std::string field(std::string_view name) const { return field_ + "." + std::string(name); }
  bool from_assistant() const { return message_.role == Role::kAssistant; }

  Status read_role() {
    constexpr std::string_view kExpected = "one of system, developer, user, assistant, tool";
    const auto role = value_.get("role");
    if (!role) return base::invalid(field("role"), "missing; expected " + std::string(kExpected));
    if (!role->is_string()) return mismatch(field("role"), "a string", *role);
    const auto known = message::role_named(role->string());
    if (!known) {
      return base::invalid(field("role"),
                           "expected " + std::string(kExpected) + ", found " + found(*role));
    }
    message_.role = *known;
    return {};
  }

  Status read_member(const std::string& name, const Value& value) {
    if (name == "content") return read_content(value);
    if (name == "tool_calls") return read_calls(value);
    if (name == "tool_call_id") return take(read_string(value, field(name)), message_.tool_call_id);
    if (name == "name") return take(read_string(value, field(name)), message_.name);
    if (name == "function_call") {
      return unsupported(field(name), "replaced by tool_calls");
    }
    if (name == "audio") return unsupported(field(name), "only text is served");
    if (name == "refusal") return read_refusal(value);
    for (const auto key : kReasoningKeys) {
      if (name == key && from_assistant()) return read_reasoning(name, value);
    }
    message_.unknown.emplace_back(name, std::string(value.raw()));
    return {};
  }

  static Status take(Result<std::string> text, std::string& into) {
    if (!text) return std::move(text).error();
    into = std::move(*text);
    return {};
  }

  Status read_content(const Value& value) {
    const std::string content = field("content");
    if (value.is_string()) return take(value.string(), message_.text);
    if (!value.is_array()) return mismatch(content, "a string or an array of text parts", value);
    std::size_t index = 0;
    bool beyond_text = false, begun = false;
    for (const auto& part : value) {
      auto text = read_part(part.value, at(content, index++), parts_);
      if (!text) return std::move(text).error();
      beyond_text = beyond_text || !*text;
      if (!*text) continue;
      if (std::exchange(begun, true)) message_.text += separator_;
      message_.text += **text;
    }
    if (beyond_text) message_.unknown.emplace_back(message::kParts, std::string(value.raw()));
    return {};
  }

  Status read_refusal(const Value& value) {
    auto text = read_string(value, field("refusal"));
    if (!text) return std::move(text).error();
    if (!text->empty()) return unsupported(field("refusal"), "refusals have no place in a prompt");
    return {};
  }

  Status read_reasoning(const std::string& name, const Value& value) {
    auto text = read_string(value, field(name));
    if (!text) return std::move(text).error();
    if (message_.reasoning && *message_.reasoning != *text) {
      return base::invalid(field(name), "differs from the reasoning under another name");
    }
    message_.reasoning = std::move(*text);
    return {};
  }

  Status read_calls(const Value& value) {
    if (!value.is_array()) return mismatch(field("tool_calls"), "an array", value);
    if (!value.empty() && !from_assistant()) {
      return base::invalid(field("tool_calls"), "only an assistant message has calls");
    }
    for (const auto& item : value) {
      auto call = read_call(item.value, at(field("tool_calls"), message_.tool_calls.size()));
      if (!call) return std::move(call).error();
      message_.tool_calls.push_back(std::move(*call));
    }
    return {};
  }

  Value value_;
  std::string field_;
  std::string_view separator_;
  Parts parts_;
  Message message_;
};

Result<message::Tool> read_tool(const Value& value, const std::string& field) {
  if (!value.is_object()) return mismatch(field, "an object", value);
  const auto type = value.get("type");
  if (!type) return base::invalid(field + ".type", "missing; expected \"function\"");
  if (!type->is_string()) return mismatch(field + ".type", "a string", *type);
  if (type->string() != "function") {
    return unsupported(field + ".type", "tools of type " + found(*type));
  }
  const auto function = value.get("function");
  if (!function) return base::invalid(field + ".function", "missing; expected an object");
  if (!function->is_object()) return mismatch(field + ".function", "an object", *function);
  const auto name = function->get("name");
  if (!name) return base::invalid(field + ".function.name", "missing; expected a string");
  auto text = read_string(*name, field + ".function.name");
  if (!text) return std::move(text).error();
  if (text->empty()) return base::invalid(field + ".function.name", "must not be empty");
  if (const auto description = function->get("description");
      description && !description->is_string()) {
    return mismatch(field + ".function.description", "a string", *description);
  }
  if (const auto parameters = function->get("parameters"); parameters && !parameters->is_object()) {
    return mismatch(field + ".function.parameters", "an object", *parameters);
  }
  return message::Tool{std::move(*text), std::string(value.raw())};
}

}  // namespace

Result<std::vector<Message>> read_chat_messages(const Value& value, std::string_view part_separator,
                                                Parts parts) {
  if (!value.is_array()) return mismatch("messages", "an array of messages", value);
  if (value.empty()) return base::invalid("messages", "must not be empty");
  if (value.size() > kMaxMessages)
    return too_many("messages", "messages", kMaxMessages, value.size());
  std::vector<Message> out;
  for (const auto& item : value) {
    auto message =
        MessageReader(item.value, at("messages", out.size()), part_separator, parts).read();
    if (!message) return std::move(message).error();
    out.push_back(std::move(*message));
  }
  return out;
}

Result<std::vector<message::Tool>> read_chat_tools(const Value& value) {
  if (!value.is_array()) return mismatch("tools", "an array of tools", value);
  std::vector<message::Tool> out;
  for (const auto& item : value) {
    auto tool = read_tool(item.value, at("tools", out.size()));
    if (!tool) return std::move(tool).error();
    out.push_back(std::move(*tool));
  }
  return out;
}

}  // namespace verbatim::protocol
