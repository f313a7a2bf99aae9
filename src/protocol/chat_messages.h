#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/message.h"

namespace verbatim::protocol {

// Reads `messages` of a chat request. Text parts are joined with `part_separator`.
base::Result<std::vector<message::Message>> read_chat_messages(const json::Value& value,
                                                               std::string_view part_separator);

// Reads `tools`: function tools, each kept as it was sent.
base::Result<std::vector<message::Tool>> read_chat_tools(const json::Value& value);

}  // namespace verbatim::protocol
