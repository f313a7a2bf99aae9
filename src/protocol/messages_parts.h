#pragma once

#include <string>

#include "base/result.h"
#include "json/value.h"
#include "json/writer.h"
#include "message/message.h"
#include "protocol/content_parts.h"

namespace verbatim::protocol {

// The content of a user's message or of a tool's result in the Messages protocol, and back: blocks
// of text, image and document. Format: Anthropic API reference, "Messages". Pure.

// kUnsupported where the protocol has no word for a part, naming it behind `field`
// ("messages[2]").
base::Status check_messages_content(const message::Message& message, const std::string& field);
// The value: a string, or a list of blocks. The message passes the check.
void write_messages_content(json::Writer& w, const message::Message& message);

// Is this a block of an image or a document?
bool is_picture_block(const json::Value& block);
// Such a block. Errors (kInvalidRequest, kUnsupported) name it by `field`.
base::Result<ContentPart> read_picture_block(const json::Value& block, const std::string& field);

}  // namespace verbatim::protocol
