#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "protocol/conversation.h"
#include "sim/call.h"
#include "sim/sim_engine.h"

namespace verbatim::sim::openai {

// A request by messages.
struct Request {
  GenerateCall call;
  protocol::Wire wire = protocol::Wire::kChat;
  std::string model;
  bool tools = false;                     // calls may be made
  bool include_usage = false;             // chat streams
  bool asks_summary = false;              // responses: of the reasoning
  bool reasoning_open = false;            // the prompt ends inside reasoning
  std::vector<protocol::RawMember> echo;  // what the answer repeats of it
};

// Reads a request: a 400 in OpenAI's words where it is none, 404 (kNotFound) for another model. The
// prompt is a ChatML of all that the conversation says, reasoning, calls and results too, so that a
// conversation has one prompt over every protocol.
using Echo = std::vector<protocol::RawMember> (*)(const json::Value& request);
base::Result<Request> read_request(protocol::Wire wire, std::string_view body,
                                   const SimOptions& options, Echo echo);

}  // namespace verbatim::sim::openai
