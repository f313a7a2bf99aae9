#include "net/http_parser.h"

#include <algorithm>

namespace verbatim::net {
namespace {

constexpr std::size_t kSpare = 64;             // capacity behind a body, see Request::body
constexpr std::size_t kKeptBody = 256 * 1024;  // a larger body's memory is given back
constexpr std::size_t kTrustedLength =
    1024 * 1024;  // reserved at once on the word of a Content-Length
constexpr unsigned kMaxInterim = 8;

void append_body(std::string& body, std::string_view data) {
  if (body.capacity() < body.size() + data.size() + kSpare) {
    body.reserve(std::max(body.size() + data.size(), body.size() * 2) + kSpare);
  }
  body += data;
}

}  // namespace

void RequestParser::start(Request& into) {
  request_ = &into;
  into.method = into.target = into.path = into.query = {};
  into.headers.clear();
  into.body.clear();
  if (into.body.capacity() > kKeptBody) into.body.shrink_to_fit();
  collector_.start(into.head);
  state_ = State::kHead;
}

void RequestParser::fail(HttpFailure failure) {
  state_ = State::kFailed;
  failure_ = std::move(failure);
}

std::size_t RequestParser::feed(std::string_view bytes) {
  if (state_ == State::kHead) {
    const std::size_t taken = collector_.feed(bytes);
    if (collector_.failure()) {
      fail(*collector_.failure());
    } else if (collector_.done()) {
      end_head();
    }
    return taken;
  }
  std::size_t taken = 0;
  while (state_ == State::kBody && taken < bytes.size()) {
    const auto step = body_.next(bytes.substr(taken));
    taken += step.consumed;
    append_body(request_->body, step.data);
    if (body_.failed()) {
      fail(body_.failure());
    } else if (body_.done()) {
      state_ = State::kDone;
    }
  }
  return taken;
}

void RequestParser::end_head() {
  if (auto failure =
          read_head(HeadKind::kRequest, request_->head, limits_, facts_, request_->headers)) {
    return fail(std::move(*failure));
  }
  request_->method = facts_.method;
  request_->target = facts_.target;
  request_->minor_version = facts_.minor_version;
  if (auto failure = check_request()) return fail(std::move(*failure));
  body_.start(facts_.body, facts_.length, limits_);
  if (body_.failed()) return fail(body_.failure());
  if (facts_.body == BodyFraming::Kind::kLength) {
    request_->body.reserve(std::min<std::uint64_t>(facts_.length, kTrustedLength) + kSpare);
  }
  state_ = body_.done() ? State::kDone : State::kBody;
}

std::optional<HttpFailure> RequestParser::check_request() {
  const Headers& headers = request_->headers;
  if (facts_.method == "CONNECT" || facts_.method == "TRACE") {
    return HttpFailure{501, "unknown_method", "this method is not served here"};
  }
  const std::size_t hosts = headers.count("host");
  if (hosts > 1 || (hosts == 0 && facts_.minor_version == 1)) {
    return HttpFailure{400, "bad_host", "exactly one Host field is needed"};
  }
  if (headers.has("expect")) {
    if (!equals_ignoring_case(headers.find("expect"), "100-continue")) {
      return HttpFailure{417, "expectation", "the only expectation known here is 100-continue"};
    }
    facts_.expects_continue = facts_.minor_version == 1;
  }
  return split_target();
}

// Origin form, absolute form, or "*" with OPTIONS (RFC 9112 3.2).
std::optional<HttpFailure> RequestParser::split_target() {
  std::string_view rest = facts_.target;
  HttpFailure bad{400, "bad_target", "the request target is not a path"};
  if (rest.find('#') != std::string_view::npos) return bad;
  if (rest == "*" && facts_.method == "OPTIONS") {
    request_->path = rest;
    return std::nullopt;
  }
  if (const std::size_t scheme = rest.find("://");
      scheme != std::string_view::npos && rest.front() != '/') {
    const std::size_t slash = rest.find_first_of("/?", scheme + 3);
    rest = slash == std::string_view::npos ? std::string_view("/") : rest.substr(slash);
  }
  if (rest.empty() || rest.front() != '/') return bad;
  const std::size_t mark = rest.find('?');
  request_->path = rest.substr(0, mark);
  if (mark != std::string_view::npos) request_->query = rest.substr(mark + 1);
  return std::nullopt;
}

void ResponseParser::start(Request request) {
  request_ = request;
  collector_.start(head_);
  headers_.clear();
  interim_ = 0;
  head_done_ = started_ = false;
  failure_.reset();
}

std::size_t ResponseParser::feed_head(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !head_done_ && !failure_) {
    started_ = true;
    taken += collector_.feed(bytes.substr(taken));
    if (collector_.failure()) {
      failure_ = collector_.failure();
    } else if (collector_.done()) {
      end_head();
    }
  }
  return taken;
}

void ResponseParser::end_head() {
  failure_ = read_head(HeadKind::kResponse, head_, limits_, facts_, headers_);
  if (failure_) return;
  if (facts_.status == 101) {
    failure_ = HttpFailure{502, "unexpected_upgrade", "status 101 was not asked for"};
    return;
  }
  if (facts_.status / 100 == 1) {
    if (++interim_ > kMaxInterim) {
      failure_ = HttpFailure{502, "bad_head", "too many interim responses"};
      return;
    }
    collector_.start(head_);
    return;
  }
  if (request_ == Request::kHead) facts_.body = BodyFraming::Kind::kNone;
  if (facts_.body == BodyFraming::Kind::kUntilClose) facts_.keep_alive = false;
  body_.start(facts_.body, facts_.length, limits_);
  if (body_.failed()) failure_ = body_.failure();
  head_done_ = true;
}

}  // namespace verbatim::net
