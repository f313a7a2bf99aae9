#include "protocol/messages_input.h"

#include <optional>
#include <string>
#include <utility>

#include "protocol/messages_blocks.h"
#include "protocol/messages_parts.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using message::Message;
using message::Role;

// A block of text, or a picture.
Result<ContentPart> read_part(const Value& value, const std::string& path) {
  if (is_picture_block(value)) return read_picture_block(value, path);
  auto block = read_block(value, path);
  if (!block) return base::invalid(block.error().field, block.error().message);
  if (block->kind != BlockKind::kText)
    return unsupported(path + ".type", "only text, images and documents are served here");
  ContentPart part;
  part.text = std::move(block->text);
  return part;
}

// A text or a list of blocks, as the content of `into`.
Status read_content(const Value& value, const std::string& field, Message& into) {
  if (value.is_string()) {
    into.text = value.string();
    return {};
  }
  if (!value.is_array()) return mismatch(field, "a string or an array of blocks", value);
  PartsGatherer gathered;
  std::size_t number = 0;
  for (const auto& each : value) {
    auto part = read_part(each.value, at(field, number++));
    if (!part) return std::move(part).error();
    gathered.add(std::move(*part));
  }
  gathered.settle(into);
  return {};
}

bool is_result(const Value& block) {
  const auto type = block.is_object() ? block.get("type") : std::nullopt;
  return type && type->is_string() && type->string() == "tool_result";
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
    const std::string word = text_or_nothing(value, "role");
    if (word != "user" && word != "assistant")
      return base::invalid(field + ".role", "expected user or assistant");
    const auto content = value.get("content");
    if (!content) return base::invalid(field + ".content", "missing; expected text or blocks");
    const bool answers = word == "assistant";
    if (content->is_string())
      return add(answers ? Role::kAssistant : Role::kUser, content->string());
    if (!content->is_array())
      return mismatch(field + ".content", "a string or an array of blocks", *content);
    return answers ? read_answers(*content, field + ".content")
                   : read_user(*content, field + ".content");
  }

  std::vector<Message> take() { return std::move(messages_); }

 private:
  Status add(Role role, std::string text) {
    messages_.push_back({.role = role, .text = std::move(text)});
    return {};
  }

  Status read_answers(const Value& blocks, const std::string& list) {
    messages_.push_back({.role = Role::kAssistant});
    std::size_t number = 0;
    for (const auto& block : blocks) {
      if (auto status = read_answer(block.value, at(list, number++)); !status.ok()) return status;
    }
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

  // Results are messages of their own; what stands between them is one message each run.
  Status read_user(const Value& blocks, const std::string& list) {
    std::optional<PartsGatherer> said;
    std::size_t number = 0;
    for (const auto& block : blocks) {
      const std::string path = at(list, number++);
      if (is_result(block.value)) {
        end_user(said);
        if (auto status = read_result(block.value, path); !status.ok()) return status;
        continue;
      }
      auto part = read_part(block.value, path);
      if (!part) return std::move(part).error();
      if (!said) said.emplace();
      said->add(std::move(*part));
    }
    end_user(said);
    return {};
  }

  void end_user(std::optional<PartsGatherer>& said) {
    if (!said) return;
    messages_.push_back({.role = Role::kUser});
    said->settle(messages_.back());
    said.reset();
  }

  Status read_result(const Value& value, const std::string& path) {
    const auto id = value.get("tool_use_id");
    if (!id || !id->is_string())
      return base::invalid(path + ".tool_use_id", "missing; expected a string");
    messages_.push_back({.role = Role::kTool});
    messages_.back().tool_call_id = id->string();
    const auto content = value.get("content");
    return content ? read_content(*content, path + ".content", messages_.back()) : Status();
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
