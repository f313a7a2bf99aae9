#include "sim/dynamo/dialect.h"

#include <string>
#include <utility>
#include <vector>

#include "json/writer.h"
#include "sim/dynamo/errors.h"

namespace verbatim::sim::dynamo {
namespace {

using json::Value;
using protocol::RawMember;
using protocol::Wire;

std::string refusal(Wire wire, int status, std::string_view message) {
  if (wire == Wire::kMessages) return openai::error_body(wire, status, message);
  return flat_error(status, message).body;
}

std::string call_id(Wire wire, const std::string& drawn) {
  if (wire == Wire::kMessages) return "toolu_" + drawn;
  std::string text = drawn;
  for (const std::size_t at : {8U, 13U, 18U, 23U}) text.insert(at, "-");
  return "call-" + text;
}

// Nobody signs it; in a stream that is said.
std::string signature(const std::string&, bool stream) {
  return stream ? "erased" : "";
}

std::string said(const Value& request, const char* name, const char* otherwise) {
  const auto value = request.get(name);
  return value ? std::string(value->raw()) : otherwise;
}

// Functions are strict unless they say no.
std::string tools(const Value& request) {
  json::Writer w;
  w.begin_array();
  if (const auto list = request.get("tools"); list && list->is_array()) {
    for (const auto& tool : *list) {
      w.begin_object();
      for (const auto& member : tool.value) w.key(member.name()).raw(member.value.raw());
      if (!tool.value.get("strict")) w.field("strict", true);
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
  static constexpr Row kSaid[] = {{"max_output_tokens", "null"},
                                  {"metadata", "{}"},
                                  {"parallel_tool_calls", "true"},
                                  {"service_tier", "\"auto\""},
                                  {"temperature", "1.0"},
                                  {"text", R"({"format":{"type":"text"}})"},
                                  {"tool_choice", "\"auto\""},
                                  {"top_logprobs", "0"},
                                  {"top_p", "1.0"},
                                  {"truncation", "\"disabled\""},
                                  {"instructions", "null"},
                                  {"max_tool_calls", "null"},
                                  {"prompt_cache_key", "null"},
                                  {"reasoning", "null"},
                                  {"safety_identifier", "null"},
                                  {"presence_penalty", "0.0"},
                                  {"frequency_penalty", "0.0"},
                                  {"store", "false"}};
  std::vector<RawMember> members;
  for (const auto& row : kSaid)
    members.emplace_back(row.name, said(request, row.name, row.otherwise));
  members.emplace_back("tools", tools(request));
  members.emplace_back("background", "false");
  for (const char* name :
       {"billing", "conversation", "previous_response_id", "prompt", "prompt_cache_retention"})
    members.emplace_back(name, "null");
  return members;
}

}  // namespace

const openai::Dialect& dialect() {
  static const openai::Dialect kDialect{.digits = 32,
                                        .call_id = call_id,
                                        .signature = signature,
                                        .echo = echo,
                                        .says_completed_at = true,
                                        .keeps_layout = true,
                                        .whole_calls = true,
                                        .text_ends = protocol::TextEnds::kLast,
                                        .ends_with_done = true,
                                        .stream_type = "text/event-stream",
                                        .reasons_if_asked = true,
                                        .refusal = refusal};
  return kDialect;
}

}  // namespace verbatim::sim::dynamo
