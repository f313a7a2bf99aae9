#pragma once

#include <string>

namespace verbatim::engine {

// Something a server shows that speaks for a kind.
struct Trace {
  std::string evidence;  // "GET /version: version 0.32.0"
  std::string release;   // where it says one
};

}  // namespace verbatim::engine
