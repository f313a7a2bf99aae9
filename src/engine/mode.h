#pragma once

#include <string_view>

namespace verbatim::engine {

// A way to drive a kind of engine.
struct Mode {
  std::string_view name;
  std::string_view since;  // first release that has it: "0.18"
  std::string_view route;
  bool ids_are_plain = false;  // a server of this kind can't read anything but the ids there
  bool switched = false;       // the route is there only where the server was told so
  bool floats = false;         // logprobs are 32-bit floats on this wire
};

}  // namespace verbatim::engine
