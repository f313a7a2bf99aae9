#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace verbatim::message {

enum class Role { kSystem, kDeveloper, kUser, kAssistant, kTool };
std::string_view name(Role role);  // "system" ...
std::optional<Role> role_named(std::string_view text);

// A call of a client-executed function tool.
struct ToolCall {
  std::string id;  // as the agent sees it (handle) or as the model wrote it (native id), by context
  std::string name;
  std::string
      arguments;  // JSON text as written; what the model or the client gave, never re-serialised
  // In a recorded answer: what templates are shown in place of `id`; empty: `id` itself.
  std::string native_id = {};
  bool operator==(const ToolCall&) const = default;
};

// One message of a conversation, normalised: text parts joined, null, "" and absent content one
// class (empty `text`).
struct Message {
  Role role = Role::kUser;
  std::string text;
  std::optional<std::string> reasoning;  // absent and empty differ only in what the client sent
  std::vector<ToolCall> tool_calls;      // assistant
  std::string tool_call_id;              // tool
  std::string name;                      // optional name of a participant or tool
  // Fields this version does not know, name and raw JSON, in order: kept, and shown to the
  // template. And kParts.
  std::vector<std::pair<std::string, std::string>> unknown;
  bool operator==(const Message&) const = default;
};

// The raw value of an unknown field; empty: it is not there.
std::string_view unknown_member(const Message& message, std::string_view name);

// Content that is more than text (images, sound, files): the parts as the client sent them, a raw
// JSON array. They stand among the unknown fields under the name of the member they came in; `text`
// has the text of them. Empty: text is all.
inline constexpr std::string_view kParts = "content";
inline std::string_view parts_of(const Message& message) {
  return unknown_member(message, kParts);
}

// A function tool as the client declared it.
struct Tool {
  std::string name;
  std::string raw;  // the whole declaration, JSON text as sent; this is what the template prints
  bool operator==(const Tool&) const = default;
};

}  // namespace verbatim::message
