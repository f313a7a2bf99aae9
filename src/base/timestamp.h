#pragma once

#include <cstdint>
#include <string>

namespace verbatim::base {

// Milliseconds since 1970 as RFC 3339 in UTC: "2026-11-30T22:41:07.123Z".
std::string timestamp(std::int64_t wall_ms);

}  // namespace verbatim::base
