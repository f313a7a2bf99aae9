#include "cli/profile_options.h"

#include <CLI/CLI.hpp>

namespace verbatim::cli {

namespace {
constexpr std::uint64_t kMaxFile = 1U << 20;
}

void ProfileOptions::add(CLI::App& command) {
  command
      .add_option("--client-profile", chosen,
                  "how agents spell the history they repeat, where their session does not say: "
                  "auto (by their User-Agent), none, or a profile's name")
      ->capture_default_str()
      ->envname("VERBATIM_CLIENT_PROFILE");
  command
      .add_option("--client-profile-file", files,
                  "file with one more profile, or with another in place of one of its name")
      ->envname("VERBATIM_CLIENT_PROFILE_FILE");
}

const char* ProfileOptions::given() const {
  if (!files.empty()) return "--client-profile-file";
  return chosen == gateway::ClientProfiles::kAuto ? nullptr : "--client-profile";
}

base::Result<gateway::ClientProfiles> ProfileOptions::load(base::Files& from) const {
  gateway::ClientProfiles profiles;
  for (const auto& file : files) {
    auto text = from.read(file, kMaxFile);
    if (!text) return std::move(text).error().within("--client-profile-file");
    auto profile = gateway::parse_client_profile(*text);
    if (!profile) return base::invalid("--client-profile-file " + file, profile.error().message);
    profiles.add(std::move(*profile));
  }
  if (auto status = profiles.set_default(chosen); !status.ok())
    return base::invalid("--client-profile", status.error().message);
  return profiles;
}

}  // namespace verbatim::cli
