#pragma once

#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/message.h"

namespace verbatim::protocol {

// Reads `system` and `messages` of a Messages request as the messages they stand for: the other
// direction of write_messages_request(). A tool_result is a message of role tool; what a user says
// between two of them is one message. Errors (kInvalidRequest, kUnsupported) name the block.
base::Result<std::vector<message::Message>> read_messages_input(const json::Value& body);

}  // namespace verbatim::protocol
