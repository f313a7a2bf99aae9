#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace verbatim::sim {

// Which engine's wire is spoken.
enum class FaceKind : std::uint8_t { kSglang, kVllm, kDynamo, kOpenai };

std::string_view name(FaceKind face);  // "sglang" ...
std::optional<FaceKind> face_named(std::string_view text);

// The releases that a face can play, newest first.
std::string_view default_profile(FaceKind face);
[[nodiscard]] bool has_profile(FaceKind face, std::string_view profile);
// "0.32, 0.30": for messages and help.
std::string profile_names(FaceKind face);

}  // namespace verbatim::sim
