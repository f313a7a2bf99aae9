#include "sim/sglang/profile.h"

#include <array>

namespace verbatim::sim::sglang {
namespace {

constexpr std::array kProfiles = {
    Profile{.name = "0.5.10",
            .chat_takes_ids = false,
            .chat_names_ids = false,
            .weight_spans = false,
            .takes_salt = false},
    Profile{.name = "0.5.13",
            .chat_takes_ids = true,
            .chat_names_ids = false,
            .weight_spans = false,
            .takes_salt = false},
    Profile{.name = "0.5.16",
            .chat_takes_ids = true,
            .chat_names_ids = true,
            .weight_spans = false,
            .takes_salt = false},
    Profile{.name = "0.5.18",
            .chat_takes_ids = true,
            .chat_names_ids = true,
            .weight_spans = true,
            .takes_salt = true},
};

}  // namespace

const Profile* profile_named(std::string_view name) {
  for (const auto& profile : kProfiles) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

}  // namespace verbatim::sim::sglang
