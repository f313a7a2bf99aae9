#pragma once

#include <string>
#include <vector>

namespace verbatim::protocol {

// An event of a stream whose events have names.
struct NamedEvent {
  std::string name;
  std::string data;  // JSON
};
using NamedEvents = std::vector<NamedEvent>;

}  // namespace verbatim::protocol
