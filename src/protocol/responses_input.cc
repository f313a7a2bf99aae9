#include "protocol/responses_input.h"

#include <string>
#include <utility>

#include "json/writer.h"
#include "protocol/chat_messages.h"
#include "protocol/responses_items.h"
#include "protocol/responses_parts.h"
#include "protocol/responses_tools.h"
#include "protocol/sealed_reasoning.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using json::Writer;
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

class InputReader {
 public:
  explicit InputReader(const InputRules& rules) : rules_(rules) {}

  Status read(const Value& value, const std::string& field) {
    if (!value.is_object()) return mismatch(field, "an object", value);
    if (value.size() > kMaxMembers) return too_many_members(field, kMaxMembers);
    const auto type = value.get("type");
    if (type && !type->is_string()) return mismatch(field + ".type", "a string", *type);
    const std::string word = type ? type->string() : "message";
    if (word == "message") return read_message(value, field);
    if (word == "function_call_output" || word == "custom_tool_call_output" ||
        word == "local_shell_call_output" || word == kToolSearchOutput)
      return read_output(value, word, field);
    if (word == "reasoning") return read_reasoning(value, field);
    if (word == "function_call") return read_call(value, field);
    if (word == "custom_tool_call") return read_custom_call(value, field);
    if (word == "local_shell_call") return read_shell_call(value, field);
    if (word == "tool_search_call") return read_search_call(value, field);
    if (word == kAdditionalTools && rules_.tools) return {};
    if (!rules_.items || word == "item_reference")
      return unsupported(
          field + ".type",
          "items of type " + found(*type) +
              (word == "item_reference" ? "; send the item, or previous_response_id" : ""));
    Message& into = answer();
    keep(value.raw());
    set_unplaced(into, field);
    return {};
  }

  std::vector<Message> take() {
    close();
    return std::move(messages_);
  }

 private:
  // The answer whose items are being read.
  Message& answer() {
    if (messages_.empty() || messages_.back().role != Role::kAssistant)
      return add({.role = Role::kAssistant});
    return messages_.back();
  }

  Message& add(Message message) {
    close();
    messages_.push_back(std::move(message));
    return messages_.back();
  }

  // The last message has all its items.
  void close() {
    if (!raw_.empty()) messages_.back().unknown.emplace_back(kItems, "[" + raw_ + "]");
    raw_.clear();
  }

  void keep(std::string_view raw) {
    if (!rules_.items) return;
    if (!raw_.empty()) raw_ += ',';
    raw_ += raw;
  }

  static void set_unplaced(Message& message, const std::string& field) {
    if (!unknown_member(message, kUnplaced).empty()) return;
    Writer w;
    w.string(field);
    message.unknown.emplace_back(kUnplaced, w.take());
  }

  // A string, or parts, as the content of `into`.
  Status read_content(const Value& item, const char* name, const std::string& field,
                      Message& into) {
    const auto value = item.get(name);
    if (!value) return {};
    if (value->is_string()) {
      into.text += value->string();
      return {};
    }
    const std::string list = field + "." + name;
    if (!value->is_array()) return mismatch(list, "a string or an array of parts", *value);
    PartsGatherer gathered;
    std::size_t number = 0;
    for (const auto& part : *value) {
      if (auto s = read_part(part.value, at(list, number++), into, gathered); !s.ok()) return s;
    }
    gathered.settle(into);
    return {};
  }

  Status read_part(const Value& value, const std::string& path, Message& into,
                   PartsGatherer& gathered) {
    const std::string type = value.is_object() ? text_or_nothing(value, "type") : "";
    if (rules_.items && type == "refusal") {
      ContentPart said;
      said.text = text_or_nothing(value, "refusal");
      gathered.add(std::move(said));
      return {};
    }
    const bool text = type.empty() || type == "text" || type.ends_with("_text");
    if (!text && !rules_.parts)
      return unsupported(path, "content part of type \"" + type + "\"; only text is served");
    const bool known = text || type == "input_image" || type == "input_file";
    if (!known && rules_.items) {
      set_unplaced(into, path);
      return {};
    }
    auto part = read_responses_part(value, path);
    if (!part) return std::move(part).error();
    gathered.add(std::move(*part));
    return {};
  }

  Status read_message(const Value& value, const std::string& field) {
    auto word = text_in(value, "role", field);
    if (!word) return std::move(word).error();
    const auto role = message::role_named(*word);
    if (!role || *role == Role::kTool)
      return base::invalid(field + ".role", "expected one of system, developer, user, assistant");
    Message& into = *role == Role::kAssistant ? answer() : add({.role = *role});
    keep(value.raw());
    return read_content(value, "content", field, into);
  }

  Status read_output(const Value& value, const std::string& word, const std::string& field) {
    // The local shell's output names its call by its own id.
    const bool shell = word == "local_shell_call_output" && !value.get("call_id");
    auto id = text_in(value, shell ? "id" : "call_id", field);
    if (!id) return std::move(id).error();
    Message& into = add({.role = Role::kTool});
    into.tool_call_id = std::move(*id);
    if (word == kToolSearchOutput) return read_found(value, field, into);
    if (auto s = read_content(value, "output", field, into); !s.ok()) return s;
    if (word == "function_call_output") {
      keep(value.raw());
      return {};
    }
    const auto output = value.get("output");
    keep_output(into, output ? output->raw() : R"("")");
    return {};
  }

  Status read_found(const Value& value, const std::string& field, Message& into) {
    auto tools = found_tools(value, field);
    if (!tools) return std::move(tools).error();
    into.text = std::move(*tools);
    Writer text;
    text.string(into.text);
    keep_output(into, text.text());
    return {};
  }

  // One that goes up as the output of a function.
  void keep_output(const Message& into, std::string_view output) {
    Writer w;
    w.begin_object().field("type", "function_call_output").field("call_id", into.tool_call_id);
    w.key("output").raw(output).end_object();
    keep(w.text());
  }

  Status read_reasoning(const Value& value, const std::string& field) {
    auto item = read_item(value, field);
    if (!item) return ours(std::move(item).error());
    const auto content = value.get("content");
    std::string text = content && !content->empty() ? std::move(item->text) : "";
    const std::string sealed = text_or_nothing(value, "encrypted_content");
    Message& into = answer();
    if (!is_sealed(sealed)) {
      keep(value.raw());
    } else {
      auto said = unseal_reasoning(sealed);
      if (!said)
        return base::invalid(field + ".encrypted_content",
                             "not as this server gave it; send the item as it was, or without it");
      if (text.empty()) text = std::move(*said);
      keep_unsealed(value, text);
    }
    if (!text.empty()) into.reasoning = into.reasoning.value_or("") + text;
    return {};
  }

  // No engine knows what was sealed here.
  void keep_unsealed(const Value& value, const std::string& text) {
    Writer w;
    w.begin_object();
    for (const auto member : value) {
      const std::string name = member.name();
      if (name != "content" && name != "encrypted_content") w.key(name).raw(member.value.raw());
    }
    w.key("content").begin_array().begin_object().field("type", "reasoning_text");
    w.field("text", text).end_object().end_array().end_object();
    keep(w.text());
  }

  Status read_call(const Value& value, const std::string& field) {
    auto item = read_item(value, field);
    if (!item) return ours(std::move(item).error());
    const std::string space = text_or_nothing(value, "namespace");
    if (space.empty()) {
      Message& into = answer();
      keep(value.raw());
      into.tool_calls.push_back({item->call_id, item->name, item->text});
      return {};
    }
    add_call({item->call_id, function_name(space, item->name), item->text});
    return {};
  }

  Status read_custom_call(const Value& value, const std::string& field) {
    auto id = text_in(value, "call_id", field);
    if (!id) return std::move(id).error();
    auto name = text_in(value, "name", field);
    if (!name) return std::move(name).error();
    auto input = text_in(value, "input", field);
    if (!input) return std::move(input).error();
    const std::string function = function_name(text_or_nothing(value, "namespace"), *name);
    add_call({*id, function, custom_arguments(*input)});
    return {};
  }

  Status read_search_call(const Value& value, const std::string& field) {
    auto id = text_in(value, "call_id", field);
    if (!id) return std::move(id).error();
    const auto arguments = value.get("arguments");
    if (arguments && !arguments->is_object())
      return mismatch(field + ".arguments", "an object", *arguments);
    add_call({*id, std::string(kToolSearch), std::string(arguments ? arguments->raw() : "{}")});
    return {};
  }

  // {"action":{"type":"exec","command":[..],..}} -> the arguments of the function.
  Status read_shell_call(const Value& value, const std::string& field) {
    auto id = text_in(value, "call_id", field);
    if (!id) return std::move(id).error();
    const auto action = value.get("action");
    if (!action || !action->is_object())
      return base::invalid(field + ".action", "missing; expected an object");
    Writer arguments;
    arguments.begin_object();
    for (const auto& member : *action) {
      if (member.name() != "type" && !member.value.is_null())
        arguments.key(member.name()).raw(member.value.raw());
    }
    arguments.end_object();
    add_call({*id, std::string(kLocalShell), arguments.take()});
    return {};
  }

  // One that goes up as a call of the function that stands for the tool.
  void add_call(message::ToolCall call) {
    Message& into = answer();
    Writer w;
    w.begin_object().field("type", "function_call").field("call_id", call.id);
    w.field("name", call.name).field("arguments", call.arguments).end_object();
    keep(w.text());
    into.tool_calls.push_back(std::move(call));
  }

  const InputRules rules_;
  std::vector<Message> messages_;
  std::string raw_;  // items of the last message, with commas between them
};

}  // namespace

Result<std::vector<Message>> read_input(const Value& input, const InputRules& rules) {
  InputReader reader(rules);
  if (input.is_string()) return std::vector<Message>{{.role = Role::kUser, .text = input.string()}};
  if (!input.is_array()) return mismatch("input", "a string or an array of items", input);
  if (input.size() > kMaxMessages) return too_many("input", "items", kMaxMessages, input.size());
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
