#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace verbatim::gateway {

// Of what a client sent, so much stands in an error.
inline constexpr std::size_t kMaxShown = 64;

// The parameters of a query by name, escapes decoded; as in a body, of equal names the last counts.
// Error: an escape is broken.
base::Result<std::map<std::string, std::string>> query_parameters(std::string_view text);

// Error: kInvalidRequest naming the field, the range and what was found.
base::Status read_number(std::string_view text, const std::string& field, std::uint64_t min,
                         std::uint64_t max, std::uint64_t& into);

}  // namespace verbatim::gateway
