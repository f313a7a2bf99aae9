#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace verbatim::json {

// One value in document order. Children follow their container; object members are a string node
// (the name) and the value behind it.
struct TapeNode {
  std::uint32_t begin = 0;  // bytes of the source, [begin, end)
  std::uint32_t end = 0;
  std::uint32_t next = 0;   // index behind this value and all below it
  std::uint32_t count = 0;  // elements or members
  Kind kind = Kind::kNull;
  bool escaped = false;  // a string with escapes
};
using Tape = std::vector<TapeNode>;

base::Result<Tape> parse_tape(std::string_view text, const ParseLimits& limits);

}  // namespace verbatim::json
