#pragma once

#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/message.h"

namespace verbatim::protocol {

// What becomes of that for which a message has no field of its own.
struct InputRules {
  bool parts = true;   // images and files are taken (message::kParts), else an error
  bool tools = false;  // items that hold tools are the caller's to read (ResponsesTools), else an
                       // error
  bool items = false;  // each message holds its items as they came (kItems), and what no message
                       // has a place for is kept there (kUnplaced); else that is an error
};

// Reads `input` of a Responses request, a string or items, as the messages they stand for: the
// other direction of write_items(). Items of one answer (reasoning, message, calls) that follow one
// another are one message. Calls of custom tools, of local shells, of searches for tools and of
// functions in a namespace are calls of the functions that stand for them (responses_tools.h).
// Reasoning that is a summary, or encrypted by another server, counts as absent. Errors
// (kInvalidRequest, kUnsupported, kTooLarge) name the item.
base::Result<std::vector<message::Message>> read_input(const json::Value& input,
                                                       const InputRules& rules = {});

}  // namespace verbatim::protocol
