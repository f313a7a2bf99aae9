#include "chat/context.h"

#include <algorithm>
#include <array>

namespace verbatim::chat {
namespace {

using base::invalid;
using base::Result;
using base::Status;
using jinja::SourceId;
using jinja::Value;
using message::Field;
using message::Message;
using message::SpanSource;

constexpr SourceId kToolsId = 1;
constexpr SourceId kArgumentsId = 2;
constexpr SourceId kFirstMessageId = 8;
constexpr SourceId kFields = 8;  // ids per message: one for each message::Field

using Entries = std::vector<std::pair<std::string, Value>>;

std::string place(std::size_t message, std::size_t call) {
  return "messages[" + std::to_string(message) + "].tool_calls[" + std::to_string(call) +
         "].function.arguments";
}

Result<Value> arguments_value(const message::ToolCall& call, const Family& family, SourceId source,
                              const std::string& field) {
  if (family.arguments == Family::Arguments::kString) return Value::string(call.arguments, source);
  // "" is what clients send for a call without arguments.
  if (call.arguments.empty()) return Value::dict(Entries{}, source);
  auto doc = json::Document::parse(call.arguments);
  if (!doc)
    return invalid(field, "expected JSON, found text that is none (" + doc.error().message + ")");
  return Value::from_json(doc->root(), source);
}

Result<Value> calls_value(const Message& message, const Family& family, std::uint32_t at,
                          std::size_t first) {
  const auto id = [&](Field field) { return source_id({SpanSource::kMessage, at, field}); };
  std::vector<Value> calls;
  for (std::size_t i = 0; i < message.tool_calls.size(); ++i) {
    const auto& call = message.tool_calls[i];
    auto arguments = arguments_value(call, family, id(Field::kCallArguments), place(first + at, i));
    if (!arguments) return std::move(arguments).error();
    Entries function{{"name", Value::string(call.name, id(Field::kCallName))},
                     {"arguments", std::move(*arguments)}};
    Entries entry;
    if (!call.id.empty()) entry.emplace_back("id", Value::string(call.id, id(Field::kCallId)));
    entry.emplace_back("type", Value::string("function"));
    entry.emplace_back("function", Value::dict(std::move(function)));
    calls.push_back(Value::dict(std::move(entry)));
  }
  return Value::list(std::move(calls));
}

Result<Value> message_value(const Message& message, const Family& family, std::uint32_t at,
                            std::size_t first) {
  const auto id = [&](Field field) { return source_id({SpanSource::kMessage, at, field}); };
  std::vector<std::pair<Value, Value>> entries;
  const auto add = [&](const char* name, Value value) {
    entries.emplace_back(Value::string(name), std::move(value));
  };
  add("role", Value::string(std::string(message::name(message.role))));
  add("content", Value::string(message.text, id(Field::kText)));
  if (message.reasoning && !message.reasoning->empty()) {
    const Value reasoning = Value::string(*message.reasoning, id(Field::kReasoning));
    // Templates know it by one of these names; transformers fills them from each other, too.
    for (const char* name : {"reasoning_content", "reasoning", "thinking"}) add(name, reasoning);
  }
  if (!message.tool_calls.empty()) {
    auto calls = calls_value(message, family, at, first);
    if (!calls) return std::move(calls).error();
    add("tool_calls", std::move(*calls));
  }
  if (!message.tool_call_id.empty())
    add("tool_call_id", Value::string(message.tool_call_id, id(Field::kCallId)));
  if (!message.name.empty()) add("name", Value::string(message.name, id(Field::kName)));
  for (const auto& [name, raw] : message.unknown) {
    auto doc = json::Document::parse(raw);
    // The name is the caller's too: a template that prints whole messages prints it.
    if (!doc) continue;
    const auto source = id(Field::kOther);
    entries.emplace_back(Value::string(name, source), Value::from_json(doc->root(), source));
  }
  return Value::dict(std::move(entries));
}

}  // namespace

SourceId source_id(const Source& source) {
  switch (source.kind) {
    case SpanSource::kTools:
      return kToolsId;
    case SpanSource::kArguments:
      return kArgumentsId;
    case SpanSource::kMessage:
      return kFirstMessageId + source.message * kFields + static_cast<SourceId>(source.field);
    default:
      return jinja::kTemplate;
  }
}

Source source_of(SourceId id) {
  if (id == kToolsId) return {SpanSource::kTools};
  if (id == kArgumentsId) return {SpanSource::kArguments};
  if (id < kFirstMessageId) return {};
  return {SpanSource::kMessage, (id - kFirstMessageId) / kFields,
          static_cast<Field>((id - kFirstMessageId) % kFields)};
}

Status normalise(std::vector<Message>& messages, const Family& family) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != message::Role::kDeveloper) continue;
    if (family.developer == Family::Developer::kRefuse) {
      return invalid("messages[" + std::to_string(i) + "].role",
                     "found \"developer\", which the chat template of family " + family.name +
                         " can't express; use \"system\"");
    }
    messages[i].role = message::Role::kSystem;
  }
  return {};
}

Result<Value> message_list(std::span<const Message> messages, const Family& family,
                           std::size_t first) {
  std::vector<Value> list;
  list.reserve(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    auto value = message_value(messages[i], family, static_cast<std::uint32_t>(i), first);
    if (!value) return std::move(value).error();
    list.push_back(std::move(*value));
  }
  return Value::list(std::move(list));
}

Result<Value> template_context(
    Value messages, const TemplateInputs& inputs,
    std::span<const std::pair<std::string, std::string>> special_tokens) {
  // A caller who could set these would change the prompt behind the back of provenance.
  static constexpr std::array<std::string_view, 4> kOurs{"messages", "tools", "documents",
                                                         "add_generation_prompt"};
  Entries entries;
  for (const auto& [name, text] : special_tokens) entries.emplace_back(name, Value::string(text));
  entries.emplace_back("messages", std::move(messages));
  if (!inputs.tools.empty()) {
    std::vector<Value> tools;
    for (const auto& tool : inputs.tools) {
      auto doc = json::Document::parse(tool.raw);
      if (!doc) return std::move(doc).error();
      tools.push_back(Value::from_json(doc->root(), kToolsId));
    }
    entries.emplace_back("tools", Value::list(std::move(tools)));
  }
  entries.emplace_back("add_generation_prompt", Value::boolean(inputs.generation_prompt));
  if (inputs.arguments) {
    for (const auto member : *inputs.arguments) {
      const std::string name = member.name();
      if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end()) {
        return invalid("chat_template_kwargs." + name,
                       "\"" + name + "\" is set by the gateway and can't be given here");
      }
      entries.emplace_back(name, Value::from_json(member.value, kArgumentsId));
    }
  }
  return Value::dict(std::move(entries));
}

}  // namespace verbatim::chat
