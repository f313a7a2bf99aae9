#pragma once

#include <string_view>

#include "base/result.h"
#include "json/value.h"
#include "message/message.h"

namespace verbatim::engine {

// The message of an answer that an engine parsed itself: {content, reasoning_content | reasoning,
// tool_calls: [{function: {name, arguments}}]}. Text and arguments as written; ids of calls are the
// engine's own and left out. `where` names it in errors. Pure.
base::Result<message::Message> read_parsed_message(const json::Value& message,
                                                   std::string_view where);

}  // namespace verbatim::engine
