#pragma once

#include <optional>
#include <string_view>

#include "net/http_head.h"

namespace verbatim::net {

// One request after the other from bytes in any chunking; the same result for every cut. No I/O.
// Life: one per connection.
class RequestParser {
 public:
  explicit RequestParser(const HttpLimits& limits) : limits_(limits), collector_(limits) {}
  RequestParser(const RequestParser&) = delete;

  enum class State { kHead, kBody, kDone, kFailed };
  // Begins the next request. `into` must live until it is done; it is emptied, keeping memory.
  void start(Request& into);
  // Bytes taken: up to the end of the head (so that a caller may answer `Expect`), then up to the
  // end of the request.
  std::size_t feed(std::string_view bytes);

  [[nodiscard]] State state() const { return state_; }
  // Nothing of the next request has arrived.
  [[nodiscard]] bool idle() const { return state_ == State::kHead && collector_.empty(); }
  [[nodiscard]] const HttpFailure& failure() const { return failure_; }
  // Valid from kBody on.
  [[nodiscard]] bool keep_alive() const { return facts_.keep_alive; }
  [[nodiscard]] bool expects_continue() const { return facts_.expects_continue; }

 private:
  void end_head();
  std::optional<HttpFailure> check_request();
  std::optional<HttpFailure> split_target();
  void fail(HttpFailure failure);

  const HttpLimits& limits_;
  HeadCollector collector_;
  BodyFraming body_;
  HeadFacts facts_;
  State state_ = State::kHead;
  Request* request_ = nullptr;
  HttpFailure failure_;
};

// The head of one response; its body is read through `body()`, piece by piece. Interim responses
// (1xx) are skipped. No I/O.
class ResponseParser {
 public:
  explicit ResponseParser(const HttpLimits& limits) : limits_(limits), collector_(limits) {}
  ResponseParser(const ResponseParser&) = delete;

  enum class Request { kHead, kOther };
  // Begins the next response. An answer to HEAD has no body.
  void start(Request request);
  // Bytes taken, up to the end of the head.
  std::size_t feed_head(std::string_view bytes);
  [[nodiscard]] bool head_done() const { return head_done_; }
  [[nodiscard]] bool started() const { return started_; }  // at least one byte was taken
  [[nodiscard]] const std::optional<HttpFailure>& failure() const { return failure_; }

  [[nodiscard]] int status() const { return facts_.status; }
  [[nodiscard]] const Headers& headers() const { return headers_; }
  [[nodiscard]] bool keep_alive() const { return facts_.keep_alive; }
  [[nodiscard]] BodyFraming& body() { return body_; }
  [[nodiscard]] const BodyFraming& body() const { return body_; }

 private:
  void end_head();

  const HttpLimits& limits_;
  HeadCollector collector_;
  BodyFraming body_;
  HeadFacts facts_;
  Headers headers_;
  std::string head_;
  Request request_ = Request::kOther;
  unsigned interim_ = 0;
  bool head_done_ = false;
  bool started_ = false;
  std::optional<HttpFailure> failure_;
};

}  // namespace verbatim::net
