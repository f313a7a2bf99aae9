#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "message/message.h"

namespace verbatim::trajectory {

// What an agent writes otherwise than it was given, and means the same: differences that are none,
// beside those of equality.h. Data, read from a client's profile. Only histories are compared so;
// what is recorded and what is sent up stays as it was. Immutable, shared by all threads.
struct Spelling {
  // The value of an argument that is given back without what it began with: from `starts` up to and
  // with the next `ends`, all in one line, as often as it begins so.
  struct Prefix {
    std::string argument;
    std::string starts;
    std::string ends;
    bool operator==(const Prefix&) const = default;
  };

  // A string argument that spells a number, true or false is that: "1000" and 1000.
  bool scalars_in_strings = false;
  std::vector<Prefix> prefixes;
  // Lines of system and developer messages that begin with one of these, behind white space: what
  // follows in the line does not count.
  std::vector<std::string> volatile_lines;

  [[nodiscard]] bool rewrites_arguments() const { return scalars_in_strings || !prefixes.empty(); }
  // All of it in one spelling, for digests: turns recorded under other rules are not compared with.
  // Empty: no rule.
  [[nodiscard]] std::string rules() const;
  bool operator==(const Spelling&) const = default;
};

// The value of an argument's string without the prefixes that `spelling` names.
std::string_view without_prefixes(const Spelling& spelling, std::string_view argument,
                                  std::string_view value);

// The text of a system or developer message without what is volatile in it.
std::string settled_text(const Spelling& spelling, std::string_view text);

}  // namespace verbatim::trajectory
