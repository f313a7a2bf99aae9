#pragma once

#include <string>

#include "net/http_types.h"

namespace verbatim::net {

// The answer body of an error that net itself finds, in the shape of the OpenAI API:
// {"error":{message,type,code,param}}.
std::string error_body(const HttpFailure& failure);

}  // namespace verbatim::net
