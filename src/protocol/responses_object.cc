#include "protocol/responses_object.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "json/value.h"
#include "json/writer.h"
#include "protocol/responses_tools.h"

namespace verbatim::protocol {
namespace {

using json::Value;
using json::Writer;

struct Default {
  std::string_view name;
  std::string_view value;  // JSON
};
constexpr std::array<Default, 20> kDefaults{{{"instructions", "null"},
                                             {"tools", "[]"},
                                             {"tool_choice", R"("auto")"},
                                             {"truncation", R"("disabled")"},
                                             {"parallel_tool_calls", "true"},
                                             {"text", R"({"format":{"type":"text"}})"},
                                             {"top_p", "1.0"},
                                             {"presence_penalty", "0.0"},
                                             {"frequency_penalty", "0.0"},
                                             {"top_logprobs", "0"},
                                             {"temperature", "1.0"},
                                             {"reasoning", "null"},
                                             {"max_output_tokens", "null"},
                                             {"max_tool_calls", "null"},
                                             {"store", "true"},
                                             {"background", "false"},
                                             {"service_tier", R"("default")"},
                                             {"metadata", "{}"},
                                             {"safety_identifier", "null"},
                                             {"prompt_cache_key", "null"}}};

// An object with `defaults` for the members that it has not.
void write_completed(Writer& w, const Value& value, std::span<const Default> defaults) {
  if (!value.is_object()) {
    w.raw(value.raw());
    return;
  }
  w.begin_object();
  for (const auto& member : value) w.key(member.name()).raw(member.value.raw());
  for (const auto& row : defaults) {
    if (!value.find(row.name)) w.key(row.name).raw(row.value);
  }
  w.end_object();
}

void write_text(Writer& w, const Value& value) {
  constexpr std::array<Default, 1> kText{{{"format", R"({"type":"text"})"}}};
  constexpr std::array<Default, 3> kSchema{
      {{"description", "null"}, {"schema", "null"}, {"strict", "false"}}};
  const auto format = value.is_object() ? value.get("format") : std::nullopt;
  const auto type = format && format->is_object() ? format->get("type") : std::nullopt;
  if (!type || !type->is_string() || type->string() != "json_schema") {
    write_completed(w, value, kText);
    return;
  }
  w.begin_object();
  for (const auto& member : value) {
    w.key(member.name());
    if (member.name() == "format") {
      write_completed(w, member.value, kSchema);
    } else {
      w.raw(member.value.raw());
    }
  }
  w.end_object();
}

// What the caller wrote, with null where the schema wants a member that it left out.
std::string echoed(const RawMember& member) {
  constexpr std::array<Default, 2> kReasoning{{{"effort", "null"}, {"summary", "null"}}};
  const auto& [name, raw] = member;
  if (name != "tools" && name != "reasoning" && name != "text") return raw;
  const auto value = json::Document::parse(raw);
  if (!value) return raw;
  Writer w;
  if (name == "tools") write_tools_echo(w, value->root());
  if (name == "reasoning") write_completed(w, value->root(), kReasoning);
  if (name == "text") write_text(w, value->root());
  return w.take();
}

}  // namespace

std::vector<RawMember> response_members(std::span<const RawMember> echo,
                                        const std::string& previous_response_id,
                                        const std::string& conversation) {
  std::vector<RawMember> members;
  Writer previous;
  previous_response_id.empty() ? previous.null() : previous.string(previous_response_id);
  members.emplace_back("previous_response_id", previous.take());
  if (!conversation.empty()) {
    Writer w;
    w.begin_object().field("id", conversation).end_object();
    members.emplace_back("conversation", w.take());
  }
  for (const auto& member : echo) members.emplace_back(member.first, echoed(member));
  for (const auto& row : kDefaults) {
    const bool there = std::any_of(members.begin(), members.end(),
                                   [&](const auto& member) { return member.first == row.name; });
    if (!there) members.emplace_back(row.name, row.value);
  }
  return members;
}

}  // namespace verbatim::protocol
