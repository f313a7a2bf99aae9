#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"

namespace verbatim::engine::sglang {

// What SGLang (0.4 to 0.5.18) is sent: bodies of POST /generate and POST /abort_request. Only keys
// it knows are ever written: an unknown sampling key fails the whole request. Pure.

inline constexpr std::string_view kPath = "/generate";

// The body of POST /generate: streamed, with a logprob for each sampled id and nothing trimmed or
// left out.
std::string generate_body(const TokenRequest& request);

// The body of POST /abort_request. SGLang aborts every request whose id begins with `request_id`,
// so it must not be empty.
std::string abort_body(std::string_view request_id);

// Whether this release keeps prefixes of different cache_salt apart. Unknown releases do not.
base::Status check_salting(std::string_view version);

}  // namespace verbatim::engine::sglang
