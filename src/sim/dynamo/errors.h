#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "sim/script.h"

namespace verbatim::sim::dynamo {

// Errors as the Dynamo frontend answers them: three shapes, by route. An error carries the whole
// answer in `upstream`.

// {"message","type","code"}: chat completions; also wrong types on the generate route.
HttpReply flat_error(int status, std::string_view message);
// {"error":{"message","type","code"}}: the generate route's own checks.
HttpReply nested_error(int status, std::string_view type, std::string_view message);
// Plain text: the generate route where the body is no JSON.
HttpReply text_error(int status, std::string_view message);
// Nothing but the status.
HttpReply empty_error(int status);
// {"error":{...}} in a stream that has begun.
std::string error_event(int status, std::string_view message);

base::Error as_error(const HttpReply& reply);
HttpReply reply_of(const base::Error& error);

// 400 with the words of serde: "Failed to deserialize the JSON body into the target type: <what> at
// line 1 column <size of the body>". (The real column is where the reader stood.)
base::Error wrong_type(const std::string& what, std::string_view body);
// 400 "Validation: <what>".
base::Error invalid(const std::string& what);

}  // namespace verbatim::sim::dynamo
