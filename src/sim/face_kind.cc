#include "sim/face_kind.h"

#include <algorithm>
#include <array>
#include <span>

namespace verbatim::sim {
namespace {

constexpr std::array<std::string_view, 4> kSglangProfiles = {"0.5.18", "0.5.16", "0.5.13",
                                                             "0.5.10"};
constexpr std::array<std::string_view, 4> kVllmProfiles = {"0.32", "0.30", "0.27", "0.24"};
constexpr std::array<std::string_view, 2> kDynamoProfiles = {"1.6.1", "1.4.1"};

constexpr std::array<std::string_view, 1> kOpenaiProfiles = {"public"};

struct Row {
  FaceKind kind;
  std::string_view name;
  std::span<const std::string_view> profiles;
  std::size_t preferred = 0;
};
constexpr std::array kFaces = {Row{FaceKind::kSglang, "sglang", kSglangProfiles, 1},
                               Row{FaceKind::kVllm, "vllm", kVllmProfiles},
                               Row{FaceKind::kDynamo, "dynamo", kDynamoProfiles},
                               Row{FaceKind::kOpenai, "openai", kOpenaiProfiles}};

const Row& row(FaceKind kind) {
  return kFaces[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string_view name(FaceKind face) {
  return row(face).name;
}

std::optional<FaceKind> face_named(std::string_view text) {
  for (const auto& each : kFaces) {
    if (each.name == text) return each.kind;
  }
  return std::nullopt;
}

std::string_view default_profile(FaceKind face) {
  return row(face).profiles[row(face).preferred];
}

bool has_profile(FaceKind face, std::string_view profile) {
  const auto profiles = row(face).profiles;
  return std::find(profiles.begin(), profiles.end(), profile) != profiles.end();
}

std::string profile_names(FaceKind face) {
  std::string names;
  for (const auto profile : row(face).profiles)
    names.append(names.empty() ? "" : ", ").append(profile);
  return names;
}

}  // namespace verbatim::sim
