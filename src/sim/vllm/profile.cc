#include "sim/vllm/profile.h"

#include <array>

namespace verbatim::sim::vllm {
namespace {

constexpr std::array kProfiles = {
    Profile{.name = "0.24",
            .version = "0.24.0",
            .names_request = false,
            .keeps_choices = false,
            .gated = false,
            .aborts_by_id = false,
            .says_abort = false,
            .weight_spans = false,
            .integer_logprobs = false,
            .newest_fields = false,
            .longest_salt = 0,
            .derender_needs_chat = false},
    Profile{.name = "0.27",
            .version = "0.27.0",
            .names_request = true,
            .keeps_choices = false,
            .gated = false,
            .aborts_by_id = false,
            .says_abort = false,
            .weight_spans = false,
            .integer_logprobs = false,
            .newest_fields = false,
            .longest_salt = 0,
            .derender_needs_chat = false},
    Profile{.name = "0.30",
            .version = "0.30.0",
            .names_request = true,
            .keeps_choices = true,
            .gated = true,
            .aborts_by_id = true,
            .says_abort = true,
            .weight_spans = true,
            .integer_logprobs = false,
            .newest_fields = false,
            .longest_salt = 128,
            .derender_needs_chat = true},
    Profile{.name = "0.32",
            .version = "0.32.0",
            .names_request = true,
            .keeps_choices = true,
            .gated = true,
            .aborts_by_id = true,
            .says_abort = true,
            .weight_spans = true,
            .integer_logprobs = true,
            .newest_fields = true,
            .longest_salt = 128,
            .derender_needs_chat = true},
};

}  // namespace

const Profile* profile_named(std::string_view name) {
  for (const auto& profile : kProfiles) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

}  // namespace verbatim::sim::vllm
