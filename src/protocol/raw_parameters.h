#pragma once

#include <optional>
#include <string_view>

#include "json/value.h"
#include "json/writer.h"
#include "protocol/conversation.h"

namespace verbatim::protocol {

// How a parameter of a chat request is written in another protocol. Those without a row go up under
// their own name, as they are.
struct Renaming {
  std::string_view name;
  void (*write)(json::Writer& w, const json::Value& value);  // null: it has its place elsewhere
};

// Members that several protocols write alike, once for each name.
template <class Table>
void write_parameters(json::Writer& w, const Conversation& conversation, const Table& renamings) {
  for (const auto& [name, raw] : conversation.parameters) {
    const Renaming* row = nullptr;
    for (const Renaming& each : renamings) {
      if (each.name == name) row = &each;
    }
    if (row == nullptr) w.key(name).raw(raw);
    if (row == nullptr || row->write == nullptr) continue;
    const auto value = json::Document::parse(raw);
    if (value) row->write(w, value->root());
  }
}

// Under this name `reasoning` of a Responses request stands among the parameters, where it says
// more than its effort: only that protocol has a word for it.
inline constexpr std::string_view kAskedReasoning = "responses_reasoning";

// The function of a tool or a tool_choice as chat declares it: {"type":"function","function":{}}.
std::optional<json::Value> function_of(const json::Value& tool);
// Its members but `parameters`, each as it is.
void write_members_but(json::Writer& w, const json::Value& object, std::string_view left_out);

// A parameter's value, parsed; nullopt where it was not given.
std::optional<json::Document> parameter(const Conversation& conversation, std::string_view name);

}  // namespace verbatim::protocol
