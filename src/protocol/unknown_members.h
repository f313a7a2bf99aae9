#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "protocol/conversation.h"

namespace verbatim::protocol {

// Gathers members of a server's message that have no place elsewhere: with values, of a whole
// message or piece by piece from deltas, where strings are joined, arrays too, and of others the
// last counts.
class UnknownMembers {
 public:
  // All members of `object` but those named and those that say nothing (null, "", []).
  void add(const json::Value& object, std::initializer_list<std::string_view> known);
  [[nodiscard]] const std::vector<RawMember>& members() const { return members_; }

 private:
  void add(std::string name, const json::Value& value);

  std::vector<RawMember> members_;
};

}  // namespace verbatim::protocol
