#pragma once

#include <span>
#include <string_view>

namespace verbatim::gateway {

// The texts of profiles/*.json, in order of their names; the build generates the definition.
extern const std::span<const std::string_view> kProfileFiles;

}  // namespace verbatim::gateway
