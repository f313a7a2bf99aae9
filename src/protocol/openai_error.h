#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/writer.h"

namespace verbatim::protocol {

// The error type word of the OpenAI API for a kind of error ("invalid_request_error").
std::string_view openai_error_type(base::ErrorKind kind);

// The message of an error: it starts with the field that is meant.
std::string openai_error_message(const base::Error& error);

// A member that is null where there is no text.
void write_or_null(json::Writer& w, std::string_view key, const std::string& text);
// "message", "type", "code", "param": the members of an error.
void write_openai_error(json::Writer& w, const base::Error& error);

// {"error":{"message","type","code","param"}}: the body of a failed answer, and the payload of an
// error event in a stream that has begun. `message` starts with the field that is meant.
std::string openai_error_body(const base::Error& error);

}  // namespace verbatim::protocol
