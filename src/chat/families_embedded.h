#pragma once

#include <span>
#include <string_view>

namespace verbatim::chat {

// The texts of families/*.json, in order of their names; the build generates the definition
// (src/chat/CMakeLists.txt).
extern const std::span<const std::string_view> kFamilyFiles;

}  // namespace verbatim::chat
