#pragma once

#include <string_view>

#include "base/result.h"
#include "protocol/chat_request.h"

namespace verbatim::protocol {

// Reads one top-level parameter of a chat request (not null) into `request`; all but `messages`.
// Errors: see read_chat_request.
base::Status read_chat_parameter(std::string_view name, const json::Value& value,
                                 ChatRequest& request);

}  // namespace verbatim::protocol
