#include "protocol/messages_input.h"

#include <string>
#include <utility>

#include "protocol/messages_blocks.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using message::Message;
using message::Role;

// Text of a block or a list of text blocks.
Result<std::string> text_of_blocks(const Value& value, const std::string& field) {
  if (value.is_string()) return value.string();
  if (!value.is_array()) return mismatch(field, "a string or an array of blocks", value);
  std::string text;
  std::size_t number = 0;
  for (const auto& each : value) {
    const std::string path = at(field, number++);
    auto block = read_block(each.value, path);
    if (!block) return base::invalid(block.error().field, block.error().message);
    if (block->kind != BlockKind::kText)
      return unsupported(path + ".type", "only text is served here");
    text += block->text;
  }
  return text;
}

class InputReader {
 public:
  Status read_system(const Value& system) {
    if (system.is_string()) return add(Role::kSystem, system.string());
    if (!system.is_array()) return mismatch("system", "a string or an array of blocks", system);
    std::size_t number = 0;
    for (const auto& each : system) {
      const std::string field = at("system", number++);
      auto block = read_block(each.value, field);
      if (!block) return base::invalid(block.error().field, block.error().message);
      if (auto status = add(Role::kSystem, std::move(block->text)); !status.ok()) return status;
    }
    return {};
  }

  Status read_message(const Value& value, const std::string& field) {
    if (!value.is_object()) return mismatch(field, "an object", value);
    const auto role = value.get("role");
    const std::string word = role && role->is_string() ? role->string() : std::string();
    if (word != "user" && word != "assistant")
      return base::invalid(field + ".role", "expected user or assistant");
    const auto content = value.get("content");
    if (!content) return base::invalid(field + ".content", "missing; expected text or blocks");
    const bool answers = word == "assistant";
    if (content->is_string())
      return add(answers ? Role::kAssistant : Role::kUser, content->string());
    if (!content->is_array())
      return mismatch(field + ".content", "a string or an array of blocks", *content);
    if (answers) messages_.push_back({.role = Role::kAssistant});
    std::size_t number = 0;
    for (const auto& block : *content) {
      const std::string path = at(field + ".content", number++);
      auto status = answers ? read_answer(block.value, path) : read_user(block.value, path);
      if (!status.ok()) return status;
    }
    return {};
  }

  std::vector<Message> take() { return std::move(messages_); }

 private:
  Status add(Role role, std::string text) {
    messages_.push_back({.role = role, .text = std::move(text)});
    return {};
  }

  Status read_answer(const Value& value, const std::string& path) {
    auto block = read_block(value, path);
    if (!block) return base::invalid(block.error().field, block.error().message);
    Message& into = messages_.back();
    if (block->kind == BlockKind::kText) into.text += block->text;
    if (block->kind == BlockKind::kThinking)
      into.reasoning = into.reasoning.value_or("") + block->text;
    if (block->kind == BlockKind::kToolUse)
      into.tool_calls.push_back({block->id, block->name, block->input});
    return {};
  }

  Status read_user(const Value& value, const std::string& path) {
    const auto type = value.is_object() ? value.get("type") : std::nullopt;
    const bool result = type && type->is_string() && type->string() == "tool_result";
    if (!result) {
      auto block = read_block(value, path);
      if (!block) return base::invalid(block.error().field, block.error().message);
      if (block->kind != BlockKind::kText)
        return unsupported(path + ".type", "only text and tool_result are served");
      return add(Role::kUser, std::move(block->text));
    }
    const auto id = value.get("tool_use_id");
    if (!id || !id->is_string())
      return base::invalid(path + ".tool_use_id", "missing; expected a string");
    const auto content = value.get("content");
    Result<std::string> text = std::string();
    if (content) text = text_of_blocks(*content, path + ".content");
    if (!text) return std::move(text).error();
    if (auto status = add(Role::kTool, std::move(*text)); !status.ok()) return status;
    messages_.back().tool_call_id = id->string();
    return {};
  }

  std::vector<Message> messages_;
};

}  // namespace

Result<std::vector<Message>> read_messages_input(const Value& body) {
  InputReader reader;
  if (const auto system = body.get("system")) {
    if (auto status = reader.read_system(*system); !status.ok()) return std::move(status).error();
  }
  const auto messages = body.get("messages");
  if (!messages || !messages->is_array() || messages->empty())
    return base::invalid("messages", "missing; expected an array of messages");
  std::size_t number = 0;
  for (const auto& each : *messages) {
    if (auto status = reader.read_message(each.value, at("messages", number++)); !status.ok())
      return std::move(status).error();
  }
  return reader.take();
}

}  // namespace verbatim::protocol
