#include "engine/parsed_message.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/fields.h"

namespace verbatim::engine {
namespace {

using base::Result;
using base::Status;
using json::Value;

Status read_text(const Value& message, std::string_view where, const char* name,
                 std::string& into) {
  const auto text = member_in(message, name);
  if (!text) return {};
  if (!text->is_string())
    return malformed(std::string(where) + "." + name, found(text), "a string or null");
  into = text->string();
  return {};
}

Status read_calls(const Value& message, std::string_view where,
                  std::vector<message::ToolCall>& into) {
  const auto calls = member_in(message, "tool_calls");
  if (!calls) return {};
  const std::string list = std::string(where) + ".tool_calls";
  if (!calls->is_array()) return malformed(list, found(calls), "an array");
  for (const auto& member : *calls) {
    const auto function = member_in(member.value, "function");
    const auto name = function ? member_in(*function, "name") : std::nullopt;
    const auto arguments = function ? member_in(*function, "arguments") : std::nullopt;
    if (!name || !name->is_string() || name->string().empty() || !arguments ||
        !arguments->is_string())
      return malformed(entry(list, into.size()), found(member.value),
                       "a function with name and arguments");
    message::ToolCall call;
    call.name = name->string();
    call.arguments = arguments->string();
    into.push_back(std::move(call));
  }
  return {};
}

}  // namespace

Result<message::Message> read_parsed_message(const Value& said, std::string_view where) {
  message::Message message;
  message.role = message::Role::kAssistant;
  if (auto status = read_text(said, where, "content", message.text); !status.ok())
    return status.error();
  // One key by two names: `reasoning` is the newer.
  std::string reasoning;
  for (const char* name : {"reasoning_content", "reasoning"}) {
    if (auto status = read_text(said, where, name, reasoning); !status.ok()) return status.error();
  }
  if (!reasoning.empty()) message.reasoning = std::move(reasoning);
  if (auto status = read_calls(said, where, message.tool_calls); !status.ok())
    return status.error();
  return message;
}

}  // namespace verbatim::engine
