#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cassette/cassette.h"
#include "net/http_types.h"

namespace verbatim::cassette {

// What crossed the wire, as it becomes a cassette: turns in the order in which they were asked for,
// those that are answered. Does no I/O. Life: one per file, on one thread.
class Recording {
 public:
  struct Options {
    std::string provider;    // JSON, an object; empty: not said
    bool posts_only = true;  // other requests are left out
    bool once = false;       // a request that was recorded before is left out
  };
  explicit Recording(Options options) : options_(std::move(options)) {}

  // An asked request; the number that its answer is filed under, or nullopt: it is left out. Error:
  // it can't be recorded (a body that is no JSON object).
  base::Result<std::optional<std::size_t>> ask(const net::Request& request);
  struct Answer {
    int status = 0;
    const net::Headers* headers = nullptr;
    std::string_view body;
    std::string transport_error;  // empty: it ended well
  };
  // Error: it can't be recorded (no UTF-8, JSON that is none, a stream that breaks the rules of a
  // cassette); the turn is left out then.
  base::Status answer(std::size_t number, const Answer& answer);

  [[nodiscard]] std::size_t size() const;
  // The text of the file so far.
  [[nodiscard]] base::Result<std::string> text() const;

 private:
  struct Slot {
    RecordedTurn turn;
    std::string key;  // of equal requests, where each is recorded once
    bool answered = false;
  };
  [[nodiscard]] Cassette cassette() const;

  Options options_;
  std::vector<Slot> slots_;
  std::set<std::string> recorded_;  // keys
};

}  // namespace verbatim::cassette
