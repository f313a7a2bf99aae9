#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace verbatim::simulate {

// Where broken invariants are reported. The first one ends the program: what would come behind it
// only hides the cause.
class Findings {
 public:
  virtual ~Findings() = default;
  [[noreturn]] virtual void fail(std::string_view invariant, const std::string& expected,
                                 const std::string& found) = 0;
  // A request has ended.
  virtual void step() = 0;
  // One line of the run, shown with --trace-seed.
  virtual void trace(const std::string& line) = 0;
  [[nodiscard]] virtual bool tracing() const = 0;

  void check(bool holds, std::string_view invariant, const std::string& expected,
             const std::string& found) {
    if (!holds) fail(invariant, expected, found);
  }
};

// What happened how often, by name.
using Counts = std::map<std::string, std::uint64_t>;

}  // namespace verbatim::simulate
