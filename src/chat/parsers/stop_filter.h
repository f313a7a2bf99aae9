#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace verbatim::chat::parsers {

// Ends a text in front of the first of the client's stop strings: the one that is whole first, of
// several the longest. Keeps back what may become one, so the result is the same for every cut.
// Life: one per turn.
class StopFilter {
 public:
  explicit StopFilter(std::vector<std::string> stops);

  // Appends to `out` what is surely in front of every stop string. True once one was found: nothing
  // passes any more.
  bool feed(std::string_view text, std::string& out);
  [[nodiscard]] bool found() const { return found_; }
  // No stop string can span what comes now: appends what was kept back.
  void flush(std::string& out);

 private:
  std::vector<std::string> stops_;  // none empty
  std::string held_;
  bool found_ = false;
};

}  // namespace verbatim::chat::parsers
