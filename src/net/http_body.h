#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/http_types.h"

namespace verbatim::net {

// Finds the bytes of one body in what follows a head, and its proved end. No I/O, any chunking.
// Chunked coding as RFC 9112 7.1, read strictly: CRLF only, no white space around the size,
// extensions bounded and dropped, trailer fields checked and dropped.
class BodyFraming {
 public:
  enum class Kind { kNone, kLength, kChunked, kUntilClose };
  void start(Kind kind, std::uint64_t length, const HttpLimits& limits);

  struct Step {
    std::size_t consumed = 0;
    std::string_view data;  // part of the input; may be empty
  };
  // Takes at most one contiguous run of body bytes. Consumes at least one byte of a non-empty input
  // until done() or failed().
  Step next(std::string_view in);
  // The stream has ended: true when the body is complete by that.
  [[nodiscard]] bool finish();

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  [[nodiscard]] bool failed() const { return state_ == State::kFailed; }
  [[nodiscard]] const HttpFailure& failure() const { return failure_; }
  // What is left of a body of known length.
  [[nodiscard]] std::uint64_t remaining() const { return remaining_; }

 private:
  enum class State {
    kBytes,
    kSize,
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailer,
    kTrailerLf,
    kDone,
    kFailed
  };
  void take(char c);
  void take_size(char c);
  void take_trailer(char c);
  void end_size_line();
  void end_trailer_line();
  void fail(int status, const char* code, const char* message);

  Kind kind_ = Kind::kNone;
  State state_ = State::kDone;
  const HttpLimits* limits_ = nullptr;
  std::uint64_t remaining_ = 0;  // of the body (kLength) or of the chunk
  std::uint64_t total_ = 0;
  std::size_t line_bytes_ = 0;
  std::size_t extension_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
  unsigned digits_ = 0;
  std::string trailer_;
  HttpFailure failure_;
};

}  // namespace verbatim::net
