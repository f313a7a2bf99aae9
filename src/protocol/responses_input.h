#pragma once

#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/message.h"
#include "protocol/chat_request.h"

namespace verbatim::protocol {

// Reads `input` of a Responses request, a string or items, as the messages they stand for: the
// other direction of write_items(). Items of one answer (reasoning, message, calls) that follow one
// another are one message. Calls of custom tools, of local shells and of functions in a namespace
// are calls of the functions that stand for them (responses_tools.h). Reasoning that is a summary
// or encrypted alone counts as absent.
//
// With Unserved::kKeep each message holds its items as they came (kItems), and what no message has
// a place for is kept there (kUnplaced); else it is an error. Errors (kInvalidRequest,
// kUnsupported, kTooLarge) name the item.
base::Result<std::vector<message::Message>> read_input(const json::Value& input,
                                                       Unserved unserved = Unserved::kRefuse);

}  // namespace verbatim::protocol
