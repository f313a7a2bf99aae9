#include "sim/chatml.h"

#include "json/dumps.h"

namespace verbatim::sim {
namespace {

std::string text_of(const json::Value& message) {
  const auto content = message.is_object() ? message.get("content") : std::nullopt;
  if (!content) return {};
  if (content->is_string()) return content->string();
  std::string text;
  if (!content->is_array()) return text;
  for (const auto& part : *content) {
    const auto piece = part.value.is_object() ? part.value.get("text") : std::nullopt;
    if (!piece || !piece->is_string()) continue;
    if (!text.empty()) text += '\n';
    text += piece->string();
  }
  return text;
}

void append_turn(std::string& out, std::string_view role, std::string_view text) {
  out.append("<|im_start|>").append(role).append("\n").append(text).append("<|im_end|>\n");
}

}  // namespace

std::string chatml(const json::Value& messages, const json::Value* tools, bool opens) {
  std::string out;
  if (tools != nullptr && !tools->empty()) {
    std::string lines = "# Tools";
    for (const auto& tool : *tools) lines.append("\n").append(json::dumps(tool.value));
    append_turn(out, "system", lines);
  }
  for (const auto& each : messages) {
    const auto role = each.value.is_object() ? each.value.get("role") : std::nullopt;
    const std::string name = role && role->is_string() ? role->string() : "user";
    const bool answers = name == "tool";
    const std::string text = text_of(each.value);
    append_turn(out, answers ? "user" : name,
                answers ? "<tool_response>\n" + text + "\n</tool_response>" : text);
  }
  if (opens) out += "<|im_start|>assistant\n";
  return out;
}

}  // namespace verbatim::sim
