#include "protocol/responses_input.h"

#include <string>
#include <utility>

#include "protocol/responses_items.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using message::Message;
using message::Role;

// What was wrong with an item is the caller's fault here.
base::Error ours(base::Error error) {
  error.kind = base::ErrorKind::kInvalidRequest;
  return error;
}

Result<std::string> text_in(const Value& item, const char* name, const std::string& field) {
  const auto value = item.get(name);
  if (!value) return base::invalid(field + "." + name, "missing; expected a string");
  return read_string(*value, field + "." + name);
}

// A string, or parts with text.
Result<std::string> content_of(const Value& item, const char* name, const std::string& field) {
  const auto value = item.get(name);
  if (!value) return std::string();
  if (value->is_string()) return value->string();
  const std::string list = field + "." + name;
  if (!value->is_array()) return mismatch(list, "a string or an array of parts", *value);
  std::string text;
  std::size_t number = 0;
  for (const auto& part : *value) {
    const std::string path = at(list, number++);
    if (!part.value.is_object()) return mismatch(path, "an object", part.value);
    auto piece = text_in(part.value, "text", path);
    if (!piece) return piece;
    text += *piece;
  }
  return text;
}

class InputReader {
 public:
  Status read(const Value& value, const std::string& field) {
    if (!value.is_object()) return mismatch(field, "an object", value);
    const auto type = value.get("type");
    const bool plain = !type;
    const std::string word = type && type->is_string() ? type->string() : std::string();
    if (plain || word == "message") return read_message(value, field);
    if (word == "function_call_output") return read_output(value, field);
    if (word == "reasoning" || word == "function_call") return read_answer_item(value, field);
    return unsupported(field + ".type", "items of type " + found(*type));
  }

  std::vector<Message> take() { return std::move(messages_); }

 private:
  // The answer whose items are being read.
  Message& answer() {
    if (messages_.empty() || messages_.back().role != Role::kAssistant)
      messages_.push_back({.role = Role::kAssistant});
    return messages_.back();
  }

  Status read_message(const Value& value, const std::string& field) {
    auto word = text_in(value, "role", field);
    if (!word) return std::move(word).error();
    const auto role = message::role_named(*word);
    if (!role || *role == Role::kTool)
      return base::invalid(field + ".role", "expected one of system, developer, user, assistant");
    auto text = content_of(value, "content", field);
    if (!text) return std::move(text).error();
    if (*role == Role::kAssistant) {
      answer().text += *text;
      return {};
    }
    messages_.push_back({.role = *role, .text = std::move(*text)});
    return {};
  }

  Status read_output(const Value& value, const std::string& field) {
    auto id = text_in(value, "call_id", field);
    if (!id) return std::move(id).error();
    auto text = content_of(value, "output", field);
    if (!text) return std::move(text).error();
    messages_.push_back({.role = Role::kTool, .text = std::move(*text)});
    messages_.back().tool_call_id = std::move(*id);
    return {};
  }

  Status read_answer_item(const Value& value, const std::string& field) {
    auto item = read_item(value, field);
    if (!item) return ours(std::move(item).error());
    Message& into = answer();
    if (item->kind == ItemKind::kCall) {
      into.tool_calls.push_back({item->call_id, item->name, item->text});
    } else if (!item->text.empty()) {
      into.reasoning = into.reasoning.value_or("") + item->text;
    }
    return {};
  }

  std::vector<Message> messages_;
};

}  // namespace

Result<std::vector<Message>> read_input(const Value& input) {
  if (input.is_string()) return std::vector<Message>{{.role = Role::kUser, .text = input.string()}};
  if (!input.is_array()) return mismatch("input", "a string or an array of items", input);
  InputReader reader;
  std::size_t number = 0;
  for (const auto& item : input) {
    if (auto status = reader.read(item.value, at("input", number++)); !status.ok())
      return std::move(status).error();
  }
  auto messages = reader.take();
  if (messages.empty()) return base::invalid("input", "must not be empty");
  return messages;
}

}  // namespace verbatim::protocol
