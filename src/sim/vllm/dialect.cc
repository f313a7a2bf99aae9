#include "sim/vllm/dialect.h"

#include <string>
#include <vector>

#include "json/writer.h"

namespace verbatim::sim::vllm {
namespace {

using json::Value;
using protocol::RawMember;

std::string call_id(protocol::Wire, const std::string& drawn) {
  return "chatcmpl-tool-" + drawn;
}

// It signs as clients demand it, and never looks at it again.
std::string signature(const std::string& id, bool) {
  return id + id;
}

std::string said(const Value& request, const char* name, const char* otherwise) {
  const auto value = request.get(name);
  return value ? std::string(value->raw()) : otherwise;
}

std::string tools(const Value& request) {
  static constexpr const char* kMembers[] = {"name",          "parameters",      "strict",
                                             "type",          "allowed_callers", "async",
                                             "defer_loading", "description",     "output_schema"};
  json::Writer w;
  w.begin_array();
  if (const auto list = request.get("tools"); list && list->is_array()) {
    for (const auto& tool : *list) {
      w.begin_object();
      for (const char* name : kMembers) w.key(name).raw(said(tool.value, name, "null"));
      w.end_object();
    }
  }
  w.end_array();
  return w.take();
}

std::vector<RawMember> echo(const Value& request) {
  struct Row {
    const char* name;
    const char* otherwise;
  };
  static constexpr Row kSaid[] = {{"instructions", "null"},
                                  {"metadata", "null"},
                                  {"parallel_tool_calls", "true"},
                                  {"temperature", "1.0"},
                                  {"top_p", "1.0"},
                                  {"background", "false"},
                                  {"max_output_tokens", "null"},
                                  {"max_tool_calls", "null"},
                                  {"previous_response_id", "null"},
                                  {"prompt", "null"},
                                  {"reasoning", "null"},
                                  {"text", "null"},
                                  {"top_logprobs", "null"},
                                  {"truncation", "\"disabled\""},
                                  {"user", "null"},
                                  {"presence_penalty", "0.0"},
                                  {"frequency_penalty", "0.0"}};
  std::vector<RawMember> members;
  for (const auto& row : kSaid)
    members.emplace_back(row.name, said(request, row.name, row.otherwise));
  const bool has_tools = said(request, "tools", "[]") != "[]";
  members.emplace_back("tools", tools(request));
  members.emplace_back("tool_choice",
                       has_tools ? said(request, "tool_choice", "\"auto\"") : "\"none\"");
  members.emplace_back("service_tier", "\"auto\"");
  for (const char* name :
       {"kv_transfer_params", "ec_transfer_params", "input_messages", "output_messages"})
    members.emplace_back(name, "null");
  return members;
}

}  // namespace

const openai::Dialect& dialect() {
  static const openai::Dialect kDialect{.reasoning = "reasoning",
                                        .digits = 16,
                                        .message_id = "chatcmpl-",
                                        .call_id = call_id,
                                        .signature = signature,
                                        .echo = echo,
                                        .always_completes = true};
  return kDialect;
}

}  // namespace verbatim::sim::vllm
