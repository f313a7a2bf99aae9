#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "sim/testing/scene.h"

namespace verbatim::sim::testing {

// One recorded request and the real engine's answer. Form: tests/captures/README.md.
struct Capture {
  std::string name;
  std::string method;
  std::string path;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;  // as it is to be sent
  int status = 0;
  std::string content_type;  // empty: none
  std::string answer;        // the body's bytes, or JSON
  bool stream = false;       // `answer` holds events
  TokenIds sampled;          // where the answer does not name its ids
};
// The cases of tests/captures/<file>. Tests run in the project's root.
std::vector<Capture> read_captures(const std::string& file);

// Sends the request of `capture` to an engine of its own with these options.
Answered replay(const Capture& capture, const SimOptions& options);

// A value that differs from run to run, by its place: "choices[].message.tool_calls[].id"; "*"
// stands for any name of one member.
struct Volatile {
  std::string_view place;
  enum class May {
    kVary,        // any value of the same kind
    kDrawn,       // a string; runs of 8 or more hex digits and '-' may have other digits
    kList,        // any list
    kPlace,       // a string; the line and column at its end may be others
    kOtherNames,  // an object with as many members, the values alike
  } may = May::kVary;
};

// Where `found` is not what `expected` is: keys and their order, kinds, values; of streams also the
// order of events. Empty: nowhere.
std::string difference(const Capture& expected, const Answered& found,
                       const std::vector<Volatile>& volatiles);

}  // namespace verbatim::sim::testing
