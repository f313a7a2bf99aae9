#pragma once

#include <string>

#include "json/writer.h"
#include "message/message.h"
#include "protocol/conversation.h"

namespace verbatim::protocol {

// A message of a history as chat requests write it. Parts of a content go as they came. An
// assistant's content is "" where it has none: templates of some servers fail on null. Reasoning is
// reasoning_content, but for a message whose server called it reasoning.
void write_history_message(json::Writer& w, const message::Message& message);

// The body of POST /v1/chat/completions. A stream is asked for its usage.
std::string write_chat_request(const Conversation& conversation);

}  // namespace verbatim::protocol
