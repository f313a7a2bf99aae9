#pragma once

#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/message.h"

namespace verbatim::protocol {

// Reads `input` of a Responses request, a string or items, as the messages they stand for: the
// other direction of write_items(). Items of one answer (reasoning, message, calls) that follow one
// another are one message. Errors (kInvalidRequest, kUnsupported) name the item.
base::Result<std::vector<message::Message>> read_input(const json::Value& input);

}  // namespace verbatim::protocol
