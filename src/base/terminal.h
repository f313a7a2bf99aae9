#pragma once

#include <string>
#include <string_view>

namespace verbatim::base {

// `text` as it may be printed on a terminal, on one line, wherever it came from. Escaped are
// control characters (C0, DEL, C1), line ends among them, and the marks that turn the direction of
// text:
// "\x1b", "\n", "\u202e"; bytes that are not UTF-8 as "\xff". A backslash stays as it is: this is
// for reading, not for undoing.
[[nodiscard]] std::string for_terminal(std::string_view text);

}  // namespace verbatim::base
