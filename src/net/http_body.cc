#include "net/http_body.h"

#include <algorithm>

namespace verbatim::net {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void BodyFraming::start(Kind kind, std::uint64_t length, const HttpLimits& limits) {
  kind_ = kind;
  limits_ = &limits;
  remaining_ = kind == Kind::kLength ? length : 0;
  total_ = 0;
  line_bytes_ = extension_bytes_ = trailer_bytes_ = 0;
  digits_ = 0;
  trailer_.clear();
  switch (kind) {
    case Kind::kNone:
      state_ = State::kDone;
      break;
    case Kind::kLength:
      state_ = length == 0 ? State::kDone : State::kBytes;
      break;
    case Kind::kUntilClose:
      state_ = State::kBytes;
      break;
    case Kind::kChunked:
      state_ = State::kSize;
      break;
  }
  if (kind == Kind::kLength && length > limits.body_bytes) {
    fail(413, "body_too_large", "the body is larger than this server accepts");
  }
}

void BodyFraming::fail(int status, const char* code, const char* message) {
  state_ = State::kFailed;
  failure_ = HttpFailure{status, code, message};
}

BodyFraming::Step BodyFraming::next(std::string_view in) {
  Step step;
  while (step.consumed < in.size() && state_ != State::kDone && state_ != State::kFailed) {
    if (state_ != State::kBytes && state_ != State::kData) {
      take(in[step.consumed++]);
      continue;
    }
    std::size_t n = in.size() - step.consumed;
    if (kind_ != Kind::kUntilClose)
      n = static_cast<std::size_t>(std::min<std::uint64_t>(n, remaining_));
    total_ += n;
    if (total_ > limits_->body_bytes) {
      fail(413, "body_too_large", "the body is larger than this server accepts");
      return step;
    }
    step.data = in.substr(step.consumed, n);
    step.consumed += n;
    if (kind_ == Kind::kUntilClose) return step;
    remaining_ -= n;
    if (remaining_ == 0) state_ = kind_ == Kind::kLength ? State::kDone : State::kDataCr;
    // The framing behind the data is taken at once where it is there already: the end is known as
    // early as it can be.
    while (step.consumed < in.size() && state_ != State::kDone && state_ != State::kFailed &&
           state_ != State::kData && state_ != State::kBytes) {
      take(in[step.consumed++]);
    }
    return step;
  }
  return step;
}

bool BodyFraming::finish() {
  if (kind_ == Kind::kUntilClose && state_ == State::kBytes) state_ = State::kDone;
  return done();
}

void BodyFraming::take(char c) {
  switch (state_) {
    case State::kSize:
    case State::kExtension:
      take_size(c);
      break;
    case State::kSizeLf:
      if (c != '\n') return fail(400, "bad_chunk", "a chunk's size line must end in CRLF");
      end_size_line();
      break;
    case State::kDataCr:
      if (c != '\r') return fail(400, "bad_chunk", "a chunk is longer than its size says");
      state_ = State::kDataLf;
      break;
    case State::kDataLf:
      if (c != '\n') return fail(400, "bad_chunk", "a chunk must end in CRLF");
      state_ = State::kSize;
      line_bytes_ = 0;
      digits_ = 0;
      remaining_ = 0;
      break;
    case State::kTrailer:
      take_trailer(c);
      break;
    case State::kTrailerLf:
      if (c != '\n') return fail(400, "bad_trailer", "a trailer line must end in CRLF");
      end_trailer_line();
      break;
    default:
      break;
  }
}

void BodyFraming::take_size(char c) {
  if (c == '\r') {
    if (digits_ == 0) return fail(400, "bad_chunk", "a chunk has no size");
    state_ = State::kSizeLf;
    return;
  }
  if (++line_bytes_ > limits_->chunk_line_bytes)
    return fail(400, "bad_chunk", "a chunk's size line is too long");
  if (state_ == State::kExtension) {
    if (++extension_bytes_ > limits_->chunk_extension_bytes) {
      return fail(400, "bad_chunk", "the chunk extensions are too long");
    }
    if (!is_field_value({&c, 1}))
      fail(400, "bad_chunk", "a chunk extension holds a control character");
    return;
  }
  if (c == ';' && digits_ > 0) {
    state_ = State::kExtension;
    return;
  }
  const int digit = hex_digit(c);
  // 15 digits: no overflow, and more than any body limit.
  if (digit < 0 || ++digits_ > 15)
    return fail(400, "bad_chunk", "a chunk's size is not a hexadecimal number");
  remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
}

void BodyFraming::end_size_line() {
  if (remaining_ == 0) {
    state_ = State::kTrailer;
    return;
  }
  state_ = State::kData;
  if (remaining_ > limits_->body_bytes - std::min<std::uint64_t>(total_, limits_->body_bytes)) {
    fail(413, "body_too_large", "the body is larger than this server accepts");
  }
}

void BodyFraming::take_trailer(char c) {
  if (++trailer_bytes_ > limits_->trailer_bytes)
    return fail(431, "headers_too_large", "the trailer is too long");
  if (c == '\r') {
    state_ = State::kTrailerLf;
    return;
  }
  if (!is_field_value({&c, 1}))
    return fail(400, "bad_trailer", "a trailer field holds a control character");
  trailer_ += c;
}

void BodyFraming::end_trailer_line() {
  if (trailer_.empty()) {
    state_ = State::kDone;
    return;
  }
  const std::size_t colon = trailer_.find(':');
  if (colon == std::string::npos || !is_token(std::string_view(trailer_).substr(0, colon))) {
    return fail(400, "bad_trailer", "a trailer line is not a header field");
  }
  trailer_.clear();
  state_ = State::kTrailer;
}

}  // namespace verbatim::net
