#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/writer.h"
#include "message/usage.h"
#include "protocol/conversation.h"
#include "protocol/responses_items.h"
#include "protocol/responses_tools.h"

namespace verbatim::protocol {

// How a response, or an item of it, stands.
inline constexpr std::string_view kInProgress = "in_progress";
inline constexpr std::string_view kIncomplete = "incomplete";
inline constexpr std::string_view kCompleted = "completed";

// What stands in every object of one response.
struct ResponseHead {
  std::string id;            // "resp_..."
  std::int64_t created = 0;  // Unix time, seconds
  std::string model;
  // What else the object says, the same from its first event to its last.
  std::vector<RawMember> members = {};
  bool says_completed_at = false;
  bool seals_reasoning = false;  // items of reasoning have their encrypted_content
  // Of the request; null: all calls are of functions. Outlives the response.
  const ResponsesTools* tools = nullptr;
};

// How a response stands.
struct ResponseState {
  std::string_view status = kInProgress;
  const message::Usage* usage = nullptr;
  std::int64_t completed = 0;  // Unix time, seconds; of a response that is completed
  std::string error = {};      // of a failed one, JSON
};

// An item of a response's output.
struct OutputItem {
  ItemKind kind = ItemKind::kOther;
  std::string id;
  std::string text;  // of a message or reasoning; of a call: arguments of the function
  std::string call_id;
  ResponsesTools::Entry tool;  // of a call: what it is to the client
  bool open = true;            // or cut
  bool sealed = false;         // has encrypted_content
};

// The input of a custom tool, out of the arguments of the function that stands for it; arguments of
// another form as they are.
std::string custom_input(const std::string& arguments);
// Are these the arguments of a local shell?
bool is_shell_action(const std::string& arguments);
// Are these the arguments of any function? None at all are.
bool is_object(const std::string& arguments);

// Format: OpenAI API reference, "The response object"; Open Responses.
void write_text_part(json::Writer& w, const OutputItem& item, std::string_view text);
void write_output_item(json::Writer& w, const OutputItem& item, std::string_view status);
void write_response(json::Writer& w, const ResponseHead& head, const ResponseState& state,
                    const std::vector<OutputItem>& items);

}  // namespace verbatim::protocol
