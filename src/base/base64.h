#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace verbatim::base {

// RFC 4648, section 4, with padding.
std::string to_base64(std::string_view bytes);
// Only what to_base64() writes, whole and without spaces; anything else is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace verbatim::base
