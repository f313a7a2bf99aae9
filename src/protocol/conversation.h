#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "message/message.h"
#include "message/sampling.h"

namespace verbatim::protocol {

// The protocols in which a whole conversation goes up to a server.
enum class Wire { kChat, kResponses, kMessages };

// A member as it was written: name and raw JSON.
using RawMember = std::pair<std::string, std::string>;

// A conversation that is to be answered, as it goes up by messages.
struct Conversation {
  std::string model;
  std::vector<message::Message> messages;  // not empty
  std::vector<message::Tool> tools;
  // What else the client's chat request said, under its names there: sampling parameters and all
  // that is the server's to know. None of: model, messages, tools, stream, stream_options.
  std::vector<RawMember> parameters;
  message::Sampling sampling;  // the same, as far as it was read
  bool stream = false;
};

// What a protocol demands of a conversation. kUnsupported or kInvalidRequest, naming the field of
// the chat request. Pure.
base::Status check_conversation(Wire wire, const Conversation& conversation);
// How a Responses server reads a function that does not say whether it is strict. In chat all are
// lenient. vLLM and Dynamo read it so in both, and show the model what is said: there nothing is.
enum class Silent { kStrict, kLenient };
// The body of the request. `conversation` passes the check.
std::string write_conversation(Wire wire, const Conversation& conversation,
                               Silent functions = Silent::kStrict);

// Names under which Message::unknown holds what a server said in a form that chat has not: an
// array, raw. It goes back up over the same protocol in place of what was read out of it. No client
// may send them.
inline constexpr std::string_view kOutputItems = "responses_output";
inline constexpr std::string_view kContentBlocks = "messages_content";
// The raw value of an unknown member; empty: it is not there.
std::string_view unknown_member(const message::Message& message, std::string_view name);

// Takes out what only a server may have said.
void drop_reserved(message::Message& message);

}  // namespace verbatim::protocol
