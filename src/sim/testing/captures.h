#pragma once

#include <functional>
#include <memory>
#include <set>
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

// What may differ on routes where the face prints an object in an order of its own. A place that
// holds in no capture is an error of the table: see unused().
struct Tolerance {
  std::vector<Volatile> volatiles;
  std::vector<std::string> left_out;  // the recorded server prints them, the face does not
  std::vector<std::string> added;     // the face alone prints them
  std::vector<std::string> differs;   // the face prints something else there
};
// Places of the last three lists, as they were needed.
using Needed = std::set<std::string, std::less<>>;
// Those that were not.
std::vector<std::string> unused(const Tolerance& tolerance, const Needed& needed);

// The same as below, the order of keys aside.
std::string difference(const Capture& expected, const Answered& found, const Tolerance& tolerance,
                       Needed& needed);

// Where `found` is not what `expected` is: keys and their order, kinds, values; of streams also the
// order of events. Empty: nowhere.
std::string difference(const Capture& expected, const Answered& found,
                       const std::vector<Volatile>& volatiles);

}  // namespace verbatim::sim::testing
