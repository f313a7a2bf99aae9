#include "protocol/responses_tools.h"

#include <array>
#include <optional>
#include <utility>

#include "base/sha256.h"
#include "protocol/raw_parameters.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using json::Writer;

// As OpenAI bounds names of functions.
constexpr std::size_t kMaxName = 64;
constexpr std::size_t kDigestDigits = 16;

constexpr std::string_view kShellDeclaration =
    R"({"type":"function","function":{"name":"local_shell","description":"Runs a command on the )"
    R"(user's machine and returns its output.","parameters":{"type":"object","properties":{)"
    R"("command":{"type":"array","items":{"type":"string"},"description":"The program and its )"
    R"(arguments."},"working_directory":{"type":"string"},"timeout_ms":{"type":"integer"},)"
    R"("env":{"type":"object","additionalProperties":{"type":"string"}}},"required":["command"]}}})";

Result<std::string> name_of(const Value& tool, const std::string& field) {
  const auto name = tool.get("name");
  if (!name) return base::invalid(field + ".name", "missing; expected a string");
  auto text = read_string(*name, field + ".name");
  if (text && text->empty()) return base::invalid(field + ".name", "must not be empty");
  return text;
}

Status check_member(const Value& tool, const char* name, bool object, const std::string& field) {
  const auto value = tool.get(name);
  if (!value || (object ? value->is_object() : value->is_string())) return {};
  return mismatch(field + "." + name, object ? "an object" : "a string", *value);
}

// {"type":"function","function":{"name", and so on.
Writer begin_function(std::string_view name) {
  Writer w;
  w.begin_object().field("type", "function").key("function").begin_object().field("name", name);
  return w;
}

// The text that tells the model how a custom tool's input is to look.
std::string custom_description(const Value& tool) {
  std::string text = text_or_nothing(tool, "description");
  const auto format = tool.get("format");
  if (!format || !format->is_object()) return text;
  const auto definition = format->get("definition");
  const auto syntax = format->get("syntax");
  if (!definition || !definition->is_string()) return text;
  if (!text.empty()) text += "\n\n";
  text += "The input must match this grammar";
  if (syntax && syntax->is_string()) text += " (" + syntax->string() + ")";
  return text + ":\n" + definition->string();
}

std::string custom_declaration(const Value& tool, std::string_view function) {
  Writer w = begin_function(function);
  const std::string description = custom_description(tool);
  if (!description.empty()) w.field("description", description);
  w.key("parameters")
      .raw(R"({"type":"object","properties":{"input":{"type":"string"}},"required":["input"],)"
           R"("additionalProperties":false})");
  w.end_object().end_object();
  return w.take();
}

// The tools that an item of this type holds.
std::optional<Value> tools_of(const Value& item, std::string_view type) {
  return text_or_nothing(item, "type") == type ? item.get("tools") : std::nullopt;
}

}  // namespace

std::string function_name(std::string_view space, std::string_view name) {
  std::string whole(space);
  if (!space.empty()) whole += "__";
  whole += name;
  if (space.empty() || whole.size() <= kMaxName) return whole;
  const std::string digest = base::sha256_hex(whole).substr(0, kDigestDigits);
  return whole.substr(0, kMaxName - kDigestDigits - 2) + "__" + digest;
}

std::string custom_arguments(std::string_view input) {
  Writer w;
  w.begin_object().field("input", input).end_object();
  return w.take();
}

Status ResponsesTools::declare(Entry entry, std::string function, const std::string& field) {
  if (!entries_.emplace(function, std::move(entry)).second)
    return base::invalid(field + ".name", "another tool has the name " + function + " already");
  return {};
}

Status ResponsesTools::add_function(const Value& tool, const std::string& space,
                                    const std::string& field) {
  auto name = name_of(tool, field);
  if (!name) return std::move(name).error();
  if (auto s = check_member(tool, "description", false, field); !s.ok()) return s;
  if (auto s = check_member(tool, "parameters", true, field); !s.ok()) return s;
  const std::string function = function_name(space, *name);
  Writer w = begin_function(function);
  for (const auto member : tool) {
    const std::string key = member.name();
    if (key == "type" || key == "name" || member.value.is_null() ||
        !is_last(tool, key, member.value))
      continue;
    w.key(key).raw(member.value.raw());
  }
  w.end_object().end_object();
  functions_.push_back({function, w.take()});
  return declare({ToolKind::kFunction, std::move(*name), space}, function, field);
}

Status ResponsesTools::add_custom(const Value& tool, const std::string& space,
                                  const std::string& field) {
  auto name = name_of(tool, field);
  if (!name) return std::move(name).error();
  const std::string function = function_name(space, *name);
  functions_.push_back({function, custom_declaration(tool, function)});
  return declare({ToolKind::kCustom, std::move(*name), space}, function, field);
}

Status ResponsesTools::add_search(const Value& tool, const std::string& field) {
  const auto execution = tool.get("execution");
  if (!execution || !execution->is_string() || execution->string() != "client")
    return unsupported(field + ".execution",
                       "a search that the server would have to run; send \"client\" and run it");
  if (auto s = check_member(tool, "description", false, field); !s.ok()) return s;
  if (auto s = check_member(tool, "parameters", true, field); !s.ok()) return s;
  Writer w = begin_function(kToolSearch);
  for (const char* member : {"description", "parameters"}) {
    if (const auto value = tool.get(member)) w.key(member).raw(value->raw());
  }
  w.end_object().end_object();
  functions_.push_back({std::string(kToolSearch), w.take()});
  return declare({ToolKind::kToolSearch, std::string(kToolSearch), ""}, std::string(kToolSearch),
                 field);
}

Status ResponsesTools::add_space(const Value& tool, const std::string& field) {
  auto name = name_of(tool, field);
  if (!name) return std::move(name).error();
  const auto members = tool.get("tools");
  if (!members) return base::invalid(field + ".tools", "missing; expected an array of tools");
  if (!members->is_array()) return mismatch(field + ".tools", "an array of tools", *members);
  std::size_t number = 0;
  for (const auto& member : *members) {
    const std::string path = protocol::at(field + ".tools", number++);
    if (!member.value.is_object()) return mismatch(path, "an object", member.value);
    const std::string type = text_or_nothing(member.value, "type");
    if (type != "function" && type != "custom")
      return base::invalid(path + ".type", "expected \"function\" or \"custom\"");
    const bool custom = type == "custom";
    auto s =
        custom ? add_custom(member.value, *name, path) : add_function(member.value, *name, path);
    if (!s.ok()) return s;
  }
  return {};
}

Status ResponsesTools::add(const Value& tool, const std::string& field) {
  if (!tool.is_object()) return mismatch(field, "an object", tool);
  if (tool.size() > kMaxMembers) return too_many_members(field, kMaxMembers);
  const auto type = tool.get("type");
  if (!type) return base::invalid(field + ".type", "missing; expected \"function\"");
  if (!type->is_string()) return mismatch(field + ".type", "a string", *type);
  const std::string word = type->string();
  if (word == "function") return add_function(tool, "", field);
  if (word == "namespace") return add_space(tool, field);
  if (word == "local_shell") {
    functions_.push_back({std::string(kLocalShell), std::string(kShellDeclaration)});
    return declare({ToolKind::kLocalShell, std::string(kLocalShell), ""}, std::string(kLocalShell),
                   field);
  }
  if (word == kToolSearch) return add_search(tool, field);
  if (word == "custom") return add_custom(tool, "", field);
  return unsupported(field + ".type", "tools of type " + found(*type) +
                                          ", which the server would have to run; leave it out");
}

Status ResponsesTools::add_all(const Value& tools, const std::string& field) {
  if (!tools.is_array()) return mismatch(field, "an array of tools", tools);
  std::size_t number = 0;
  for (const auto& tool : tools) {
    if (auto s = add(tool.value, protocol::at(field, number++)); !s.ok()) return s;
  }
  return {};
}

Result<ResponsesTools> ResponsesTools::read(const Value& tools, const std::string& field) {
  ResponsesTools read;
  if (auto s = read.add_all(tools, field); !s.ok()) return std::move(s).error();
  return read;
}

Status ResponsesTools::add_from_items(const Value& input) {
  if (!input.is_array()) return {};
  std::size_t number = 0;
  for (const auto& item : input) {
    const std::string field = protocol::at("input", number++) + ".tools";
    const auto tools = tools_of(item.value, kAdditionalTools);
    if (tools) {
      if (auto s = add_all(*tools, field); !s.ok()) return s;
    }
    const auto found = tools_of(item.value, kToolSearchOutput);
    if (!found) continue;
    auto read = ResponsesTools::read(*found, field);
    if (!read) return std::move(read).error();
    know(std::move(*read));
  }
  return {};
}

// Several searches may find the same.
void ResponsesTools::know(ResponsesTools others) {
  entries_.merge(others.entries_);
}

std::optional<std::string> with_item_tools(const Value* tools, const Value& input) {
  Writer w;
  bool any = false;
  w.begin_array();
  if (tools != nullptr) {
    for (const auto& tool : *tools) w.raw(tool.value.raw());
  }
  if (input.is_array()) {
    for (const auto& item : input) {
      const auto more = tools_of(item.value, kAdditionalTools);
      if (!more) continue;
      any = true;
      for (const auto& tool : *more) w.raw(tool.value.raw());
    }
  }
  w.end_array();
  if (!any) return std::nullopt;
  return w.take();
}

Result<std::string> found_tools(const Value& item, const std::string& field) {
  Writer w;
  w.begin_array();
  if (const auto tools = item.get("tools")) {
    const auto read = ResponsesTools::read(*tools, field + ".tools");
    if (!read) return read.error();
    for (const auto& function : read->functions()) w.raw(function.raw);
  }
  w.end_array();
  return w.take();
}

ResponsesTools::Entry ResponsesTools::at(const std::string& function) const {
  const auto known = entries_.find(function);
  return known == entries_.end() ? Entry{ToolKind::kFunction, function, ""} : known->second;
}

void write_tools_echo(Writer& w, const Value& tools) {
  constexpr std::array<std::string_view, 3> kWhole{"description", "parameters", "strict"};
  w.begin_array();
  for (const auto& tool : tools) {
    if (text_or_nothing(tool.value, "type") != "function") {
      w.raw(tool.value.raw());
      continue;
    }
    w.begin_object();
    for (const auto member : tool.value) w.key(member.name()).raw(member.value.raw());
    for (const auto name : kWhole) {
      if (!tool.value.find(name)) w.key(name).null();
    }
    w.end_object();
  }
  w.end_array();
}

}  // namespace verbatim::protocol
