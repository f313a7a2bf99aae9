#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cassette/cassette.h"
#include "cassette/normal_request.h"

namespace verbatim::cassette {

// The recorded turns that are still to be asked for, and what was asked instead. Decides, does no
// I/O. Life: one per replay, on its thread.
class Tape {
 public:
  struct Options {
    std::vector<RecordedTurn> turns;  // asked for in this order, each once
    // Answered whenever they are asked for, as often as one likes: what a client asks while it
    // starts, or again and again.
    std::vector<RecordedTurn> standing;
    std::vector<std::string> ignored;  // members of bodies that are not compared
  };
  // Error: a recorded body that can't be compared.
  static base::Result<Tape> make(Options options);

  // What is answered to a request: a turn, which lives as long as this; nullptr: the request was
  // not expected now, `why` says what was.
  struct Found {
    const RecordedTurn* turn = nullptr;
    bool standing = false;
    std::string why;
  };
  Found take(std::string_view method, std::string_view path, std::string_view query,
             std::string_view body);

  // What is wrong with what was asked so far, a line each: every unexpected request, every turn
  // that nobody asked for. Empty: all was replayed.
  [[nodiscard]] std::vector<std::string> report() const;
  [[nodiscard]] std::size_t taken() const { return next_; }
  [[nodiscard]] std::size_t size() const { return turns_.size(); }
  [[nodiscard]] const std::vector<RecordedTurn>& turns() const { return options_.turns; }

 private:
  explicit Tape(Options options) : options_(std::move(options)) {}
  Found unexpected(const std::string& name, std::string why);

  Options options_;
  std::vector<NormalRequest> turns_;
  std::vector<NormalRequest> standing_;
  std::size_t next_ = 0;
  std::vector<std::string> unexpected_;
};

}  // namespace verbatim::cassette
