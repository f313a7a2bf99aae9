#include "message/message.h"

#include <array>

namespace verbatim::message {
namespace {
constexpr std::array<std::pair<Role, std::string_view>, 5> kRoles{{{Role::kSystem, "system"},
                                                                   {Role::kDeveloper, "developer"},
                                                                   {Role::kUser, "user"},
                                                                   {Role::kAssistant, "assistant"},
                                                                   {Role::kTool, "tool"}}};
}

std::string_view name(Role role) {
  return kRoles[static_cast<std::size_t>(role)].second;
}

std::optional<Role> role_named(std::string_view text) {
  for (const auto& [role, word] : kRoles) {
    if (word == text) return role;
  }
  return std::nullopt;
}

std::string_view unknown_member(const Message& message, std::string_view name) {
  for (const auto& [known, raw] : message.unknown) {
    if (known == name) return raw;
  }
  return {};
}

}  // namespace verbatim::message
