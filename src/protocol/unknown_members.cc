#include "protocol/unknown_members.h"

#include <algorithm>
#include <string>

namespace verbatim::protocol {
namespace {

bool says_nothing(const json::Value& value) {
  return value.is_null() || (value.is_array() && value.empty()) || value.raw() == "\"\"";
}

// "[1]" and "[2]" are "[1,2]", "\"a\"" and "\"b\"" are "\"ab\"".
std::string joined(const std::string& first, std::string_view second, std::string_view between) {
  std::string out = first.substr(0, first.size() - 1);
  return out.append(between).append(second.substr(1));
}

}  // namespace

void UnknownMembers::add(const json::Value& object, std::initializer_list<std::string_view> known) {
  for (const auto member : object) {
    std::string name = member.name();
    const bool has_place = std::find(known.begin(), known.end(), name) != known.end();
    if (!has_place && !says_nothing(member.value)) add(std::move(name), member.value);
  }
}

void UnknownMembers::add(std::string name, const json::Value& value) {
  const auto at = std::find_if(members_.begin(), members_.end(),
                               [&](const RawMember& member) { return member.first == name; });
  if (at == members_.end()) {
    members_.emplace_back(std::move(name), std::string(value.raw()));
    return;
  }
  std::string& raw = at->second;
  if (value.is_string() && raw.front() == '"') {
    raw = joined(raw, value.raw(), "");
  } else if (value.is_array() && raw.front() == '[') {
    raw = joined(raw, value.raw(), ",");
  } else {
    raw = value.raw();
  }
}

}  // namespace verbatim::protocol
