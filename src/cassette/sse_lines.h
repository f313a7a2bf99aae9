#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace verbatim::cassette {

// A stream of events as raw lines: what stood on the wire, cut behind each line feed. Joined they
// are the bytes again.
std::vector<std::string> cut_lines(std::string_view bytes);

// What a data line carries, without line end; nullptr data(): it is none.
std::string_view data_of(std::string_view line);

struct StreamProblem {
  std::size_t index = 0;  // of the line; behind the last: of the stream as a whole
  std::string message;
};
enum class StreamEnd {
  kWhole,  // a terminal event or [DONE] must be there
  kCut,    // the stream ended in whatever way
};
// See read_cassette() for the rules.
std::vector<StreamProblem> check_stream(const std::vector<std::string>& lines, StreamEnd end);

}  // namespace verbatim::cassette
