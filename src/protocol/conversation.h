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

// Names under which Message::unknown holds what was said in a form that chat has not: an array,
// raw. It goes up over the same protocol in place of what was read out of it. No client may send
// them: items and blocks are what a server said, items also what a client sent as such.
inline constexpr std::string_view kItems = "responses_output";
inline constexpr std::string_view kContentBlocks = "messages_content";
// The place of an item or a part that was kept in kItems alone, a string: nothing was read out of
// it, so only the Responses protocol has it.
inline constexpr std::string_view kUnplaced = "responses_unplaced";

// Is it one of the names above?
bool is_reserved(std::string_view name);
// Takes out what a client may not have said.
void drop_reserved(message::Message& message);

}  // namespace verbatim::protocol
