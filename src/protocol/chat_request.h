#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/message.h"
#include "message/sampling.h"
#include "protocol/conversation.h"

namespace verbatim::protocol {

enum class ToolChoice { kAuto, kNone };

// A request to /v1/chat/completions, read and checked. Values own their bytes.
struct ChatRequest {
  std::string model;  // empty: the client names none
  std::vector<message::Message> messages;
  std::vector<message::Tool> tools;
  ToolChoice tool_choice = ToolChoice::kAuto;
  bool parallel_tool_calls = true;
  message::Sampling sampling;
  bool stream = false;
  bool include_usage = false;
  std::string chat_template_kwargs;  // raw JSON object; empty: none
  unsigned choices = 1;              // n
  std::string user;
  std::string metadata;  // raw JSON object; empty: none
  // With Unserved::kKeep: all members but messages, model, tools, stream, stream_options, n and
  // those of logprobs, as they were written.
  std::vector<RawMember> parameters;

  // The output is searched for calls: unless the client says no, also where it declares no tools
  // (its messages may show the model how).
  [[nodiscard]] bool wants_tools() const { return tool_choice != ToolChoice::kNone; }
};

// What becomes of parameters and content parts that this server does not act on.
enum class Unserved {
  kRefuse,  // an error, where they would change the answer
  kKeep,    // they are the engine's to know, see ChatRequest::parameters and message::parts_of
};

struct ChatReadOptions {
  // What stands between text parts of one message (engines differ).
  std::string_view part_separator = "\n";
  Unserved unserved = Unserved::kRefuse;
};

// Reads a request body. Format: OpenAI API reference, "Create chat completion", with the sampling
// extras that SDKs send through extra_body to vLLM and SGLang. null counts as absent everywhere; of
// equal names the last counts.
// Errors name the field: kInvalidRequest (malformed JSON with line and column, wrong type, out of
// range), kUnsupported (known, but not served, where it would change the answer; or not known at
// all), kTooLarge. Arguments of calls in the history are kept as written, JSON or not.
base::Result<ChatRequest> read_chat_request(std::string body, const ChatReadOptions& options = {});
base::Result<ChatRequest> read_chat_request(const json::Value& body,
                                            const ChatReadOptions& options = {});
// All but the messages: of another protocol, put into chat's words.
base::Result<ChatRequest> read_chat_parameters(const json::Value& body,
                                               const ChatReadOptions& options = {});

}  // namespace verbatim::protocol
