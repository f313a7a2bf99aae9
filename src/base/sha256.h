#pragma once

#include <string>
#include <string_view>

namespace verbatim::base {

// SHA-256 as 64 hex digits (OpenSSL): fingerprints of files and templates.
std::string sha256_hex(std::string_view bytes);

}  // namespace verbatim::base
