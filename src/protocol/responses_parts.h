#pragma once

#include <string>

#include "base/result.h"
#include "json/value.h"
#include "json/writer.h"
#include "message/message.h"
#include "protocol/content_parts.h"

namespace verbatim::protocol {

// The content of a message in the Responses protocol, and back: input_text, input_image,
// input_file. Format: OpenAI API reference, "Responses". Pure.

// kUnsupported where the protocol has no word for a part, naming it behind `field`
// ("messages[2]").
base::Status check_responses_content(const message::Message& message, const std::string& field);
// The value: a string, or a list of parts. The message passes the check.
void write_responses_content(json::Writer& w, const message::Message& message);

// A part of an item's content or output; text of any type. Errors (kInvalidRequest, kUnsupported)
// name it by `field`.
base::Result<ContentPart> read_responses_part(const json::Value& value, const std::string& field);

}  // namespace verbatim::protocol
