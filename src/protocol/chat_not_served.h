#pragma once

#include <string_view>

#include "base/result.h"
#include "json/value.h"

namespace verbatim::protocol {

// Answers a parameter that this server does not act on: success where the value asks for what is
// done anyway, else kUnsupported naming it, known to the API or not.
base::Status check_not_served(std::string_view name, const json::Value& value);

}  // namespace verbatim::protocol
