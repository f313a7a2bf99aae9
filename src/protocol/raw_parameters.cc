#include "protocol/raw_parameters.h"

namespace verbatim::protocol {

std::optional<json::Value> function_of(const json::Value& tool) {
  if (!tool.is_object()) return std::nullopt;
  const auto function = tool.get("function");
  return function && function->is_object() ? function : std::nullopt;
}

void write_members_but(json::Writer& w, const json::Value& object, std::string_view left_out) {
  for (const auto member : object) {
    const std::string name = member.name();
    if (name != left_out && !member.value.is_null()) w.key(name).raw(member.value.raw());
  }
}

std::optional<json::Document> parameter(const Conversation& conversation, std::string_view name) {
  for (const auto& [known, raw] : conversation.parameters) {
    if (known != name) continue;
    auto value = json::Document::parse(raw);
    if (value) return std::move(*value);
  }
  return std::nullopt;
}

}  // namespace verbatim::protocol
