#include "gateway/client_profiles.h"

#include <algorithm>
#include <cstdlib>

#include "gateway/profiles_embedded.h"
#include "json/object_reader.h"

namespace verbatim::gateway {
namespace {

using base::invalid;
using base::Result;
using base::Status;
using json::ObjectReader;

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMaxName = 64;

void read_version(ObjectReader& r) {
  const auto version = r.integer("version");
  if (!version) return r.fail("version", "missing");
  if (*version == kVersion) return;
  r.fail("version", "expected " + std::to_string(kVersion) + ", found " + std::to_string(*version) +
                        ": written for another verbatim");
}

bool is_name(std::string_view text) {
  return text.size() <= kMaxName && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                  c == '.';
         });
}

// An empty beginning would fit everything.
std::vector<std::string> beginnings(ObjectReader& r, std::string_view key) {
  auto list = r.strings(key);
  if (std::find(list.begin(), list.end(), "") != list.end())
    r.fail(key, "expected strings that are not empty");
  return list;
}

void read_arguments(ObjectReader& r, trajectory::Spelling& spelling) {
  auto arguments = r.object("arguments");
  if (!arguments) return;
  arguments->only({"scalars_in_strings", "without_prefix"});
  spelling.scalars_in_strings = arguments->boolean("scalars_in_strings").value_or(false);
  for (auto& prefix : arguments->objects("without_prefix")) {
    prefix.only({"argument", "starts", "ends"});
    spelling.prefixes.push_back(
        {prefix.required("argument"), prefix.required("starts"), prefix.required("ends")});
  }
}

}  // namespace

Result<ClientProfile> parse_client_profile(std::string_view json) {
  auto document = json::Document::parse(std::string(json));
  if (!document) return invalid("", "profile file: " + document.error().message);
  if (!document->root().is_object()) return invalid("", "profile file: expected an object");
  std::optional<base::Error> error;
  ObjectReader r(document->root(), "profile file", error);
  read_version(r);
  r.only({"version", "name", "about", "user_agents", "arguments", "volatile_lines"});
  ClientProfile profile;
  profile.name = r.required("name");
  if (!is_name(profile.name) || profile.name == ClientProfiles::kAuto ||
      profile.name == ClientProfiles::kNone)
    r.fail("name", "expected up to 64 of a-z 0-9 - _ . and neither \"auto\" nor \"none\"");
  profile.about = r.required("about");
  profile.user_agents = beginnings(r, "user_agents");
  read_arguments(r, profile.spelling);
  profile.spelling.volatile_lines = beginnings(r, "volatile_lines");
  if (error) return *std::move(error);
  return profile;
}

ClientProfiles::ClientProfiles() {
  for (const auto text : kProfileFiles) {
    auto profile = parse_client_profile(text);
    if (!profile) std::abort();  // a broken file in the build: client_profiles_test names it
    profiles_.push_back(std::move(*profile));
  }
}

void ClientProfiles::add(ClientProfile profile) {
  const auto same = std::find_if(profiles_.begin(), profiles_.end(),
                                 [&](const auto& each) { return each.name == profile.name; });
  if (same != profiles_.end()) profiles_.erase(same);
  profiles_.insert(profiles_.begin(), std::move(profile));
}

Status ClientProfiles::set_default(std::string name) {
  if (auto status = check(name); !status.ok()) return status;
  default_ = std::move(name);
  return {};
}

Status ClientProfiles::check(std::string_view name) const {
  if (name == kAuto || name == kNone || find(name) != nullptr) return {};
  std::string names = "auto, none";
  for (const auto& profile : profiles_) names += ", " + profile.name;
  return invalid("client_profile", "found \"" + std::string(name.substr(0, kMaxName)) +
                                       "\", expected one of " + names);
}

const ClientProfile* ClientProfiles::find(std::string_view name) const {
  const auto found = std::find_if(profiles_.begin(), profiles_.end(),
                                  [&](const auto& each) { return each.name == name; });
  return found == profiles_.end() ? nullptr : &*found;
}

Result<const trajectory::Spelling*> ClientProfiles::spelling(std::string_view asked,
                                                             std::string_view user_agent) const {
  const std::string_view name = asked.empty() ? std::string_view(default_) : asked;
  if (auto status = check(name); !status.ok()) return std::move(status).error();
  const trajectory::Spelling* none = nullptr;
  if (name == kNone) return none;
  if (name != kAuto) return &find(name)->spelling;
  for (const auto& profile : profiles_) {
    for (const auto& start : profile.user_agents) {
      if (user_agent.starts_with(start)) return &profile.spelling;
    }
  }
  return none;
}

}  // namespace verbatim::gateway
